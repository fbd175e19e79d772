#include "wire/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace souk::wire {
namespace {

namespace json = boost::json;

// Stops yaml-cpp at the event that cannot be accepted. Never leaves this file.
struct Stop {
  int line;
  std::string message;
  std::string hint;
};

bool all_of_set(std::string_view text, std::string_view set) {
  return !text.empty() && text.find_first_not_of(set) == std::string_view::npos;
}

constexpr std::string_view kDigits = "0123456789";

// Does `text` match the core schema's  [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? )
// ( [eE] [-+]? [0-9]+ )?  — that is, is it a decimal number?
bool is_decimal(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    auto exponent = text.substr(e + 1);
    if (exponent.starts_with('-') || exponent.starts_with('+')) exponent.remove_prefix(1);
    if (!all_of_set(exponent, kDigits)) return false;
    text = text.substr(0, e);
  }
  const auto point = text.find('.');
  const auto whole = text.substr(0, point);
  const auto fraction = point == std::string_view::npos ? "" : text.substr(point + 1);
  if (whole.empty()) return all_of_set(fraction, kDigits);
  return all_of_set(whole, kDigits) && (fraction.empty() || all_of_set(fraction, kDigits));
}

template <class N>
std::optional<N> whole_text(std::string_view text, auto... how) {
  N n{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, how...);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

json::value radix(std::string_view digits, int base, int line) {
  const auto n = whole_text<std::uint64_t>(digits, base);
  if (!n) throw Stop{line, fmt::format("'{}' is too large a number", digits), "use 64 bits"};
  if (*n <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return static_cast<std::int64_t>(*n);
  return *n;
}

json::value decimal(std::string_view text, int line) {
  const auto bare = text.starts_with('+') ? text.substr(1) : text;
  if (const auto i = whole_text<std::int64_t>(bare)) return *i;
  if (const auto u = whole_text<std::uint64_t>(bare)) return *u;
  if (const auto d = whole_text<double>(bare)) return *d;
  throw Stop{line, fmt::format("'{}' is too large or too small a number", printable_key(text)),
             "put it in quotes if it is a text"};
}

// An untagged plain scalar: null, true, 12, 0.5 or else a text.
json::value plain(const std::string& text, int line) {
  if (text == "~" || text == "null" || text == "Null" || text == "NULL" || text.empty())
    return nullptr;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const std::string_view view(text);
  if (view.starts_with("0o") && all_of_set(view.substr(2), "01234567"))
    return radix(view.substr(2), 8, line);
  if (view.starts_with("0x") && all_of_set(view.substr(2), "0123456789abcdefABCDEF"))
    return radix(view.substr(2), 16, line);
  if (is_decimal(view)) return decimal(view, line);
  const auto unsigned_part = view.substr(view.starts_with('-') || view.starts_with('+'));
  for (const auto* special : {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})
    if (unsigned_part == special)
      throw Stop{line, fmt::format("'{}' is not a finite number", text),
                 "put it in quotes if it is a text"};
  return json::string(text);
}

constexpr std::size_t kMaxLinesBytes = 8 << 20;  // Of the paths in YamlDocument::lines.

// How much a value is: an alias costs as much each time it is used.
struct Extent {
  std::size_t nodes = 0;
  std::size_t bytes = 0;  // Of texts and keys.

  void add(const json::value& value) {
    ++nodes;
    if (const auto* text = value.if_string()) bytes += text->size();
    if (const auto* list = value.if_array())
      for (const auto& item : *list) add(item);
    if (const auto* object = value.if_object())
      for (const auto& member : *object) {
        bytes += member.key().size();
        add(member.value());
      }
  }
  static Extent of(const json::value& value) {
    Extent out;
    out.add(value);
    return out;
  }
};

// Builds the JSON value from yaml-cpp's events. Not from its Node tree: that one keeps no
// duplicate keys apart, shares nodes in cycles and expands aliases without a bound.
class YamlBuilder final : public YAML::EventHandler {
 public:
  YamlDocument take() { return std::move(document_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    scalar(nullptr, mark, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (expecting_key()) return set_key(text, line_of(mark));
    const bool quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    if (!quoted) refuse_tag(tag, mark);
    scalar(quoted ? json::value(json::string(text)) : plain(text, line_of(mark)), mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_as_key(mark);
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      throw Stop{line_of(mark), "an alias refers to a value that contains it", "write it out"};
    // Counted before it is copied: nested aliases grow exponentially.
    add_nodes(found->second.extent.nodes, mark);
    expanded_bytes_ += found->second.extent.bytes;
    if (expanded_bytes_ > kMaxYamlBytes)
      throw Stop{line_of(mark), fmt::format("aliases stand for more than {} bytes", kMaxYamlBytes),
                 "use them for less, or less often"};
    if (frames_.size() + found->second.depth > kMaxDepth) too_deep(mark);
    note_line(mark);
    put(json::value(found->second.value), found->second.depth);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(json::array(), mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(json::object(), mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {  // A list or map that is still open.
    json::value value;
    YAML::anchor_t anchor;
    std::optional<std::string> key;  // In a map, once the key has been seen.
    int key_line = 0;
    std::size_t path_size;  // Of path_, to go back to.
    std::size_t depth = 1;  // Of the value so far.
  };
  struct Anchored {
    json::value value;
    Extent extent;
    std::size_t depth;
  };

  static int line_of(const YAML::Mark& mark) { return mark.line + 1; }
  static void too_deep(const YAML::Mark& mark) {
    throw Stop{line_of(mark), fmt::format("lists and maps are nested more than {} deep", kMaxDepth),
               "use fewer levels"};
  }
  bool expecting_key() const {
    return !frames_.empty() && frames_.back().value.is_object() && !frames_.back().key;
  }
  void refuse_as_key(const YAML::Mark& mark) const {
    if (expecting_key()) throw Stop{line_of(mark), "this key is not a text", "write `key: value`"};
  }
  static void refuse_tag(const std::string& tag, const YAML::Mark& mark) {
    if (!tag.empty() && tag != "?")
      throw Stop{line_of(mark), fmt::format("tag '{}' is not supported", printable_key(tag)),
                 "leave the tag out"};
  }
  void add_nodes(std::size_t n, const YAML::Mark& mark) {
    nodes_ += n;
    if (nodes_ > kMaxYamlNodes)
      throw Stop{line_of(mark), fmt::format("the document has more than {} values", kMaxYamlNodes),
                 "aliases count as what they stand for"};
  }

  void set_key(const std::string& text, int line) {
    auto& frame = frames_.back();
    append_step(text);
    if (frame.value.get_object().contains(text))
      throw Stop{line, fmt::format("key '{}' appears twice", path_), "write each key once"};
    frame.key = text;
    frame.key_line = line;
  }
  void append_step(std::string_view key) {
    if (!path_.empty()) path_ += '.';
    path_ += printable_key(key);
  }
  // Records where the value that comes next stands; in a map that is the line of its key.
  void note_line(const YAML::Mark& mark) {
    int line = line_of(mark);
    if (!frames_.empty()) {
      if (frames_.back().key)
        line = frames_.back().key_line;
      else
        path_ += fmt::format("[{}]", frames_.back().value.get_array().size());
    }
    // Beyond that, errors name the line of what is around the value.
    lines_bytes_ += path_.size();
    if (lines_bytes_ <= kMaxLinesBytes) document_.lines.try_emplace(path_, line);
  }

  void scalar(json::value value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    refuse_as_key(mark);
    add_nodes(1, mark);
    note_line(mark);
    if (anchor) anchors_[anchor] = {value, Extent::of(value), 0};
    put(std::move(value), 0);
  }
  void open(json::value empty, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_as_key(mark);
    refuse_tag(tag, mark);
    if (frames_.size() >= kMaxDepth) too_deep(mark);
    add_nodes(1, mark);
    note_line(mark);
    frames_.push_back({.value = std::move(empty), .anchor = anchor, .path_size = path_.size()});
  }
  void close() {
    auto done = std::move(frames_.back());
    frames_.pop_back();
    if (done.anchor) anchors_[done.anchor] = {done.value, Extent::of(done.value), done.depth};
    put(std::move(done.value), done.depth);
  }
  // Hands a finished value to what contains it.
  void put(json::value value, std::size_t depth) {
    if (frames_.empty()) {
      document_.value = std::move(value);
      return;
    }
    auto& frame = frames_.back();
    frame.depth = std::max(frame.depth, depth + 1);
    if (frame.key)
      frame.value.get_object().emplace(*frame.key, std::move(value));
    else
      frame.value.get_array().push_back(std::move(value));
    frame.key.reset();
    path_.resize(frame.path_size);
  }

  YamlDocument document_;
  std::string path_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
  std::size_t expanded_bytes_ = 0;  // By aliases.
  std::size_t lines_bytes_ = 0;
};

// Swallows a second document, which is there only to be complained about.
class Ignore final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { throw Stop{mark.line + 1, {}, {}}; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

base::Failure at_line(std::string_view file, int line, std::string_view message, std::string hint) {
  return base::fail(base::Code::invalid, fmt::format("{}:{}: {}", file, line, message),
                    std::move(hint));
}

base::Failure too_large(std::string_view file, std::size_t bytes) {
  return base::fail(base::Code::too_large, fmt::format("{} has {} bytes", file, bytes),
                    fmt::format("at most {} bytes are read", kMaxYamlBytes));
}

// yaml-cpp guesses encodings and passes control characters on; we read UTF-8 text only.
std::optional<int> first_bad_line(std::string_view text) {
  int line = 1;
  while (true) {
    const auto end = text.find('\n');
    const auto one = text.substr(0, end);
    const bool clean = std::ranges::all_of(
        one, [](unsigned char c) { return c >= 0x20 || c == '\t' || c == '\r'; });
    if (!clean || !valid_utf8(one)) return line;
    if (end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(end + 1);
    ++line;
  }
}

}  // namespace

base::Result<YamlDocument> parse_yaml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxYamlBytes) return too_large(file, text.size());
  if (const auto line = first_bad_line(text))
    return at_line(file, *line, "this line is not plain UTF-8 text", "save the file as UTF-8");
  YamlBuilder builder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder))
      return at_line(file, 1, "the file is empty", "write `key: value` lines");
    Ignore ignore;
    try {
      parser.HandleNextDocument(ignore);
    } catch (const Stop& second) {
      return at_line(file, second.line, "a second document starts here",
                     "keep one document in a file");
    }
  } catch (const Stop& stop) {
    return at_line(file, stop.line, stop.message, stop.hint);
  } catch (const YAML::Exception& e) {
    return at_line(file, std::max(e.mark.line + 1, 1), "not valid YAML: " + e.msg,
                   "check the indentation");
  }
  return builder.take();
}

base::Error locate(base::Error error, const YamlDocument& document, std::string_view file) {
  auto path = error.field;
  auto found = document.lines.find(path);
  while (found == document.lines.end() && !path.empty()) {
    const auto cut = path.find_last_of(".[");
    path.resize(cut == std::string::npos ? 0 : cut);
    found = document.lines.find(path);
  }
  const int line = found == document.lines.end() ? 1 : found->second;
  error.message = fmt::format("{}:{}: {}", file, line, error.message);
  return error;
}

base::Result<std::string> read_yaml_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return base::fail(base::Code::not_found, fmt::format("cannot read '{}'", path),
                      "check the name and that you may read it");
  std::string text(kMaxYamlBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad())
    return base::fail(base::Code::unavailable, fmt::format("cannot read '{}'", path), "try again");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxYamlBytes)
    return base::fail(base::Code::too_large, fmt::format("{} is too large", path),
                      fmt::format("at most {} bytes are read", kMaxYamlBytes));
  return text;
}

}  // namespace souk::wire
