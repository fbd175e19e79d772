#include "net/aws/xml.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace souk::net {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  base::Result<Xml> document() {
    SOUK_TRY(skip_misc());
    SOUK_ASSIGN(auto out, element(0));
    SOUK_TRY(skip_misc());
    if (at_ != text_.size()) return bad("something after the document");
    return out;
  }

 private:
  [[nodiscard]] base::Failure bad(std::string_view what) const {
    return base::fail(base::Code::damaged, fmt::format("XML, byte {}: {}", at_, what));
  }
  [[nodiscard]] bool sees(std::string_view word) const {
    return text_.substr(at_).starts_with(word);
  }
  base::Result<> skip_past(std::string_view end) {
    const auto found = text_.find(end, at_);
    if (found == text_.npos) return bad(fmt::format("no '{}'", end));
    at_ = found + end.size();
    return {};
  }
  // White space, declarations and comments.
  base::Result<> skip_misc() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
        ++at_;
      else if (sees("<?"))
        SOUK_TRY(skip_past("?>"));
      else if (sees("<!--"))
        SOUK_TRY(skip_past("-->"));
      else
        break;
    }
    return {};
  }

  base::Result<Xml> element(int depth) {
    if (depth > kXmlDepth) return bad("nested too deep");
    if (!sees("<")) return bad("no element");
    const auto close = text_.find('>', at_);
    if (close == text_.npos) return bad("a tag that does not end");
    auto tag = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    Xml out{.name = std::string(tag.substr(0, tag.find_first_of(" \t\r\n")))};
    if (out.name.empty() || out.name[0] == '/' || out.name[0] == '!') return bad("no name");
    if (empty) return out;
    while (true) {
      const auto next = text_.find('<', at_);
      if (next == text_.npos) return bad("'" + out.name + "' does not end");
      SOUK_TRY(add_text(text_.substr(at_, next - at_), out.text));
      at_ = next;
      if (sees("<!--")) {
        SOUK_TRY(skip_past("-->"));
      } else if (sees("</")) {
        const auto end = text_.find('>', at_);
        if (end == text_.npos || base::trim(text_.substr(at_ + 2, end - at_ - 2)) != out.name)
          return bad("'" + out.name + "' does not end");
        at_ = end + 1;
        if (!out.children.empty()) out.text.clear();
        return out;
      } else {
        SOUK_ASSIGN(auto child, element(depth + 1));
        out.children.push_back(std::move(child));
      }
    }
  }

  base::Result<> add_text(std::string_view raw, std::string& out) {
    while (!raw.empty()) {
      const auto amp = raw.find('&');
      out += raw.substr(0, amp);
      if (amp == raw.npos) return {};
      const auto end = raw.find(';', amp);
      if (end == raw.npos) return bad("an entity that does not end");
      const auto name = raw.substr(amp + 1, end - amp - 1);
      SOUK_ASSIGN(const char c, entity(name));
      out += c;
      raw.remove_prefix(end + 1);
    }
    return {};
  }

  base::Result<char> entity(std::string_view name) {
    constexpr std::pair<std::string_view, char> kNamed[] = {
        {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [known, c] : kNamed)
      if (name == known) return c;
    int number = 0;
    const bool hex = name.starts_with("#x");
    if (name.starts_with('#')) {
      name.remove_prefix(hex ? 2 : 1);
      const auto [end, error] =
          std::from_chars(name.data(), name.data() + name.size(), number, hex ? 16 : 10);
      if (error == std::errc{} && end == name.data() + name.size() && number > 0 && number < 128)
        return static_cast<char>(number);
    }
    return bad("an entity that is not known");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const Xml& Xml::at(std::string_view path) const {
  static const Xml none;
  const auto slash = path.find('/');
  const auto first = path.substr(0, slash);
  for (const auto& child : children)
    if (child.name == first) return slash == path.npos ? child : child.at(path.substr(slash + 1));
  return none;
}

std::vector<const Xml*> Xml::all(std::string_view child) const {
  std::vector<const Xml*> out;
  for (const auto& c : children)
    if (c.name == child) out.push_back(&c);
  return out;
}

base::Result<Xml> parse_xml(std::string_view text) { return Reader(text).document(); }

}  // namespace souk::net
