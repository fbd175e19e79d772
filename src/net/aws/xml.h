#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace souk::net {

// An element of the XML that AWS and those who speak like it answer with: names, text and children;
// no attributes.
struct Xml {
  std::string name;
  std::string text;
  std::vector<Xml> children;

  // The first child of that name, and so on down "a/b/c"; an empty element where there is none.
  [[nodiscard]] const Xml& at(std::string_view path) const;
  // All children of that name.
  [[nodiscard]] std::vector<const Xml*> all(std::string_view child) const;
};

inline constexpr int kXmlDepth = 32;

// Reads one document. Declarations, comments and attributes are skipped; the five named entities
// and numeric ones of ASCII are read. Anything else that is not well-formed is an error.
base::Result<Xml> parse_xml(std::string_view text);

}  // namespace souk::net
