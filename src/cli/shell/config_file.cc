#include "cli/shell/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace souk::cli {
namespace {

// Flags that make no sense in a file.
bool is_key(const Option& o) {
  return !o.positional() && o.instead_of.empty() && o.name != "--config" &&
         o.name != "--print-config";
}

std::string key_of(const Option& o) {
  auto out = o.name.substr(2);
  std::ranges::replace(out, '-', '_');
  return out;
}

// A scalar as somebody would have typed it.
std::optional<std::string> typed(const boost::json::value& value) {
  if (const auto* text = value.if_string()) return std::string(text->data(), text->size());
  if (value.is_object() || value.is_array() || value.is_null()) return std::nullopt;
  std::string out;
  wire::write_value(out, value);
  return out;
}

base::Result<> set_option(const Option& o, const boost::json::value& value) {
  const auto wrong = [&](std::string_view wanted) {
    return base::fail(base::Code::invalid, fmt::format("'{}' is no {}", key_of(o), wanted),
                      fmt::format("{}: {}", o.value, o.help), key_of(o));
  };
  if (value.is_null()) return {};
  std::vector<std::string> texts;
  if (const auto* list = value.if_array()) {
    if (!o.repeated) return wrong("list");
    for (const auto& item : *list) {
      const auto text = typed(item);
      if (!text) return wrong("list of texts");
      texts.push_back(*text);
    }
  } else if (const auto text = typed(value)) {
    texts.push_back(*text);
  } else {
    return wrong("map");
  }
  for (const auto& text : texts) {
    auto good = o.set(text);
    if (good) continue;
    good.error().message = fmt::format("{}: {}", key_of(o), good.error().message);
    good.error().field = key_of(o);
    return good;
  }
  return {};
}

base::Result<> apply(const boost::json::value& root, std::span<const Option> options,
                     const std::function<bool(const Option&)>& given) {
  if (root.is_null()) return {};
  const auto* keys = root.if_object();
  if (keys == nullptr)
    return base::fail(base::Code::invalid, "this is not a list of keys with their values",
                      "listen: 127.0.0.1:7070");
  std::vector<std::string> known;
  for (const auto& o : options)
    if (is_key(o)) known.push_back(key_of(o));
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const auto& [key, value] : *keys) {
    const auto it = std::ranges::find_if(
        options, [&](const Option& o) { return is_key(o) && key_of(o) == key; });
    if (it == options.end())
      return base::fail(base::Code::invalid,
                        fmt::format("unknown key '{}'", std::string_view(key).substr(0, 80)),
                        base::suggest(key, names), std::string(key));
    if (!given(*it)) SOUK_TRY(set_option(*it, value));
  }
  return {};
}

// Quoted where YAML would read something else.
std::string yaml_scalar(const std::string& text) {
  const bool plain = !text.empty() &&
                     text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789./_-") == text.npos &&
                     text.front() != '-';
  return plain ? text : wire::to_json(text);
}

// A file of comments only is no document.
bool is_blank(std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const auto first = line.find_first_not_of(" \t\r");
    if (first != line.npos && line[first] != '#') return false;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return true;
}

}  // namespace

base::Result<> read_config_file(const std::string& path, std::span<const Option> options,
                                const std::function<bool(const Option&)>& given) {
  SOUK_ASSIGN(const auto text, wire::read_yaml_text(path));
  if (is_blank(text)) return {};
  SOUK_ASSIGN(const auto document, wire::parse_yaml(text, path));
  auto done = apply(document.value, options, given);
  if (!done) return std::unexpected(wire::locate(std::move(done.error()), document, path));
  return {};
}

std::string config_text(std::span<const Option> options) {
  std::string out =
      "# Settings of `souk serve`, for `souk serve --config FILE`. Flags of the same names come "
      "first.\n";
  for (const auto& o : options) {
    if (!is_key(o)) continue;
    out += fmt::format("\n# {}{}{}\n", o.value, o.value.empty() ? "" : ": ", o.help);
    const auto values = o.show ? o.show() : std::vector<std::string>{};
    if (values.empty()) {
      out += fmt::format("# {}:\n", key_of(o));
    } else if (!o.repeated) {
      out += fmt::format("{}: {}\n", key_of(o), yaml_scalar(values.front()));
    } else {
      std::vector<std::string> items;
      for (const auto& value : values) items.push_back(yaml_scalar(value));
      out += fmt::format("{}: [{}]\n", key_of(o), base::join(items, ", "));
    }
  }
  return out;
}

}  // namespace souk::cli
