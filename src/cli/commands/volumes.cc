#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "agent/remote.h"
#include "blob/folder.h"
#include "blob/transfer.h"
#include "cli/commands/commands.h"
#include "cli/commands/upload.h"
#include "cli/shell/human.h"
#include "cli/shell/table.h"
#include "wire/api/volume.h"

// `souk volume`: folders that outlive the jobs that use them.

namespace souk::cli {
namespace {

Result<wire::VolumeList> volumes(Context& c) {
  SOUK_ASSIGN(auto* api, c.api());
  return parsed<wire::VolumeList>(api->get("/v1/volumes"));
}

Result<> list_volumes(Context& c) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto body, api->get("/v1/volumes"));
  return c.show<wire::VolumeList>(body, [&](const wire::VolumeList& all) {
    if (all.items.empty())
      return c.print("no volumes: a job file makes one with volumes: [NAME]\n");
    Table table({{"name"}, {"saved"}, {"by"}, {"in use by"}});
    for (const auto& v : all.items)
      table.add(
          {v.name, to_string(v.saved), to_string(v.job), v.in_use ? to_string(*v.in_use) : "-"});
    c.print(table);
  });
}

struct VolumeGet {
  std::string name;
  std::string out = ".";
};

Result<> get(Context& c, const VolumeGet& o) {
  SOUK_ASSIGN(const auto all, volumes(c));
  const auto it = std::ranges::find(all.items, o.name, &wire::VolumeRow::name);
  if (it == all.items.end())
    return failed(fmt::format("you have no volume '{}'", o.name), "`souk volume list` lists them");
  SOUK_ASSIGN(const auto root, blob::parse_digest(it->blob));
  SOUK_ASSIGN(const auto store, user_store(c));
  SOUK_ASSIGN(const auto* market, c.target());
  SOUK_ASSIGN(const auto got, blob::download(root, *store, agent::blobs_at(link_to(*market))));
  SOUK_TRY(blob::unpack(got.manifest, *store, o.out));
  c.print(fmt::format("{}/{}: {} files\n", o.out, o.name, got.manifest.entries.size()));
  return {};
}

}  // namespace

Command volume_command() {
  Command out{.name = "volume",
              .summary = "folders that outlive the jobs that use them",
              .examples = {"volume list", "volume get work -o .", "volume remove work"}};
  Command listing{.name = "list", .summary = "your volumes", .examples = {"volume list"}};
  listing.run = [](Context& c) { return list_volumes(c); };
  auto o = std::make_shared<VolumeGet>();
  Command getting{.name = "get",
                  .summary = "bring what is in a volume here",
                  .examples = {"volume get work -o ."}};
  getting.options = {
      argument("NAME", "of the volume", o->name),
      with_letter('o', flag("--out FOLDER", "where to put it; default here", o->out))};
  getting.run = [o](Context& c) { return get(c, *o); };
  auto name = std::make_shared<std::string>();
  Command removing{.name = "remove",
                   .summary = "forget what is in a volume",
                   .examples = {"volume remove work"}};
  removing.options = {argument("NAME", "of the volume", *name)};
  removing.run = [name](Context& c) -> Result<> {
    SOUK_ASSIGN(auto* api, c.api());
    SOUK_ASSIGN(const auto body, api->remove(path_of("/v1/volumes", *name)));
    return c.done(body, fmt::format("removed {}", *name));
  };
  out.commands = {std::move(listing), std::move(getting), std::move(removing)};
  out.details =
      "A job with one worker names them: volumes: [work]. Its program finds the folder work with "
      "what was in it, and what it changes is kept every minute and at the end, by content. One "
      "job at a time has a volume.";
  return out;
}

}  // namespace souk::cli
