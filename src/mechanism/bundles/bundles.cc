#include "mechanism/bundles/bundles.h"

#include <fmt/format.h>

namespace souk::mechanism {
namespace {

using base::Code;
using base::fail;
using base::Result;

Result<> accepts_bundle(const Book& book, std::size_t at) {
  const auto& bid = book.bids[at];
  const auto field = fmt::format("bundles[{}]", at);
  if (bid.units != 1 || bid.gang > 1)
    return fail(Code::invalid,
                fmt::format("bid {} wants {} units of its bundle, {} at least", bid.id, bid.units,
                            bid.gang),
                "there is one of each good: write one unit and no gang", field);
  if (bid.limit < Credits())
    return fail(Code::invalid,
                fmt::format("bid {} has a limit of {}", bid.id, to_string(bid.limit)),
                "write zero or more credits for the whole bundle", field);
  if (book.bundles[at].empty())
    return fail(Code::invalid, fmt::format("bid {} wants an empty bundle", bid.id),
                "name the goods it wants", field);
  const std::uint32_t* before = nullptr;
  for (const auto& item : book.bundles[at]) {
    if (item >= book.items.size())
      return fail(Code::invalid,
                  fmt::format("bid {} wants good {} of {}", bid.id, item, book.items.size()),
                  "goods are named by their position in the list of items", field);
    if (before && *before >= item)
      return fail(
          Code::invalid,
          fmt::format("the bundle of bid {} is out of order or repeats good {}", bid.id, item),
          "write each good once, in the order of the list of items", field);
    before = &item;
  }
  return {};
}

}  // namespace

Result<> accepts_bundles(std::string_view mechanism, const Book& book, std::size_t most_bids,
                         std::size_t most_items) {
  if (book.items.empty())
    return fail(Code::invalid,
                fmt::format("{} takes bundles of goods, and the book has none", mechanism),
                "list the goods and give each bid a bundle of them; for slots of one class use "
                "another mechanism",
                "items");
  if (!book.asks.empty() || !book.bid_halves.empty() || !book.ask_halves.empty())
    return fail(
        Code::invalid,
        fmt::format("{} takes bids for bundles alone, and the book has {} asks and {} "
                    "halves",
                    mechanism, book.asks.size(), book.bid_halves.size() + book.ask_halves.size()),
        "leave them out: the goods are the operator's", "asks");
  if (book.items.size() > most_items)
    return fail(Code::too_large, fmt::format("the book has {} goods", book.items.size()),
                fmt::format("{} takes at most {}", mechanism, most_items), "items");
  if (book.bids.size() > most_bids)
    return fail(Code::too_large, fmt::format("the book has {} bids", book.bids.size()),
                fmt::format("{} takes at most {}", mechanism, most_bids), "bids");
  if (book.bundles.size() != book.bids.size())
    return fail(
        Code::invalid,
        fmt::format("the book has {} bundles for {} bids", book.bundles.size(), book.bids.size()),
        "give each bid one bundle", "bundles");
  for (std::size_t i = 0; i < book.bids.size(); ++i) SOUK_TRY(accepts_bundle(book, i));
  return {};
}

Result<> bundles_are_not_live(std::string_view mechanism) {
  return fail(Code::invalid, fmt::format("{} sells bundles of named goods", mechanism),
              "a market leases slots of one class: choose another mechanism for it", "mechanism");
}

}  // namespace souk::mechanism
