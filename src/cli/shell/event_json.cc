#include "cli/shell/event_json.h"

#include <string_view>

#include "base/hash.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

constexpr std::string_view kRedacted = "\"(redacted)\"";

// Names of fields whose values never leave the journal.
bool is_secret(std::string_view owner_field) {
  return owner_field == "password" || owner_field == "digest" || owner_field == "body";
}

// The wire's writer covers all but three things: digests, times that never come, and secrets.
template <class T>
void write(std::string& out, const T& value);

template <class T>
void write_items(std::string& out, const T& items) {
  out += '[';
  for (bool first = true; const auto& item : items) {
    if (!first) out += ',';
    first = false;
    write(out, item);
  }
  out += ']';
}

template <class T>
void write_struct(std::string& out, const T& value) {
  out += '{';
  bool first = true;
  base::for_each_field(value, [&](std::string_view name, const auto& member) {
    if (!first) out += ',';
    first = false;
    wire::write_text(out, base::spelled(name));
    out += ':';
    if (is_secret(name))
      out += kRedacted;
    else
      write(out, member);
  });
  out += '}';
}

template <class T>
void write(std::string& out, const T& value) {
  if constexpr (std::same_as<T, base::Digest>)
    out += kRedacted;
  else if constexpr (std::same_as<T, base::Time>)
    value == base::kNever ? void(out += "null") : wire::write_time(out, value);
  else if constexpr (base::Described<T>)
    write_struct(out, value);
  else if constexpr (wire::detail::is_list<T>)
    write_items(out, value);
  else if constexpr (wire::detail::is_optional<T>)
    value ? write(out, *value) : void(out += "null");
  else
    wire::write_json(out, value);
}

}  // namespace

std::string event_fields_json(const market::Event& event) {
  std::string out;
  std::visit([&](const auto& e) { write(out, e); }, event);
  return out;
}

std::string event_json(std::uint64_t number, base::Time at, const market::Event& event) {
  std::string out = "{\"number\":" + std::to_string(number) + ",\"at\":";
  wire::write_time(out, at);
  out += ",\"kind\":";
  wire::write_text(out, market::kind_of(event));
  out += ",\"fields\":" + event_fields_json(event) + "}";
  return out;
}

}  // namespace souk::cli
