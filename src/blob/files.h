#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/hash.h"
#include "base/result.h"

// The few things that the rest of this folder needs from POSIX. All of it opens names one at a
// time, relative to an open folder and without following symbolic links.

namespace souk::blob {

using base::Fd;

// The error of the system call that just failed (errno) on `path`: "cannot <verb> <path>: <why>".
[[nodiscard]] base::Failure system_failure(std::string_view verb, std::string_view path);

// `path` is only for the message.
[[nodiscard]] base::Result<> write_all(int fd, std::string_view bytes, std::string_view path);
// Both pieces, one after the other.
[[nodiscard]] base::Result<> write_all(int fd, std::string_view first, std::string_view rest,
                                       std::string_view path);
// Fills `out`, or less where the file ends; how much.
[[nodiscard]] base::Result<std::size_t> read_into(int fd, std::span<char> out,
                                                  std::string_view path);
// Up to `most` bytes; fewer only where the file ends.
[[nodiscard]] base::Result<base::Bytes> read_up_to(int fd, std::size_t most, std::string_view path);

// Writes a file anew, whole or not at all, and waits for the disk.
[[nodiscard]] base::Result<> replace_file(const std::string& path, std::string_view bytes);

// The folder `name` in `parent`; a symbolic link is an error.
[[nodiscard]] base::Result<Fd> open_folder(int parent, const std::string& name,
                                           std::string_view path);
// The names in an open folder, without "." and "..", in byte order. More than `most` is an error.
[[nodiscard]] base::Result<std::vector<std::string>> list_folder(int folder, std::size_t most,
                                                                 std::string_view path);

}  // namespace souk::blob
