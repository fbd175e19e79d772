#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "wire/api/events.h"

namespace souk::cli {
namespace {

constexpr int kReconnects = 20;  // In a row without an event in between.

std::string line_of(const wire::Notice& n) {
  auto out = fmt::format("{:>7}  {}  {:<16}", n.number, to_string(n.at), printable(n.kind));
  const auto add = [&](std::string_view key, const std::string& value) {
    out += fmt::format("  {}={}", key, printable(value));
  };
  if (n.job) add("job", to_string(*n.job));
  if (n.lease) add("lease", to_string(*n.lease));
  if (n.offer) add("offer", to_string(*n.offer));
  if (n.machine) add("machine", to_string(*n.machine));
  if (n.class_) add("class", *n.class_);
  if (n.price) add("price", to_string(*n.price));
  if (n.amount) add("amount", to_string(*n.amount));
  if (n.text && !n.text->empty()) add("text", *n.text);
  return out + "\n";
}

struct EventOptions {
  std::string after;
  std::optional<int> count;
};

Result<> follow_events(Context& c, EventOptions& o) {
  SOUK_ASSIGN(auto* api, c.api());
  auto last = o.after;
  int left = o.count.value_or(-1);
  if (!c.json()) c.note("following the market's events; Ctrl-C ends it");
  for (int tries = 0; left != 0 && tries < kReconnects; ++tries) {
    Result<> trouble;
    auto ended = api->events("/v1/events", last, [&](const net::Event& event) {
      if (event.data.empty()) return true;
      tries = 0;
      last = event.id;
      if (c.json()) {
        c.print(event.data + "\n");
      } else if (auto notice = parse_body<wire::Notice>(event.data)) {
        c.print(line_of(*notice));
      } else {
        trouble = std::unexpected(std::move(notice).error());
        return false;
      }
      return --left != 0;
    });
    SOUK_TRY(std::move(trouble));
    if (left == 0) return {};
    if (!ended && (ended.error().exit == Exit::refused || tries + 1 == kReconnects)) return ended;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  return {};
}

}  // namespace

Command events_command() {
  auto o = std::make_shared<EventOptions>();
  Command out{.name = "events",
              .summary = "follow what happens in the market, live",
              .examples = {"events", "events --after 1200 --json", "events --count 10"}};
  out.options = {flag("--after NUMBER", "begin after this event; else with the next", o->after),
                 flag("--count N", "stop after this many", o->count)};
  out.run = [o](Context& c) { return follow_events(c, *o); };
  return out;
}

}  // namespace souk::cli
