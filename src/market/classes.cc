#include "market/classes.h"

#include <fmt/format.h>

#include <algorithm>

#include "market/limits.h"

namespace souk::market {

base::Result<> check_classes(Pay pay, std::span<const SlotClass* const> classes) {
  const auto bad = [](std::string message, std::string hint, std::string_view field) {
    return base::fail(base::Code::invalid, std::move(message), std::move(hint), std::string(field));
  };
  const auto others = classes.size() - 1;
  if (others > 0 && pay != Pay::work)
    return bad(fmt::format("a job that is paid by {1} cannot name {0} slot classes", classes.size(),
                           to_string(pay)),
               "name one class: only a job that is paid by accepted work can move", "also_classes");
  if (others > kOtherClassesPerJob)
    return bad(fmt::format("the job names {} other classes", others),
               fmt::format("{} at most", kOtherClassesPerJob), "also_classes");
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto* k = classes[i];
    const auto field = i == 0 ? "class" : "also_classes";
    if (k->retired)
      return bad(fmt::format("class '{}' is retired", k->name), "choose another class", field);
    const auto before = classes.first(i);
    if (std::ranges::find(before, k->id, &SlotClass::id) != before.end())
      return bad(fmt::format("class '{}' is named twice", k->name), "name each class once", field);
  }
  return {};
}

}  // namespace souk::market
