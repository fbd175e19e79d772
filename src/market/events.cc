#include "market/events.h"

#include <array>

namespace souk::market {
namespace {

template <class... E>
constexpr std::string_view name_of(const std::variant<E...>& event) {
  // "std::string_view ...short_name() [T = souk::market::OfferPosted]"
  constexpr auto short_name = []<class T>() {
    std::string_view text = __PRETTY_FUNCTION__;
    text = text.substr(text.rfind("::") + 2);
    return text.substr(0, text.find_first_of(" ];>"));
  };
  static constexpr std::array names { short_name.template operator()<E>()... };
  return names[event.index()];
}

}  // namespace

std::string_view kind_of(const Event& event) { return name_of(event); }

Event::Event() = default;
Event::Event(const Event& other) = default;
Event::Event(Event&& other) noexcept = default;
Event& Event::operator=(const Event& other) = default;
Event& Event::operator=(Event&& other) noexcept = default;
Event::~Event() = default;

}  // namespace souk::market

template class std::vector<souk::market::Event>;
