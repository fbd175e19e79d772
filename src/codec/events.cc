#include "codec/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/binary.h"

namespace souk::codec {
namespace {

constexpr auto kKinds = std::variant_size_v<market::AnyEvent>;

std::uint8_t version_of(std::uint8_t kind, std::span<const Upcast> known) {
  return static_cast<std::uint8_t>(1 + std::ranges::count(known, kind, &Upcast::kind));
}

constexpr std::uint8_t kSized = 0x80;  // In the byte of the version.

// Were the fields as they should be? What follows the known fields of a sized struct is from a
// newer program; the first layout never had such.
bool well_read(const Reader& reader) {
  return reader.ok() && (reader.at_end() || reader.layout() == Layout::sized);
}

template <std::size_t I>
bool read_one(Reader& reader, Event& out) {
  reader.fields(out.emplace<I>());
  return well_read(reader);
}

using ReadOne = bool (*)(Reader&, Event&);
constexpr auto kReaders = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<ReadOne, sizeof...(I)>{&read_one<I>...};
}(std::make_index_sequence<kKinds>());

base::Failure damaged(std::uint64_t number, std::string what, std::string hint = {}) {
  return base::fail(base::Code::damaged, fmt::format("event {}: {}", number, what),
                    std::move(hint));
}

Result<> decode(std::uint8_t kind, std::uint8_t version_byte, std::string_view fields,
                std::uint64_t number, std::span<const Upcast> known, Event& out) {
  const auto current = version_of(kind, known);
  const auto version = static_cast<std::uint8_t>(version_byte & ~kSized);
  if (version == 0) return damaged(number, "its version is 0");
  if (kind >= kKinds || version > current)
    return damaged(number, fmt::format("kind {} version {} is unknown", kind, version),
                   "it was written by a newer souk: use that one");
  Reader reader(fields, false, (version_byte & kSized) != 0 ? Layout::sized : Layout::first);
  base::Bytes converted;
  for (auto v = version; v < current; ++v) {
    const auto it =
        std::ranges::find_if(known, [&](const Upcast& u) { return u.kind == kind && u.from == v; });
    CHECK(it != known.end());
    auto next = it->convert(reader);
    if (!well_read(reader)) return damaged(number, "its fields cannot be read");
    converted = std::move(next);  // What `reader` read may have been the old one.
    reader = Reader(converted, false, Layout::sized);
  }
  if (!kReaders[kind](reader, out)) return damaged(number, "its fields cannot be read");
  return {};
}

template <class E>
std::uint8_t kind_of_event() {
  return static_cast<std::uint8_t>(Event(std::in_place_type<E>).index());
}

// Version 1 had no field for what a job's workers are paid for: it followed from the job's kind.
base::Bytes pay_of_kind(Reader& fields) {
  market::JobSubmitted e;
  fields.fields(e);
  e.job.pay = e.job.kind == "train" ? market::Pay::work : market::Pay::time;
  base::Bytes out;
  Writer(out, Layout::sized).fields(e);
  return out;
}

}  // namespace

std::span<const Upcast> upcasts() {
  static const std::array rows{
      Upcast{kind_of_event<market::JobSubmitted>(), 1, pay_of_kind},
  };
  return rows;
}

void EventWriter::add(Time at, const Event& event) {
  fields_.clear();
  std::visit([&](const auto& e) { Writer(fields_, Layout::sized).fields(e); }, event);
  const auto kind = static_cast<std::uint8_t>(event.index());
  Writer out(bytes_);
  out.byte(kind);
  out.byte(version_of(kind, upcasts()) | kSized);
  out.signed_number(at.us - last_.us);
  out.number(fields_.size());
  out.raw(fields_);
  last_ = at;
  ++count_;
}

void EventWriter::clear() {
  bytes_.clear();
  last_ = Time();
  count_ = 0;
}

namespace {

// An event without what it says.
struct Envelope {
  std::uint8_t kind = 0, version = 0;
  std::string_view fields;
};

// Reads the next one; `at` becomes its time.
Result<Envelope> next_event(Reader& reader, std::uint64_t number, Time& at) {
  Envelope out{.kind = reader.byte(), .version = reader.byte(), .fields = {}};
  const auto since = reader.signed_number();
  out.fields = reader.raw(reader.number());
  if (!reader.ok()) return damaged(number, "its bytes end too early");
  if (__builtin_add_overflow(at.us, since, &at.us)) return damaged(number, "its time is absurd");
  return out;
}

}  // namespace

Result<> read_events(std::string_view bytes, std::uint64_t first,
                     const std::function<void(Time, const Event&)>& visit,
                     std::span<const Upcast> known) {
  Reader reader(bytes);
  Time at;
  Event event;
  for (auto number = first; !reader.at_end(); ++number) {
    SOUK_ASSIGN(const auto next, next_event(reader, number, at));
    SOUK_TRY(decode(next.kind, next.version, next.fields, number, known, event));
    visit(at, event);
  }
  return {};
}

Result<Time> last_time(std::string_view bytes, std::uint64_t first) {
  Reader reader(bytes);
  Time at;
  for (auto number = first; !reader.at_end(); ++number) SOUK_TRY(next_event(reader, number, at));
  return at;
}

}  // namespace souk::codec
