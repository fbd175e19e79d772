#include "agent/sandbox/sandbox_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/text.h"

namespace souk::agent {

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int open_to_write(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
}

bool write_text(const std::string& path, const std::string& text) {
  const int fd = open_to_write(path);
  if (fd < 0) return false;
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  text = base::trim(text);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::int64_t field(const std::string& text, std::string_view key) {
  for (const auto line : base::split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return number(line.substr(key.size()));
  return 0;
}

std::int64_t sum_of(const std::string& text, std::string_view key) {
  std::int64_t total = 0;
  for (std::size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + key.size()))
    total += number(std::string_view(text).substr(at + key.size()).substr(0, 20));
  return total;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace souk::agent
