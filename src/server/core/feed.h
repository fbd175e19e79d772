#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "net/server.h"
#include "server/core/core.h"
#include "wire/api/events.h"

namespace souk::server {

// Who may see a notice: everybody with a token, or these accounts and operators.
struct Audience {
  bool everybody = false;
  std::vector<base::AccountId> accounts;
};

// Tells people what happened: server-sent events, JSON long polls, and agents waiting for work.
// Thread-safe. Fed with committed events only.
class Feed {
 public:
  // A reader of notices: an account, or an operator who sees all. Reads no longer than its token
  // lasts.
  struct Reader {
    base::AccountId account;
    bool all = false;
    base::TokenId token;
  };

  // Begins after the last event of a history, of which it knows nothing else.
  Feed(std::uint64_t events_so_far, base::Time at)
      : newest_(events_so_far), forgotten_(events_so_far), forgotten_at_(at) {}

  // Maps an event to what people see of it; nothing for what concerns nobody. Runs on the core
  // thread, right after the event was applied, because it looks names up in the state.
  static std::optional<std::pair<wire::Notice, Audience>> describe(const market::State& s,
                                                                   const Committed& c);

  // Core thread, in order: remembers what to publish when `number` is committed.
  void stage(std::uint64_t number, wire::Notice notice, Audience audience);
  // Core thread: a machine's work changed with this event.
  void stage_work(std::uint64_t number, base::MachineId machine);
  // Commit thread: everything up to `number` is durable.
  void publish(std::uint64_t number);

  // Streams what comes after notice `after` (0: from now on). Where that is no longer all there,
  // here and in poll(), a notice of kind "missed" stands for the gap. False when there are too
  // many.
  bool subscribe(net::Stream stream, Reader reader, std::uint64_t after);
  // Calls `done` once with notices after `after`, or with none at `deadline`.
  bool poll(Reader reader, std::uint64_t after, base::Time deadline,
            std::move_only_function<void(wire::Notices)> done);
  // Calls `wake` once, when the machine's work changes or at `deadline`.
  bool await_work(base::MachineId machine, base::Time deadline,
                  std::move_only_function<void()> wake);
  // About every second: ends polls whose time has come and whatever reads with a token that is no
  // longer good, keeps quiet streams alive.
  void expire(base::Time now, const std::function<bool(base::TokenId)>& good);
  void close();  // Ends all polls and streams.

  [[nodiscard]] std::size_t readers() const;

 private:
  struct Item {
    wire::Notice notice;
    Audience audience;
    std::shared_ptr<const std::string> frame;  // As a server-sent event.
  };
  struct Subscriber {
    net::Stream stream;
    Reader reader;
  };
  struct Poll {
    Reader reader;
    base::Time deadline;
    std::move_only_function<void(wire::Notices)> done;
  };
  struct WorkWait {
    base::Time deadline;
    std::move_only_function<void()> wake;
  };

  static bool visible(const Item& item, const Reader& reader);
  wire::Notices after(const Reader& reader, std::uint64_t number) const;
  std::string catch_up(const Reader& reader, std::uint64_t number) const;
  static void write(const Subscriber& to, std::span<const std::shared_ptr<const Item>> items,
                    std::shared_ptr<const std::string>& common);
  void deliver(std::span<const std::shared_ptr<const Item>> items, std::uint64_t number);
  void prune_subscribers();

  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<const Item>> staged_;
  std::deque<std::pair<std::uint64_t, base::MachineId>> staged_work_;
  std::deque<std::shared_ptr<const Item>> recent_;  // Published, oldest first, bounded.
  std::uint64_t newest_ = 0;                        // Number of the last committed event.
  std::uint64_t forgotten_ = 0;                     // Of the last notice that is not in `recent_`.
  base::Time forgotten_at_;
  std::vector<Subscriber> subscribers_;
  std::vector<Poll> polls_;
  std::multimap<base::MachineId, WorkWait> waits_;
  base::Time last_comment_;
  bool closed_ = false;
};

}  // namespace souk::server
