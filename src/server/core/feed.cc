#include "server/core/feed.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/sse.h"
#include "server/routes/views.h"
#include "wire/json.h"

namespace souk::server {
namespace {

constexpr std::size_t kRecent = 10'000;    // Notices a reader can catch up on.
constexpr std::size_t kReaders = 50'000;   // Streams and polls at a time.
constexpr std::size_t kPerAnswer = 1'000;  // Notices in one answer to a poll.
// A stream's queue is bounded (net/server.h), and who fills it is cut. So what a reader missed
// comes in one piece of at most this size, and so does a batch of more notices than this.
constexpr std::size_t kCatchUpBytes = 512 << 10;
constexpr std::size_t kPiecemeal = 256;
constexpr auto kQuiet = base::seconds(15);  // Then a stream gets a comment to stay open.

using market::State;
using wire::Notice;
using Described = std::optional<std::pair<Notice, Audience>>;

// What people see of each event. An event without an overload concerns nobody.
struct Describer {
  const State& s;
  Notice n;

  Described everybody() { return std::pair(std::move(n), Audience{.everybody = true}); }
  Described only(std::vector<base::AccountId> accounts) {
    return std::pair(std::move(n), Audience{.accounts = std::move(accounts)});
  }
  Described of_job(base::JobId job) {
    n.job = job;
    const auto* j = s.jobs.find(job);
    return j == nullptr ? std::nullopt : only({j->owner});
  }
  Described of_lease(base::LeaseId lease) {
    const auto* l = s.leases.find(lease);
    if (l == nullptr) return std::nullopt;
    n.lease = lease;
    n.job = l->job;
    n.offer = l->offer;
    n.machine = l->machine;
    n.class_ = s.slot_class(l->slot_class).name;
    return only({l->borrower, l->lender});
  }
  Described of_machine(base::MachineId machine) {
    n.machine = machine;
    const auto* m = s.machines.find(machine);
    return m == nullptr ? std::nullopt : only({m->owner});
  }
  Described of_offer(base::OfferId offer) {
    n.offer = offer;
    if (const auto* o = s.offers.find(offer)) {
      n.machine = o->machine;
      n.class_ = s.slot_class(o->slot_class).name;
      n.price = o->terms.reserve;
    }
    return everybody();
  }

  template <class E>
  Described operator()(const E&) {
    return std::nullopt;
  }

  Described operator()(const market::ClassSet& e) {
    n.class_ = e.slot_class.name;
    return everybody();
  }
  Described operator()(const market::AccountFrozen& e) {
    n.text = e.reason;
    return only({e.account});
  }
  Described operator()(const market::CreditsGranted& e) {
    n.amount = e.amount;
    n.text = e.memo;
    return only({e.account});
  }
  Described operator()(const market::MachineAdded& e) {
    n.machine = e.machine.id;
    return only({e.machine.owner});
  }
  Described operator()(const market::MachineOnline& e) { return of_machine(e.machine); }
  Described operator()(const market::MachineOffline& e) { return of_machine(e.machine); }
  Described operator()(const market::OfferPosted& e) { return of_offer(e.offer.id); }
  Described operator()(const market::OfferChanged& e) { return of_offer(e.offer); }
  Described operator()(const market::OfferPaused& e) { return of_offer(e.offer); }
  Described operator()(const market::OfferDraining& e) { return of_offer(e.offer); }
  Described operator()(const market::OfferRemoved& e) { return of_offer(e.offer); }
  Described operator()(const market::JobSubmitted& e) { return of_job(e.job.id); }
  Described operator()(const market::JobChanged& e) { return of_job(e.job); }
  Described operator()(const market::JobWarned& e) {
    n.text = "its escrow runs low";
    return of_job(e.job);
  }
  Described operator()(const market::JobPaused& e) {
    n.text = e.reason;
    return of_job(e.job);
  }
  Described operator()(const market::JobResized& e) {
    n.text = fmt::format("{} workers: {}", e.workers, e.why);
    return of_job(e.job);
  }
  Described operator()(const market::JobMoved& e) {
    n.class_ = s.slot_class(e.slot_class).name;
    n.text = e.why;
    return of_job(e.job);
  }
  Described operator()(const market::ProfileLearnt&) { return std::nullopt; }
  Described operator()(const market::JobResumed& e) { return of_job(e.job); }
  Described operator()(const market::JobEnded& e) {
    n.text = std::string(to_string(e.state)) + ": " + e.reason;
    return of_job(e.job);
  }
  Described operator()(const market::RoundCleared& e) {
    if (e.traded == 0) return std::nullopt;
    n.class_ = s.slot_class(e.slot_class).name;
    n.price = e.price;
    n.text = std::to_string(e.traded) + " slots";
    return everybody();
  }
  Described operator()(const market::LeaseGranted& e) {
    n.price = e.lease.term.pays;
    return of_lease(e.lease.id);
  }
  Described operator()(const market::LeaseStarted& e) { return of_lease(e.lease); }
  Described operator()(const market::LeaseReady& e) { return of_lease(e.lease); }
  Described operator()(const market::GangChanged& e) {
    n.text = fmt::format("{}: {}", to_string(e.phase), e.reason);
    return of_job(e.job);
  }
  Described operator()(const market::VolumeSaved& e) {
    n.job = e.volume.job;
    n.text = e.volume.name;
    return only({e.volume.owner});
  }
  Described operator()(const market::LeaseSettled& e) {
    n.amount = e.amount;
    return of_lease(e.lease);
  }
  Described operator()(const market::LeaseRenewed& e) {
    n.price = e.next.pays;
    return of_lease(e.lease);
  }
  Described operator()(const market::LeaseDraining& e) {
    n.text = e.reason;
    return of_lease(e.lease);
  }
  Described operator()(const market::LeaseClosed& e) {
    n.text = std::string(to_string(e.outcome));
    return of_lease(e.lease);
  }
  Described operator()(const market::FeedbackGiven& e) { return only({e.feedback.account}); }
  Described operator()(const market::CreditsRequested& e) {
    n.amount = e.amount;
    return only({e.account});
  }
  Described operator()(const market::RequestAnswered& e) {
    n.amount = e.granted;
    n.text = e.word;
    return only({e.account});
  }
};

std::string frame_of(const Notice& n) {
  return net::format_event(
      {.id = std::to_string(n.number), .event = n.kind, .data = wire::to_json(n)});
}

Notice missed(std::uint64_t number, base::Time at) {
  return {.number = number,
          .at = at,
          .kind = "missed",
          .text = "notices up to this one are no longer kept: look at the things themselves"};
}

}  // namespace

Described Feed::describe(const State& s, const Committed& c) {
  Describer d{s, {.number = c.number, .at = c.at, .kind = std::string(market::kind_of(c.event))}};
  return std::visit(d, c.event);
}

bool Feed::visible(const Item& item, const Reader& reader) {
  return item.audience.everybody || reader.all ||
         std::ranges::find(item.audience.accounts, reader.account) != item.audience.accounts.end();
}

void Feed::stage(std::uint64_t number, Notice notice, Audience audience) {
  CHECK(notice.number == number);
  auto frame = std::make_shared<const std::string>(frame_of(notice));
  const std::lock_guard lock(mutex_);
  staged_.push_back(
      std::make_shared<const Item>(Item{std::move(notice), std::move(audience), std::move(frame)}));
}

void Feed::stage_work(std::uint64_t number, base::MachineId machine) {
  const std::lock_guard lock(mutex_);
  staged_work_.emplace_back(number, machine);
}

void Feed::publish(std::uint64_t number) {
  std::vector<std::shared_ptr<const Item>> items;
  std::vector<std::move_only_function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    newest_ = number;
    while (!staged_.empty() && staged_.front()->notice.number <= number) {
      items.push_back(staged_.front());
      recent_.push_back(std::move(staged_.front()));
      staged_.pop_front();
    }
    for (; recent_.size() > kRecent; recent_.pop_front()) {
      forgotten_ = recent_.front()->notice.number;
      forgotten_at_ = recent_.front()->notice.at;
    }
    for (; !staged_work_.empty() && staged_work_.front().first <= number;
         staged_work_.pop_front()) {
      auto [begin, end] = waits_.equal_range(staged_work_.front().second);
      for (auto it = begin; it != end; ++it) wakes.push_back(std::move(it->second.wake));
      waits_.erase(begin, end);
    }
  }
  if (!items.empty()) deliver(items, number);
  for (auto& wake : wakes) wake();
}

void Feed::deliver(std::span<const std::shared_ptr<const Item>> items, std::uint64_t number) {
  std::vector<std::pair<std::move_only_function<void(wire::Notices)>, wire::Notices>> answers;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const std::string> common;
    for (const auto& sub : subscribers_) write(sub, items, common);
    for (auto& poll : polls_) {
      wire::Notices out{.next = number};
      for (const auto& item : items)
        if (visible(*item, poll.reader)) out.items.push_back(item->notice);
      if (!out.items.empty()) answers.emplace_back(std::move(poll.done), std::move(out));
    }
    std::erase_if(polls_, [](const Poll& p) { return !p.done; });
  }
  for (auto& [done, notices] : answers) done(std::move(notices));
}

// `common` is made once for all who see no more than everybody.
void Feed::write(const Subscriber& to, std::span<const std::shared_ptr<const Item>> items,
                 std::shared_ptr<const std::string>& common) {
  if (items.size() <= kPiecemeal) {
    for (const auto& item : items)
      if (visible(*item, to.reader) && !to.stream.write(item->frame)) return;
    return;
  }
  std::string text;
  bool more = false;
  for (const auto& item : items) more |= !item->audience.everybody && visible(*item, to.reader);
  if (!more && common) return void(to.stream.write(common));
  for (const auto& item : items)
    if (visible(*item, to.reader)) text += *item->frame;
  auto piece = std::make_shared<const std::string>(std::move(text));
  if (!more) common = piece;
  to.stream.write(std::move(piece));
}

// The newest of what came after `number`, as much as a stream takes at once.
std::string Feed::catch_up(const Reader& reader, std::uint64_t number) const {
  std::vector<const Item*> items;
  std::size_t bytes = 0;
  auto gap = missed(forgotten_, forgotten_at_);
  for (auto it = recent_.rbegin(); it != recent_.rend() && (*it)->notice.number > number; ++it) {
    if (!visible(**it, reader)) continue;
    bytes += (*it)->frame->size();
    if (bytes > kCatchUpBytes) {
      gap = missed((*it)->notice.number, (*it)->notice.at);
      break;
    }
    items.push_back(it->get());
  }
  auto out = number < gap.number ? frame_of(gap) : std::string();
  for (auto it = items.rbegin(); it != items.rend(); ++it) out += *(*it)->frame;
  return out;
}

wire::Notices Feed::after(const Reader& reader, std::uint64_t number) const {
  wire::Notices out{.next = newest_};
  if (number < forgotten_) out.items.push_back(missed(forgotten_, forgotten_at_));
  auto it = std::ranges::upper_bound(recent_, number, {},
                                     [](const auto& item) { return item->notice.number; });
  for (; it != recent_.end(); ++it) {
    if (out.items.size() == kPerAnswer) {
      out.next = out.items.back().number;
      break;
    }
    if (visible(**it, reader)) out.items.push_back((*it)->notice);
  }
  return out;
}

bool Feed::subscribe(net::Stream stream, Reader reader, std::uint64_t after_number) {
  const std::lock_guard lock(mutex_);
  if (closed_ || subscribers_.size() + polls_.size() >= kReaders) {
    stream.close();
    return false;
  }
  auto begin = net::format_comment("souk");
  if (after_number > 0) begin += catch_up(reader, after_number);
  stream.write(std::make_shared<const std::string>(std::move(begin)));
  subscribers_.push_back({std::move(stream), reader});
  return true;
}

bool Feed::poll(Reader reader, std::uint64_t after_number, base::Time deadline,
                std::move_only_function<void(wire::Notices)> done) {
  wire::Notices ready;
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || subscribers_.size() + polls_.size() >= kReaders) return false;
    ready = after(reader, after_number);
    if (ready.items.empty()) {
      polls_.push_back({reader, deadline, std::move(done)});
      return true;
    }
  }
  done(std::move(ready));
  return true;
}

bool Feed::await_work(base::MachineId machine, base::Time deadline,
                      std::move_only_function<void()> wake) {
  const std::lock_guard lock(mutex_);
  if (closed_ || waits_.size() >= kReaders) return false;
  waits_.emplace(machine, WorkWait{deadline, std::move(wake)});
  return true;
}

void Feed::prune_subscribers() {
  std::erase_if(subscribers_, [](const Subscriber& s) { return !s.stream.open(); });
}

void Feed::expire(base::Time now, const std::function<bool(base::TokenId)>& good) {
  std::vector<std::move_only_function<void(wire::Notices)>> ended;
  std::vector<std::move_only_function<void()>> wakes;
  std::uint64_t newest = 0;
  {
    const std::lock_guard lock(mutex_);
    newest = newest_;
    for (auto& p : polls_)
      if (closed_ || p.deadline <= now || !good(p.reader.token)) ended.push_back(std::move(p.done));
    for (const auto& s : subscribers_)
      if (!good(s.reader.token)) s.stream.close();
    std::erase_if(polls_, [](const Poll& p) { return !p.done; });
    for (auto it = waits_.begin(); it != waits_.end();) {
      const bool due = closed_ || it->second.deadline <= now;
      if (due) wakes.push_back(std::move(it->second.wake));
      it = due ? waits_.erase(it) : std::next(it);
    }
    if (now - last_comment_ >= kQuiet) {
      last_comment_ = now;
      prune_subscribers();
      const auto comment = std::make_shared<const std::string>(net::format_comment("quiet"));
      for (auto& s : subscribers_) s.stream.write(comment);
    }
  }
  for (auto& done : ended) done({.next = newest});
  for (auto& wake : wakes) wake();
}

void Feed::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (auto& s : subscribers_) s.stream.close();
    subscribers_.clear();
  }
  expire(base::Time(), [](base::TokenId) { return true; });
}

std::size_t Feed::readers() const {
  const std::lock_guard lock(mutex_);
  return subscribers_.size() + polls_.size() + waits_.size();
}

}  // namespace souk::server
