#include "mechanism/auction/k_double.h"

#include "base/check.h"
#include "mechanism/auction/sides.h"

namespace souk::mechanism {

KDouble::KDouble(std::int64_t kappa_ppm) : kappa_ppm_(kappa_ppm) {
  CHECK(kappa_ppm >= 0 && kappa_ppm <= 1'000'000);
}

Outcome KDouble::clear(const Book& book, base::Random&) const {
  const auto crossing = cross(book);
  if (crossing.units == 0) return {};
  const auto low = crossing.low(), high = crossing.high();
  CHECK(low <= high);
  const auto price = low + base::share(high - low, kappa_ppm_);
  return {.trades = pair_up(crossing.bids, crossing.asks, price, price),
          .price = price,
          .benchmark = benchmark(crossing)};
}

base::Result<std::unique_ptr<Mechanism>> make_k_double(const base::Arguments& given) {
  return std::make_unique<KDouble>(given.micro("kappa"));
}

}  // namespace souk::mechanism
