#include "fuzz/target.h"
#include "wire/api/job.h"
#include "wire/api/offer.h"
#include "wire/query.h"

// Filters: `where=` of the API. An accepted filter evaluates, and its canonical form is the same
// filter.

using namespace souk;

namespace {

template <class Row>
void filter(std::string_view text) {
  static const auto fields = wire::query_fields<Row>();
  const auto query = wire::parse_query(text, fields);
  if (!query) return;
  const auto canonical = wire::to_string(*query);
  const auto again = wire::parse_query(canonical, fields);
  // The canonical form may be too long where the text was just short enough.
  if (canonical.size() <= wire::kMaxQueryBytes) CHECK(again.has_value() && *again == *query);
  (void)wire::matches(*query, Row{});
}

}  // namespace

SOUK_FUZZ(filter, .input_bytes = 2048, .malloc_mb = 2) {
  filter<wire::Offer>(input);
  filter<wire::Job>(input);
}
