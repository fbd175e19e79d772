#include <string>

#include "fuzz/target.h"
#include "wire/api_json.h"
#include "wire/problem.h"

// JSON into the structs of the API, requests and answers alike. What is accepted can be written,
// and what is written is read and written the same.

namespace {

using namespace souk;

template <class T>
void read_as(const boost::json::value& value) {
  const auto first = wire::from_value<T>(value);
  if (!first) {
    CHECK(!first.error().message.empty());
    return;
  }
  const auto text = wire::to_json(*first);
  const auto second = wire::from_json<T>(text);
  CHECK(second.has_value());
  CHECK(wire::to_json(*second) == text);
}

}  // namespace

SOUK_FUZZ(json, .input_bytes = 4096, .malloc_mb = 4) {
  const auto value = wire::parse(input);
  if (!value) return;
  using namespace souk::wire;
#define SOUK_READ_AS(T) read_as<T>(*value);
  SOUK_API_TYPES(SOUK_READ_AS)
#undef SOUK_READ_AS
  (void)wire::refusal(500, input);
  std::string text;
  wire::write_value(text, *value);
  const auto again = wire::parse(text);
  CHECK(again.has_value());
  std::string same;
  wire::write_value(same, *again);
  CHECK(same == text);
}
