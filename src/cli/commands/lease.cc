#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/shell/session.h"

namespace souk::cli {
namespace {

Command list_leases_command() {
  auto o = std::make_shared<Paging>();
  Command out{.name = "list",
              .summary = "leases you pay for or earn from, newest first",
              .examples = {"lease list", "lease list --limit 100 --json"}};
  out.options = paging_flags(*o);
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->get("/v1/leases" + query_string(params(*o))));
    return c.show<wire::Page<wire::Lease>>(body, [&](const auto& page) {
      if (page.items.empty())
        return c.print("no leases yet: they come when jobs and offers meet\n");
      show_leases(c, page.items);
      show_next(c, page.next);
    });
  };
  return out;
}

struct OneLease {
  base::LeaseId id;
  std::int32_t epoch = 0;
  wire::ReportedOutcome outcome = wire::ReportedOutcome::completed;
  std::string detail;
};

Command start_command() {
  auto o = std::make_shared<OneLease>();
  Command out{.name = "start",
              .summary = "report that a lease's work runs, as an agent does; billing begins",
              .examples = {"lease start l4 --epoch 1"}};
  out.options = {argument("LEASE", "its id", o->id),
                 required(flag("--epoch N", "as `souk machine work` shows", o->epoch))};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->post(path_of("/v1/leases", to_string(o->id), "/start"),
                                           wire::to_json(wire::LeaseStart{o->epoch})));
    return c.show<wire::Lease>(body, [&](const auto& l) { show_leases(c, {l}); });
  };
  return out;
}

Command finish_command() {
  auto o = std::make_shared<OneLease>();
  Command out{.name = "finish",
              .summary = "report that a lease's work is over, as an agent does",
              .examples = {"lease finish l4 --epoch 1",
                           "lease finish l4 --epoch 1 --outcome failed --detail 'exit status 2'"}};
  out.options = {argument("LEASE", "its id", o->id),
                 required(flag("--epoch N", "as `souk machine work` shows", o->epoch)),
                 flag("--outcome OUTCOME", one_of(o->outcome), o->outcome),
                 flag("--detail TEXT", "for example an exit status", o->detail)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    const wire::LeaseFinish request{o->epoch, o->outcome, o->detail};
    SOUK_ASSIGN(const auto body, api->post(path_of("/v1/leases", to_string(o->id), "/finish"),
                                           wire::to_json(request)));
    return c.show<wire::Lease>(body, [&](const auto& l) { show_leases(c, {l}); });
  };
  return out;
}

}  // namespace

Command lease_command() {
  Command out{.name = "lease",
              .summary = "slots granted to jobs",
              .examples = {"lease list", "lease finish l4 --epoch 1"}};
  out.commands = {list_leases_command(), start_command(), finish_command()};
  return out;
}

}  // namespace souk::cli
