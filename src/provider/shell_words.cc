#include "provider/shell_words.h"

#include <fmt/format.h>

namespace souk::provider {

std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  return out + "'";
}

std::string trust_lines(const Join& join) {
  std::string out;
  if (!join.pin.empty()) out += fmt::format("export SOUK_PIN={}\n", shell_word(join.pin));
  if (!join.ca_pem.empty())
    out += fmt::format("printf %s {} >\"$home/ca.pem\"\nexport SOUK_CA=\"$home/ca.pem\"\n",
                       shell_word(join.ca_pem));
  return out;
}

}  // namespace souk::provider
