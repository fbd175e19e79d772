#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace souk::agent::testing {

// A tar made by hand, with whatever a test wants in it.
class Tar {
 public:
  Tar& file(const std::string& path, std::string_view content, int mode = 0644) {
    return entry(path, '0', mode, "", content);
  }
  Tar& folder(const std::string& path) { return entry(path, '5', 0700, "", ""); }
  Tar& link(const std::string& path, const std::string& target) {
    return entry(path, '2', 0777, target, "");
  }
  Tar& hard_link(const std::string& path, const std::string& target) {
    return entry(path, '1', 0644, target, "");
  }
  Tar& special(const std::string& path, char type) { return entry(path, type, 0666, "", ""); }
  // What follows is about the next entry.
  Tar& note(char type, std::string_view content) { return block("note", type, 0644, "", content); }
  [[nodiscard]] std::string text() const { return text_ + std::string(1024, '\0'); }

 private:
  Tar& entry(const std::string& path, char type, int mode, const std::string& target,
             std::string_view content) {
    if (path.size() > 99) note('L', path + '\0');
    if (target.size() > 99) note('K', target + '\0');
    return block(path.substr(0, 99), type, mode, target.substr(0, 99), content);
  }
  Tar& block(const std::string& path, char type, int mode, const std::string& target,
             std::string_view content) {
    std::string header(512, '\0');
    header.replace(0, path.size(), path);
    header.replace(100, 7, fmt::format("{:07o}", mode));
    header.replace(124, 11, fmt::format("{:011o}", content.size()));
    header[156] = type;
    header.replace(157, target.size(), target);
    header.replace(257, 8, std::string_view("ustar\00000", 8));
    header.replace(148, 8, "        ");
    int sum = 0;
    for (const unsigned char c : header) sum += c;
    header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
    text_ += header;
    text_ += content;
    text_.resize((text_.size() + 511) / 512 * 512, '\0');
    return *this;
  }

  std::string text_;
};

}  // namespace souk::agent::testing
