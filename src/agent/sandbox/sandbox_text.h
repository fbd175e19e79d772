#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Reading and writing the small text files through which the kernel speaks.

namespace souk::agent {

std::string read_text(const std::string& path);  // Empty if it cannot be read.
std::vector<std::string> lines_of(const std::string& path);
// O_CREAT means nothing in the kernel's tree, where only the kernel makes files; tests use folders.
int open_to_write(const std::string& path);
bool write_text(const std::string& path, const std::string& text);

std::int64_t number(std::string_view text);
// The value of `key` in lines of "key value", or 0.
std::int64_t field(const std::string& text, std::string_view key);
// The sum of the numbers after each `key`, as in "8:0 rbytes=1 wbytes=2".
std::int64_t sum_of(const std::string& text, std::string_view key);

}  // namespace souk::agent
