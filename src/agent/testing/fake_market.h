#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/link.h"
#include "agent/testing/scripted_server.h"
#include "base/check.h"
#include "base/text.h"
#include "blob/folder.h"
#include "blob/testing/samples.h"
#include "wire/api/blob.h"
#include "wire/api/heartbeat.h"
#include "wire/api/lease.h"
#include "wire/api/log.h"
#include "wire/json.h"

namespace souk::agent::testing {

// The value at `path` of a JSON text ("leases.0.lease") as text, so that tests do not depend on the
// C++ type of a field. "" when there is none.
inline std::string field(std::string_view json, std::string_view path) {
  const auto whole = wire::parse(json);
  const auto* value = whole ? &*whole : nullptr;
  for (const auto step : base::split(path, '.')) {
    if (value == nullptr) return "";
    if (const auto* object = value->if_object())
      value = object->if_contains(step);
    else if (const auto* list = value->if_array())
      value = list->if_contains(std::stoul(std::string(step)));
    else
      value = nullptr;
  }
  if (value == nullptr) return "";
  if (const auto* text = value->if_string()) return {text->data(), text->size()};
  std::string out;
  wire::write_value(out, *value);
  return out;
}

// A market as an agent sees it: it has leases, orders, logs and blobs, and believes all reports.
// What on() says goes before. Thread-safe.
class FakeMarket {
 public:
  FakeMarket()
      : server_([this](const net::Request& r) { return answer(r); }),
        polls_([this](const std::stop_token& stop) { answer_polls(stop); }) {}

  [[nodiscard]] LinkOptions link(base::Duration timeout = base::seconds(20)) const {
    return {.servers = {server_.url()}, .token = "secret", .timeout = timeout};
  }
  [[nodiscard]] const ScriptedServer& server() const { return server_; }
  // The body of each such request: "POST /v1/leases/l1/finish".
  [[nodiscard]] std::vector<std::string> bodies(std::string_view what) const {
    std::vector<std::string> out;
    for (auto& request : server_.asked(what)) out.push_back(std::move(request.body));
    return out;
  }
  [[nodiscard]] std::size_t count(std::string_view what) const { return bodies(what).size(); }

  // Requests whose method and path are `what` get these answers, one each, then the usual ones.
  // Without an answer (nullopt) the peer waits for ever.
  void on(std::string what, std::vector<std::optional<net::Response>> answers) {
    const std::lock_guard lock(mutex_);
    auto& queue = scripts_[std::move(what)];
    queue.insert(queue.end(), answers.begin(), answers.end());
  }
  // The usual answer to requests whose method and path begin with `what`.
  void usually(std::string what, ScriptedServer::Answer answer) {
    const std::lock_guard lock(mutex_);
    usual_[std::move(what)] = std::move(answer);
  }
  // While away, only a gateway answers.
  void set_away(bool away) {
    const std::lock_guard lock(mutex_);
    away_ = away;
  }

  void set_leases(std::vector<wire::Lease> leases) {
    const std::lock_guard lock(mutex_);
    leases_ = std::move(leases);
    ++version_;
  }
  void set_orders(std::vector<wire::Order> orders, std::optional<wire::Challenge> challenge = {},
                  std::optional<bool> unproved = {}) {
    const std::lock_guard lock(mutex_);
    orders_ = {std::move(orders), base::milliseconds(20), std::move(challenge), unproved};
  }
  [[nodiscard]] std::string log(std::string_view lease) const {
    const std::lock_guard lock(mutex_);
    const auto it = logs_.find(lease);
    return it == logs_.end() ? "" : it->second;
  }

  // A folder that can be fetched from here; its name.
  std::string add_folder(const std::map<std::string, std::string>& files) {
    const auto packed = blob::pack_files(files, *store_);
    CHECK(packed.has_value());
    return to_string(packed->root);
  }
  // The files of a folder that was sent here.
  [[nodiscard]] std::map<std::string, std::string> folder(const std::string& name) const {
    const auto manifest = blob::read_manifest(*blob::parse_digest(name), *store_);
    std::map<std::string, std::string> out;
    if (!manifest) return out;
    for (const auto& entry : manifest->entries)
      if (const auto bytes = blob::read_file(*manifest, entry.path, *store_, 1 << 30))
        out[entry.path] = *bytes;
    return out;
  }

 private:
  std::optional<net::Response> answer(const net::Request& r) {
    const auto what = r.method + " " + r.path;
    ScriptedServer::Answer usual;
    {
      const std::lock_guard lock(mutex_);
      if (away_) return bad_gateway();
      if (auto& queue = scripts_[what]; !queue.empty()) {
        auto out = std::move(queue.front());
        queue.pop_front();
        return out;
      }
      for (const auto& [begin, each] : usual_)
        if (what.starts_with(begin)) usual = each;
    }
    if (usual) return usual(r);
    if (what.starts_with("GET /v1/machines/") && what.ends_with("/work"))
      return r.param("seen") ? std::nullopt : std::optional(work());
    if (r.path.starts_with("/v1/blobs/")) return blobs(r);
    const std::lock_guard lock(mutex_);
    if (what.ends_with("/heartbeat")) return net::Response{.body = wire::to_json(orders_)};
    if (what.ends_with("/log")) return keep_log(r);
    if (what.ends_with("/finish")) close_lease(r);
    return net::Response{.body = "{}"};
  }

  [[nodiscard]] net::Response work() const {
    const std::lock_guard lock(mutex_);
    return {.body = wire::to_json(wire::OpenLeases{leases_, version_})};
  }

  // Long polls end soon here, so that tests do.
  void answer_polls(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    for (std::unique_lock lock(mutex); !stop.stop_requested();) {
      wake.wait_for(lock, stop, std::chrono::milliseconds(10), [] { return false; });
      server_.answer_waiting([this](const net::Request& r) {
        return r.path.ends_with("/work") && r.param("seen") ? std::optional(work()) : std::nullopt;
      });
    }
  }

  // These require mutex_.
  void close_lease(const net::Request& r) {
    const auto id = base::split(r.path, '/')[3];
    std::erase_if(leases_, [&](const auto& lease) { return to_string(lease.id) == id; });
    ++version_;
  }
  net::Response keep_log(const net::Request& r) {
    const auto piece = wire::from_json<wire::LogPiece>(r.body);
    const auto lease = base::split(r.path, '/')[3];
    auto& text = logs_[std::string(lease)];
    text = text.substr(0, static_cast<std::size_t>(piece->offset)) + piece->text;
    return {.body = wire::to_json(wire::LogSize{std::ssize(text)})};
  }

  net::Response blobs(const net::Request& r) {
    if (r.path == "/v1/blobs/missing") {
      auto names = *wire::from_json<wire::BlobNames>(r.body);
      std::erase_if(names.names,
                    [&](const auto& name) { return store_->has(*blob::parse_digest(name)); });
      return {.body = wire::to_json(names)};
    }
    const auto name = *blob::parse_digest(r.path.substr(10));
    if (r.method == "PUT") {
      CHECK(store_->put(name, r.body).has_value());
      return {.body = "{}"};
    }
    const auto bytes = store_->get(name);
    if (!bytes) return refused(base::Code::not_found, "there is no blob " + to_string(name));
    return {.content_type = "application/octet-stream", .body = *bytes};
  }

  const blob::testing::Folder folder_;
  const std::unique_ptr<blob::Store> store_ = *blob::Store::open(folder_ / "store");
  mutable std::mutex mutex_;  // Guards what follows.
  std::map<std::string, std::deque<std::optional<net::Response>>> scripts_;
  std::map<std::string, ScriptedServer::Answer> usual_;
  bool away_ = false;
  std::vector<wire::Lease> leases_;
  std::uint64_t version_ = 1;
  wire::Orders orders_{.heartbeat_every = base::milliseconds(20)};
  std::map<std::string, std::string, std::less<>> logs_;
  ScriptedServer server_;
  std::jthread polls_;
};

}  // namespace souk::agent::testing
