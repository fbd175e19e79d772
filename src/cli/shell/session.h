#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/shell/command.h"
#include "wire/api/account.h"
#include "wire/api/answer.h"

// What several command groups share: keeping a session, going through pages.

namespace souk::cli {

// Asked twice on a terminal, so that a slip does not lock anybody out.
base::Result<std::string> new_password(Context& c, const char* variable = "SOUK_PASSWORD");

// Stores a new account's token when none is stored for this server yet, and says which it did.
Result<> keep_if_first(Context& c, const wire::Session& session);

Command tokens_command(std::string name);  // souk token list, souk account tokens

// --limit and --after.
struct Paging {
  std::optional<int> limit;
  std::string after;
};
std::vector<Option> paging_flags(Paging& p);
std::vector<std::pair<std::string, std::string>> params(const Paging& p);
// Calls visit(item) for every item of a list, page by page, until it returns false.
template <class T, class Visit>
Result<> visit_all(Api& api, const std::string& path, Visit visit) {
  for (std::string after;;) {
    SOUK_ASSIGN(
        const auto page,
        parsed<wire::Page<T>>(api.get(path + query_string({{"limit", "500"}, {"after", after}}))));
    for (const auto& item : page.items)
      if (!visit(item)) return {};
    if (!page.next) return {};
    after = *page.next;
  }
}
template <class T>
Result<std::vector<T>> all_of(Api& api, const std::string& path) {
  std::vector<T> out;
  SOUK_TRY(visit_all<T>(api, path, [&](const T& item) {
    out.push_back(item);
    return true;
  }));
  return out;
}

// "more: --after X", when there is more.
void show_next(Context& c, const std::optional<std::string>& next);

}  // namespace souk::cli
