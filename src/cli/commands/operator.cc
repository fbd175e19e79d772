#include <fmt/format.h>

#include <memory>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/session.h"
#include "wire/api/blob.h"
#include "wire/api/system.h"
#include "wire/shape.h"

// What an operator needs beside accounts and classes: settings, room for files, the audit log.

namespace souk::cli {
namespace {

void show_settings(Context& c, const std::string& body) {
  // Printed from the struct's own list, so a new setting shows up by itself.
  const auto settings = wire::from_json<wire::Settings>(body);
  if (!settings) return;
  base::for_each_field(*settings, [&]<class T>(std::string_view name, const T& value) {
    auto text = wire::to_json(value);
    std::erase(text, '"');
    c.print(fmt::format("{:<14} {}\n", base::spelled(name), text));
  });
}

Result<wire::SettingsEdit> edit_of(const std::vector<std::string>& pairs) {
  wire::SettingsEdit out;
  for (const auto& text : pairs) {
    SOUK_ASSIGN(const auto pair, split_pair(text));
    base::Result<> good;
    bool known = false;
    base::for_each_field(out, [&](std::string_view name, auto& member) {
      if (base::spelled(name) != pair.first) return;
      known = true;
      good = read_value(pair.second, member);
    });
    if (!known)
      return usage(fmt::format("unknown setting '{}'", printable(pair.first)),
                   base::suggest(pair.first, wire::field_names<wire::SettingsEdit>));
    if (!good) {
      good.error().message = fmt::format("{}: {}", pair.first, good.error().message);
      return std::unexpected(std::move(good).error());
    }
  }
  return out;
}

Command show_settings_command() {
  Command out{.name = "show",
              .summary = "the market's settings",
              .examples = {"settings show", "settings show --json"}};
  out.run = [](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/settings"));
    return c.show<wire::Settings>(body, [&](const auto&) { show_settings(c, body); });
  };
  return out;
}

Command set_settings_command() {
  auto pairs = std::make_shared<std::vector<std::string>>();
  Command out{.name = "set",
              .summary = "change settings (operators); what is not named stays",
              .examples = {"settings set fee=0.05", "settings set term=2h drain=5m"}};
  out.options = {argument("KEY=VALUE", "as `souk settings show` lists them", *pairs)};
  out.run = [pairs](Context& c) -> Result<> {
    SOUK_ASSIGN(const auto edit, edit_of(*pairs));
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->patch("/v1/settings", wire::to_json(edit)));
    return c.show<wire::Settings>(body, [&](const auto&) { show_settings(c, body); });
  };
  return out;
}

}  // namespace

Command settings_command() {
  Command out{.name = "settings",
              .summary = "what the operator can set for the whole market",
              .examples = {"settings show", "settings set fee=0.05"}};
  out.commands = {show_settings_command(), set_settings_command()};
  out.run = out.commands.front().run;
  return out;
}

Command blobs_command() {
  auto bytes = std::make_shared<Memory>();
  Command clean{.name = "clean",
                .summary = "remove the oldest files that no live job needs (operators)",
                .examples = {"blobs clean --free 10G"}};
  clean.options = {required(flag("--free SIZE", "how much is to be removed", *bytes))};
  clean.details = "Works on a full disk too: nothing is written.";
  clean.run = [bytes](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    const wire::BlobCleaning wanted{static_cast<std::int64_t>(bytes->mib) << 20};
    SOUK_ASSIGN(const auto body, api->post("/v1/blobs/clean", wire::to_json(wanted)));
    return c.show<wire::BlobCleaning>(body, [&](const auto& done) {
      c.print(
          fmt::format("removed {}\n", base::bytes_text(static_cast<std::uint64_t>(done.bytes))));
    });
  };
  Command out{.name = "blobs",
              .summary = "the files that the market keeps",
              .examples = {"blobs clean --free 10G"}};
  out.commands = {std::move(clean)};
  return out;
}

Command audit_command() {
  auto o = std::make_shared<Paging>();
  Command out{.name = "audit",
              .summary = "everything operators did, newest first (operators)",
              .examples = {"audit", "audit list --limit 100 --json"}};
  out.options = paging_flags(*o);
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/audit" + query_string(params(*o))));
    return c.show<wire::Page<wire::AuditEntry>>(body, [&](const auto& page) {
      if (page.items.empty()) return c.print("no operator has done anything yet\n");
      Table table(
          {{"when"}, {"who", {}, 6}, {"action"}, {"subject", {}, 8}, {"detail", {}, 10, 1}});
      for (const auto& e : page.items)
        table.add({to_string(e.at), e.who, e.action, e.subject, e.detail});
      c.print(table);
      show_next(c, page.next);
    });
  };
  return with_list(std::move(out));
}

}  // namespace souk::cli
