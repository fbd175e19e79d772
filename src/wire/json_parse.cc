#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <memory_resource>
#include <optional>
#include <vector>

#include "wire/json.h"

// Boost.JSON's tokenizer with a handler of our own, for two things its ready-made parser lacks:
// keys that appear twice in an object are noticed (it keeps the last one silently), and doubles
// are read from their digits by std::from_chars (its own conversion is off by a few ulp).

namespace souk::wire {
namespace {

namespace json = boost::json;
using json::error_code;
using json::string_view;

class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  TreeBuilder(json::storage_ptr memory, unsigned char* temp, std::size_t temp_size,
              std::pmr::memory_resource* scratch)
      : stack_({}, temp, temp_size), key_bytes_(scratch), key_ends_(scratch), frames_(scratch) {
    stack_.reset(std::move(memory));
    key_bytes_.reserve(256);
    key_ends_.reserve(32);
    frames_.reserve(8);
  }

  json::value release() { return stack_.release(); }
  // The path of the repeated key that stopped the parse, if one did.
  const std::optional<std::string>& repeated() const { return repeated_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }

  bool on_object_begin(error_code&) {
    frames_.push_back({.first_key = key_ends_.size(), .list = false});
    return true;
  }
  bool on_object_end(std::size_t n, error_code& ec) {
    const auto first = frames_.back().first_key;
    if (key_ends_.size() - first > kFewKeys && !many_keys_differ(first)) return stop(ec);
    stack_.push_object(n);
    key_bytes_.resize(first == 0 ? 0 : key_ends_[first - 1]);
    key_ends_.resize(first);
    frames_.pop_back();
    return value_done();
  }
  bool on_array_begin(error_code&) {
    frames_.push_back({.first_key = key_ends_.size(), .list = true});
    return true;
  }
  bool on_array_end(std::size_t n, error_code&) {
    stack_.push_array(n);
    frames_.pop_back();
    return value_done();
  }

  bool on_key_part(string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    key_bytes_.append(part.data(), part.size());
    return true;
  }
  bool on_key(string_view part, std::size_t, error_code& ec) {
    stack_.push_key(part);
    key_bytes_.append(part.data(), part.size());
    key_ends_.push_back(key_bytes_.size());
    return last_key_is_new() || stop(ec);
  }
  bool on_string_part(string_view part, std::size_t, error_code&) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(string_view part, std::size_t, error_code&) {
    stack_.push_string(part);
    return value_done();
  }
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t i, string_view, error_code&) {
    stack_.push_int64(i);
    return value_done();
  }
  bool on_uint64(std::uint64_t u, string_view, error_code&) {
    stack_.push_uint64(u);
    return value_done();
  }
  // `digits` is the whole number, because the parser is given the whole text at once.
  bool on_double(double, string_view digits, error_code& ec) {
    double d = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), d);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
      ec = json::error::exponent_overflow;
      return false;
    }
    stack_.push_double(d);
    return value_done();
  }
  bool on_bool(bool b, error_code&) {
    stack_.push_bool(b);
    return value_done();
  }
  bool on_null(error_code&) {
    stack_.push_null();
    return value_done();
  }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  static constexpr std::size_t kFewKeys = 32;

  struct Frame {  // A list or object that is still open.
    std::size_t first_key;
    bool list;
    std::size_t item = 0;    // The index of the list's next item.
    std::uint64_t seen = 0;  // One bit for each hash of a key.
  };

  static bool stop(error_code& ec) {
    ec = json::error::syntax;
    return false;
  }

  bool value_done() {
    if (!frames_.empty()) ++frames_.back().item;
    return true;
  }

  std::string_view key(std::size_t i) const {
    const auto begin = i == 0 ? 0 : key_ends_[i - 1];
    return std::string_view(key_bytes_).substr(begin, key_ends_[i] - begin);
  }

  // Objects with few keys are checked key by key, and mostly by one bit; those with many are sorted
  // once they are complete.
  bool last_key_is_new() {
    auto& frame = frames_.back();
    const auto last = key_ends_.size() - 1;
    const auto name = key(last);
    std::size_t hash = name.size() * 7;
    if (!name.empty())
      hash += static_cast<unsigned char>(name[0]) * 31u + static_cast<unsigned char>(name.back());
    const std::uint64_t bit = std::uint64_t{1} << (hash % 64);
    const bool perhaps_seen = frame.seen & bit;
    frame.seen |= bit;
    if (!perhaps_seen || last - frame.first_key >= kFewKeys) return true;
    for (auto i = frame.first_key; i < last; ++i)
      if (key(i) == name) return repeats(name);
    return true;
  }

  bool many_keys_differ(std::size_t first) {
    std::vector<std::string_view> keys;
    for (auto i = first; i < key_ends_.size(); ++i) keys.push_back(key(i));
    std::ranges::sort(keys);
    const auto twin = std::ranges::adjacent_find(keys);
    return twin == keys.end() || repeats(*twin);
  }

  bool repeats(std::string_view name) {
    std::string path;
    const auto append = [&](std::string_view step) {
      if (!path.empty()) path += '.';
      path += printable_key(step);
    };
    for (std::size_t depth = 0; depth + 1 < frames_.size(); ++depth) {
      if (frames_[depth].list)
        path += fmt::format("[{}]", frames_[depth].item);
      else
        append(key(frames_[depth + 1].first_key - 1));
    }
    append(name);
    repeated_ = std::move(path);
    return false;
  }

  json::value_stack stack_;
  std::pmr::string key_bytes_;  // The keys of all open objects, one after another.
  std::pmr::vector<std::size_t> key_ends_;
  std::pmr::vector<Frame> frames_;
  std::optional<std::string> repeated_;
};

std::string complaint(const error_code& ec) {
  if (ec == json::error::too_deep)
    return fmt::format("lists and objects are nested more than {} deep", kMaxDepth);
  if (ec == json::error::extra_data) return "there is more text after the end of the value";
  if (ec == json::error::incomplete) return "the text ends too early";
  if (ec == json::error::exponent_overflow) return "a number is too large or too small";
  return ec.message();
}

base::Failure not_json(std::string_view text, std::size_t at, const error_code& ec) {
  const auto before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const auto line_start = before.rfind('\n');  // npos + 1 is 0: the first line starts the text.
  const auto column = before.size() - (line_start + 1) + 1;
  return base::fail(
      base::Code::invalid,
      fmt::format("not valid JSON at line {}, column {}: {}", line, column, complaint(ec)),
      "write one JSON value in UTF-8");
}

}  // namespace

base::Result<json::value> parse(std::string_view text, json::storage_ptr memory) {
  unsigned char temp[2048];
  std::byte scratch_bytes[1024];
  std::pmr::monotonic_buffer_resource scratch(scratch_bytes, sizeof scratch_bytes);
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<TreeBuilder> parser(options, std::move(memory), temp, sizeof temp, &scratch);
  error_code ec;
  const auto used = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && used < text.size()) ec = json::error::extra_data;
  if (const auto& key = parser.handler().repeated())
    return base::fail(base::Code::invalid, fmt::format("key '{}' appears twice", *key),
                      "write each key once", *key);
  if (ec) return not_json(text, used, ec);
  return parser.handler().release();
}

}  // namespace souk::wire
