#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace souk::blob {

// Which paths of a folder to leave out, in the manner of .gitignore:
//
//   # comment           blank lines and comments say nothing; \# and \! are literal
//   *.pyc               without '/', matches a name at any depth
//   /data  a/b          with '/' at the start or inside, matches from the top of the folder
//   build/              with '/' at the end, matches folders only
//   *  ?  [a-z]  [!x]   within one name;  \x is x itself
//   **/x  a/**/x  a/**  any number of folders; at the end, all that is inside
//   !keep.pyc           takes back; the last line that matches decides
//
// As in git, nothing inside a folder that is left out can be taken back. Immutable once made; any
// thread. Matching takes time proportional to pattern times path, whatever they are.
class Ignore {
 public:
  Ignore() = default;
  // `text` is lines; too_large beyond 10,000 patterns or 1,000 bytes in one.
  [[nodiscard]] static base::Result<Ignore> parse(std::string_view text);
  // More lines, which come after those so far.
  [[nodiscard]] base::Result<> add(std::string_view text);

  // Is this path itself (not: a folder above it) left out?
  [[nodiscard]] bool matches(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::vector<std::string> parts;  // Between '/'; "**" stands for any number of parts.
    bool folders_only = false;
    bool take_back = false;
  };
  std::vector<Rule> rules_;
};

}  // namespace souk::blob
