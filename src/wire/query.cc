#include "wire/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/check.h"
#include "base/text.h"
#include "wire/json.h"

namespace souk::wire {
namespace {

using base::Code;
using base::fail;
using base::Result;

struct OpSpelling {
  std::string_view text;
  QueryOp op;
};
// Longest first, so that "<=" is not read as "<".
constexpr std::array kOps{OpSpelling{"!=", QueryOp::unequal},  OpSpelling{"<=", QueryOp::at_most},
                          OpSpelling{">=", QueryOp::at_least}, OpSpelling{"=", QueryOp::equal},
                          OpSpelling{"<", QueryOp::less},      OpSpelling{">", QueryOp::more}};

std::string_view spelling(QueryOp op) { return std::ranges::find(kOps, op, &OpSpelling::op)->text; }

bool is_word_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("_.:+-/@%*~").find(c) != std::string_view::npos;
}

bool is_keyword(std::string_view word, std::string_view keyword) {
  return std::ranges::equal(word, keyword, [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}
bool is_any_keyword(std::string_view word) {
  return is_keyword(word, "and") || is_keyword(word, "or") || is_keyword(word, "not");
}

enum class TokenKind { end, word, quoted, op, open, close };
struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;     // What it stands for, without quotes.
  std::size_t at = 0;   // Where it begins in the query,
  std::size_t end = 0;  // and where it ends.
};

Result<Token> read_quoted(std::string_view text, std::size_t at) {
  Token token{TokenKind::quoted, {}, at, at};
  for (auto i = at + 1; i < text.size(); ++i) {
    token.end = i + 1;
    if (text[i] == text[at]) return token;
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    token.text += text[i];
  }
  return fail(Code::invalid, fmt::format("the quote at column {} is not closed", at + 1),
              "end the text with the same quote");
}

// The token that starts at or after `at`.
Result<Token> next_token(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  if (at == text.size()) return Token{TokenKind::end, {}, at, at};
  const auto rest = text.substr(at);
  const auto token = [&](TokenKind kind, std::size_t size) {
    return Token{kind, std::string(rest.substr(0, size)), at, at + size};
  };
  if (rest[0] == '(') return token(TokenKind::open, 1);
  if (rest[0] == ')') return token(TokenKind::close, 1);
  if (rest[0] == '\'' || rest[0] == '"') return read_quoted(text, at);
  for (const auto& op : kOps)
    if (rest.starts_with(op.text)) return token(TokenKind::op, op.text.size());
  const auto word = std::ranges::find_if_not(rest, is_word_byte) - rest.begin();
  if (word > 0) return token(TokenKind::word, static_cast<std::size_t>(word));
  return fail(Code::invalid, fmt::format("'{}' at column {} is not understood", rest[0], at + 1),
              "compare with = != < <= > >=, join with and, or, not and parentheses");
}

Result<std::vector<Token>> tokenize(std::string_view text) {
  std::vector<Token> tokens;
  std::size_t at = 0;
  do {
    SOUK_ASSIGN(auto token, next_token(text, at));
    at = token.end;
    tokens.push_back(std::move(token));
  } while (tokens.back().kind != TokenKind::end);
  return tokens;
}

// --- From a literal's text to a value of the field's type
// -----------------------------------------

base::Failure mismatch(const QueryField& field, std::string_view literal, std::string_view wanted,
                       std::string hint) {
  return fail(Code::invalid,
              fmt::format("{} is {}, and '{}' is not", field.name, wanted, printable_key(literal)),
              std::move(hint), std::string(field.name));
}

Result<QueryValue> to_number(const QueryField& field, const std::string& text) {
  double d = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, d);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !(d - d == 0))
    return mismatch(field, text, "a number", "write for example 4 or 0.9");
  return d;
}

Result<QueryValue> to_text(const QueryField& field, const std::string& text) {
  if (!field.words.empty() && std::ranges::find(field.words, text) == field.words.end())
    return fail(Code::invalid, fmt::format("{} is never '{}'", field.name, printable_key(text)),
                base::suggest(std::string_view(text).substr(0, 100), field.words),
                std::string(field.name));
  return text;
}

Result<QueryValue> to_flag(const QueryField& field, const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return mismatch(field, text, "true or false", "write true or false");
}

template <class T>
Result<QueryValue> parsed_or(const QueryField& field, const std::string& text, Result<T> parsed,
                             std::string_view wanted) {
  if (!parsed) return mismatch(field, text, wanted, std::move(parsed.error().hint));
  return *parsed;
}

Result<QueryValue> literal(const QueryField& field, const std::string& text) {
  switch (field.type) {
    case QueryType::number:
      return to_number(field, text);
    case QueryType::text:
      return to_text(field, text);
    case QueryType::flag:
      return to_flag(field, text);
    case QueryType::credits:
      return parsed_or(field, text, base::parse_credits(text), "an amount of credits");
    case QueryType::time:
      return parsed_or(field, text, base::parse_time(text), "a point in time");
    case QueryType::duration:
      return parsed_or(field, text, base::parse_duration(text), "a length of time");
  }
  CHECK(!"not a QueryType");
}

// --- Recursive descent ------------------------------------------------------------------------

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::span<const QueryField> fields)
      : tokens_(std::move(tokens)), fields_(fields) {}

  Result<Query> parse() {
    SOUK_ASSIGN(auto query, either());
    if (peek().kind == TokenKind::close)
      return fail(Code::invalid, fmt::format("')' at column {} closes nothing", peek().at + 1),
                  "remove it or open a parenthesis before it");
    if (peek().kind != TokenKind::end) return unexpected("'and', 'or' or the end");
    return query;
  }

 private:
  const Token& peek() const { return tokens_[next_]; }
  bool accept_keyword(std::string_view keyword) {
    if (peek().kind != TokenKind::word || !is_keyword(peek().text, keyword)) return false;
    ++next_;
    return true;
  }
  base::Failure unexpected(std::string_view wanted) const {
    const auto& token = peek();
    auto found = token.kind == TokenKind::end
                     ? std::string("the filter ends")
                     : fmt::format("'{}' stands", printable_key(token.text));
    return fail(Code::invalid,
                fmt::format("{} at column {} where {} is expected", found, token.at + 1, wanted),
                "write for example: class=c4 and price<=0.5");
  }

  Result<Query> either() { return joined("or", Query::Kind::any, &Parser::both); }
  Result<Query> both() { return joined("and", Query::Kind::all, &Parser::single); }

  // part (keyword part)*, with the children of a part of the same kind taken as our own.
  Result<Query> joined(std::string_view keyword, Query::Kind kind,
                       Result<Query> (Parser::*part)()) {
    SOUK_ASSIGN(auto first, (this->*part)());
    if (peek().kind != TokenKind::word || !is_keyword(peek().text, keyword)) return first;
    Query out{.kind = kind};
    const auto add = [&](Query query) {
      if (query.kind == kind)
        std::ranges::move(query.children, std::back_inserter(out.children));
      else
        out.children.push_back(std::move(query));
    };
    add(std::move(first));
    while (accept_keyword(keyword)) {
      SOUK_ASSIGN(auto more, (this->*part)());
      add(std::move(more));
    }
    return out;
  }

  Result<Query> single() {
    const bool negated = accept_keyword("not");
    if (!negated && peek().kind != TokenKind::open) return comparison();
    if (++depth_ > kMaxQueryDepth)
      return fail(Code::invalid,
                  fmt::format("the filter is nested more than {} deep", kMaxQueryDepth),
                  "use fewer parentheses");
    auto inner = negated ? single() : parenthesis();
    --depth_;
    if (!inner || !negated) return inner;
    Query out{.kind = Query::Kind::negate};
    out.children.push_back(std::move(*inner));
    return out;
  }

  Result<Query> parenthesis() {
    const auto opened = tokens_[next_++].at;
    SOUK_ASSIGN(auto inner, either());
    if (peek().kind != TokenKind::close)
      return fail(Code::invalid, fmt::format("'(' at column {} is not closed", opened + 1),
                  "close it with ')'");
    ++next_;
    return inner;
  }

  Result<Query> comparison() {
    if (peek().kind != TokenKind::word || is_any_keyword(peek().text))
      return unexpected("the name of a field");
    SOUK_ASSIGN(const QueryField* field, find_field(peek().text));
    ++next_;
    if (peek().kind != TokenKind::op) return unexpected("one of = != < <= > >=");
    const auto op = std::ranges::find(kOps, peek().text, &OpSpelling::text)->op;
    ++next_;
    const bool unordered = field->type == QueryType::text || field->type == QueryType::flag;
    if (unordered && op != QueryOp::equal && op != QueryOp::unequal)
      return fail(
          Code::invalid,
          fmt::format("{} has no order, so '{}' does not fit it", field->name, spelling(op)),
          "compare it with = or !=", std::string(field->name));
    const auto& value = peek();
    if (value.kind == TokenKind::op) return unexpected("one operator (= for equality) and a value");
    if (value.kind != TokenKind::quoted &&
        (value.kind != TokenKind::word || is_any_keyword(value.text)))
      return unexpected("a value");
    SOUK_ASSIGN(auto parsed, literal(*field, value.text));
    ++next_;
    return Query{.field = std::string(field->name),
                 .op = op,
                 .value = std::move(parsed),
                 .searched = field->searched};
  }

  Result<const QueryField*> find_field(std::string_view name) const {
    const auto found = std::ranges::find(fields_, name, &QueryField::name);
    if (found != fields_.end()) return &*found;
    std::vector<std::string_view> names;
    for (const auto& field : fields_) names.push_back(field.name);
    return fail(Code::invalid, fmt::format("unknown field '{}'", printable_key(name)),
                base::suggest(name.substr(0, 100), names), printable_key(name));
  }

  std::vector<Token> tokens_;
  std::span<const QueryField> fields_;
  std::size_t next_ = 0;
  int depth_ = 0;
};

// --- Spelling and evaluation
// ----------------------------------------------------------------------

std::string spell_text(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_word_byte) && !is_any_keyword(text))
    return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

struct Speller {
  std::string operator()(std::monostate) const { CHECK(!"a literal without a value"); }
  std::string operator()(double d) const { return to_json(d); }
  std::string operator()(const std::string& text) const { return spell_text(text); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const std::vector<std::string>&) const { CHECK(!"a list is no literal"); }
  std::string operator()(auto amount) const { return to_string(amount); }
};

std::string spell_comparison(const Query& q) {
  return fmt::format("{} {} {}", q.field, spelling(q.op), std::visit(Speller{}, q.value));
}

std::string spell_joined(const Query& q) {
  const bool all = q.kind == Query::Kind::all;
  std::string out;
  for (const auto& child : q.children) {
    if (!out.empty()) out += all ? " and " : " or ";
    const bool weaker = all && child.kind == Query::Kind::any;
    out += weaker ? "(" + to_string(child) + ")" : to_string(child);
  }
  return out;
}

template <class T>
bool holds(QueryOp op, const T& left, const T& right) {
  switch (op) {
    case QueryOp::equal:
      return left == right;
    case QueryOp::unequal:
      return left != right;
    case QueryOp::less:
      return left < right;
    case QueryOp::at_most:
      return left <= right;
    case QueryOp::more:
      return left > right;
    case QueryOp::at_least:
      return left >= right;
  }
  return false;
}

// Is `part` somewhere in `text`, in small or capital letters?
bool has_part(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::ranges::search(text, part, same).begin() != text.end() || part.empty();
}

// Only = and != fit a text, so a search has no other.
bool search(const Query& q, const QueryValue& left) {
  const auto& part = std::get<std::string>(q.value);
  const auto* list = std::get_if<std::vector<std::string>>(&left);
  const bool found = list == nullptr ? has_part(std::get<std::string>(left), part)
                                     : std::ranges::any_of(
                                           *list, [&](const auto& t) { return has_part(t, part); });
  return found == (q.op == QueryOp::equal);
}

bool compare(const Query& q, const QueryValue& left) {
  if (std::holds_alternative<std::monostate>(left)) return q.op == QueryOp::unequal;
  if (q.searched) return search(q, left);
  CHECK(left.index() == q.value.index());
  return std::visit(
      [&]<class T>(const T& l) -> bool { return holds(q.op, l, *std::get_if<T>(&q.value)); }, left);
}

}  // namespace

base::Result<Query> parse_query(std::string_view text, std::span<const QueryField> fields) {
  if (text.size() > kMaxQueryBytes)
    return fail(Code::too_large, fmt::format("the filter has {} bytes", text.size()),
                fmt::format("at most {} bytes are read", kMaxQueryBytes));
  if (!valid_utf8(text))
    return fail(Code::invalid, "the filter is not UTF-8 text", "check the shell's encoding");
  SOUK_ASSIGN(auto tokens, tokenize(text));
  return Parser(std::move(tokens), fields).parse();
}

std::string to_string(const Query& query) {
  switch (query.kind) {
    case Query::Kind::compare:
      return spell_comparison(query);
    case Query::Kind::all:
    case Query::Kind::any:
      return spell_joined(query);
    case Query::Kind::negate:
      break;
  }
  const auto& inner = query.children.front();
  const bool joined = inner.kind == Query::Kind::all || inner.kind == Query::Kind::any;
  return joined ? "not (" + to_string(inner) + ")" : "not " + to_string(inner);
}

bool matches(const Query& query, const QueryLookup& value_of) {
  const auto holds_here = [&](const Query& child) { return matches(child, value_of); };
  switch (query.kind) {
    case Query::Kind::compare:
      return compare(query, value_of(query.field));
    case Query::Kind::all:
      return std::ranges::all_of(query.children, holds_here);
    case Query::Kind::any:
      return std::ranges::any_of(query.children, holds_here);
    case Query::Kind::negate:
      return !holds_here(query.children.front());
  }
  return false;
}

}  // namespace souk::wire
