#include "server/tunnels/service_desk.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "server/http/responses.h"

namespace souk::server {
namespace {

using base::Code;
using Clock = std::chrono::steady_clock;

constexpr auto kSweep = std::chrono::milliseconds(200);

struct Worker {
  base::LeaseId lease;
  std::int32_t epoch = 0;
  bool draining = false;
  std::list<Exchange*> idle;
  std::int32_t busy = 0;
  std::int64_t answered = 0;  // Since somebody asked.
};

struct Service {
  ServiceSpec spec;
  std::map<base::LeaseId, Worker> workers;
  std::deque<ServiceRequestPtr> queue;
  std::int64_t in_work = 0;
  // How many requests were here, over time.
  double busy_seconds = 0;
  Clock::time_point counted = Clock::now();
  std::int64_t arrived = 0;

  void count(Clock::time_point now) {
    const auto here = static_cast<double>(in_work) + static_cast<double>(queue.size());
    busy_seconds += here * std::chrono::duration<double>(now - counted).count();
    counted = now;
  }
};

void refuse(ServiceRequest& request, Code code, std::string message, std::string hint) {
  request.reply.send(refusal(base::Error{code, std::move(message), std::move(hint)}));
}

void too_late(ServiceRequest& request) {
  auto response = problem(504, "the service did not answer in time");
  request.reply.send(std::move(response));
}

}  // namespace

// All but the mutex's own is used by the desk's thread, or under the mutex by others.
class ServiceDesk::Impl {
 public:
  explicit Impl(std::shared_ptr<LineDesk> lines)
      : lines_(std::move(lines)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(std::make_shared<base::Fd>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_->get(), &event);
    lines_->when_parked([wake = wake_](base::LeaseId) { signal(*wake); });
    sigset_t all, before;  // Signals are for the program's own threads.
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Impl() {
    close();
    lines_->when_parked([](base::LeaseId) {});
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    signal(*wake_);
    if (thread_.joinable()) thread_.join();
  }

  static void signal(const base::Fd& event) {
    const std::uint64_t one = 1;
    (void)!::write(event.get(), &one, sizeof one);
  }
  void rouse() { signal(*wake_); }

  void serve(const ServiceSpec& spec, ServiceRequestPtr request) {
    {
      const std::lock_guard lock(mutex_);
      auto& service = of(spec);
      if (stopping_) {
        refuse(*request, Code::unavailable, "the market stops", "try again");
        return;
      }
      if (service.queue.size() >= kMostQueued ||
          totals_.bytes + request->text.size() > kMostBytes) {
        refuse(*request, Code::exhausted, "the service has too many requests", "try again later");
        return;
      }
      totals_.bytes += request->text.size();
      service.count(Clock::now());
      ++service.arrived;
      service.queue.push_back(std::move(request));
    }
    rouse();
  }

  void began(const ServiceSpec& spec, base::LeaseId lease, std::int32_t epoch) {
    const std::lock_guard lock(mutex_);
    of(spec).workers.try_emplace(lease, Worker{.lease = lease, .epoch = epoch});
    job_of_[lease] = spec.job;
    rouse();
  }

  void drains(base::LeaseId lease) {
    const std::lock_guard lock(mutex_);
    if (auto* worker = find(lease)) worker->draining = true;
    rouse();
  }

  void gone(base::LeaseId lease) {
    const std::lock_guard lock(mutex_);
    if (auto* worker = find(lease)) {
      worker->draining = true;
      connections_.lost.insert(lease);
    }
    rouse();
  }

  void ended(base::JobId job) {
    const std::lock_guard lock(mutex_);
    const auto it = services_.find(job);
    if (it == services_.end()) return;
    for (auto& request : it->second.queue) {
      totals_.bytes -= request->text.size();
      refuse(*request, Code::not_found, "the service has ended", "");
    }
    it->second.queue.clear();
    for (auto& [lease, worker] : it->second.workers) connections_.lost.insert(lease);
    rouse();
  }

  std::map<base::JobId, Load> loads() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    const auto seconds = std::chrono::duration<double>(now - totals_.loads_asked).count();
    totals_.loads_asked = now;
    std::map<base::JobId, Load> out;
    for (auto& [job, service] : services_) {
      service.count(now);
      out[job] = {.busy = seconds > 0 ? std::exchange(service.busy_seconds, 0) / seconds : 0,
                  .arrived = std::exchange(service.arrived, 0)};
    }
    return out;
  }

  std::vector<Served> take_served() {
    const std::lock_guard lock(mutex_);
    std::vector<Served> out = std::exchange(totals_.served, {});
    for (auto& [job, service] : services_)
      for (auto& [lease, worker] : service.workers)
        if (worker.answered > 0)
          out.push_back({lease, worker.epoch, std::exchange(worker.answered, 0)});
    return out;
  }

  Now now(base::JobId job) const {
    const std::lock_guard lock(mutex_);
    const auto it = services_.find(job);
    if (it == services_.end()) return {};
    Now out{.in_work = it->second.in_work, .queued = std::ssize(it->second.queue)};
    for (const auto& [lease, worker] : it->second.workers)
      if (!worker.draining && (worker.busy > 0 || !worker.idle.empty() || lines_->has(lease)))
        ++out.workers;
    return out;
  }

 private:
  // These require the mutex.
  Service& of(const ServiceSpec& spec) {
    auto& service = services_[spec.job];
    service.spec = spec;
    return service;
  }
  Worker* find(base::LeaseId lease) {
    const auto job = job_of_.find(lease);
    if (job == job_of_.end()) return nullptr;
    const auto service = services_.find(job->second);
    if (service == services_.end()) return nullptr;
    const auto it = service->second.workers.find(lease);
    return it == service->second.workers.end() ? nullptr : &it->second;
  }

  void run() {
    std::array<epoll_event, 128> events;
    auto next_sweep = Clock::now();
    while (true) {
      const int n = ::epoll_wait(epoll_.get(), events.data(), events.size(), 200);
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
      for (int i = 0; i < n; ++i) {
        auto* exchange = static_cast<Exchange*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (exchange != nullptr)
          pump(*exchange);
        else
          drain_wake();
      }
      for (auto* exchange : std::exchange(connections_.again, {})) pump(*exchange);
      drop_lost();
      hang_up_draining();
      for (auto& [job, service] : services_) dispatch(service);
      if (Clock::now() >= next_sweep) {
        sweep(Clock::now());
        next_sweep = Clock::now() + kSweep;
      }
      for (const auto* exchange : std::exchange(connections_.broken, {})) forget(exchange);
    }
    end_all();
  }

  void end_all() {
    const std::lock_guard lock(mutex_);
    const auto stop = [](ServiceRequest& request) {
      refuse(request, Code::unavailable, "the market stops", "try again");
    };
    for (const auto& exchange : connections_.all)
      if (const auto request = exchange->take_request()) stop(*request);
    connections_ = {};
    for (auto& [job, service] : services_) {
      for (const auto& request : service.queue) stop(*request);
      service.queue.clear();
    }
  }

  void drain_wake() {
    std::uint64_t count = 0;
    (void)!::read(wake_->get(), &count, sizeof count);
    const std::lock_guard lock(resumed_->mutex);
    for (auto* exchange : std::exchange(resumed_->exchanges, {}))
      if (is_ours(exchange)) connections_.again.insert(exchange);
  }
  bool is_ours(const Exchange* exchange) const {
    return std::ranges::any_of(connections_.all,
                               [&](const auto& e) { return e.get() == exchange; });
  }

  // Requests go to the least busy worker that can be talked to.
  void dispatch(Service& service) {
    while (!service.queue.empty()) {
      auto* exchange = free_exchange(service);
      if (exchange == nullptr) return;
      service.count(Clock::now());
      auto request = std::move(service.queue.front());
      service.queue.pop_front();
      ++service.in_work;
      ++service.workers.at(exchange->lease()).busy;
      exchange->begin(std::move(request));
      pump(*exchange);
    }
  }

  Exchange* free_exchange(Service& service) {
    std::vector<Worker*> workers;
    for (auto& [lease, worker] : service.workers)
      if (!worker.draining && worker.busy < service.spec.at_once) workers.push_back(&worker);
    std::ranges::sort(workers, {}, &Worker::busy);
    for (auto* worker : workers) {
      if (!worker->idle.empty()) {
        auto* exchange = worker->idle.front();
        worker->idle.pop_front();
        return exchange;
      }
      auto line = lines_->take_now(worker->lease, fmt::format("port {}\n", service.spec.port));
      if (!line) continue;
      auto& exchange =
          connections_.all.emplace_back(std::make_unique<Exchange>(worker->lease, std::move(line)));
      epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                        .data = {.ptr = exchange.get()}};
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, exchange->fd(), &event);
      return exchange.get();
    }
    return nullptr;
  }

  void pump(Exchange& exchange) {
    if (connections_.broken.contains(&exchange)) return;
    const auto bytes = exchange.busy() ? exchange.request()->text.size() : 0;
    const bool was_busy = exchange.busy();
    const auto state = exchange.pump(
        [wake = wake_, resumed = resumed_, me = &exchange] { resumed->add(me, *wake); });
    if (state == Exchange::State::answered) return answered(exchange, bytes);
    if (state != Exchange::State::broken) return;
    connections_.broken.insert(&exchange);
    auto* worker = find(exchange.lease());
    if (worker != nullptr) worker->idle.remove(&exchange);
    if (was_busy) give_to_another(exchange, bytes);
  }

  void answered(Exchange& exchange, std::size_t bytes) {
    totals_.bytes -= bytes;
    auto* worker = find(exchange.lease());
    auto& service = services_.at(job_of_.at(exchange.lease()));
    service.count(Clock::now());
    --service.in_work;
    --worker->busy;
    ++worker->answered;
    if (exchange.reusable() && !worker->draining)
      worker->idle.push_back(&exchange);
    else
      connections_.broken.insert(&exchange);
  }

  // Its worker is gone before it has answered.
  void give_to_another(Exchange& exchange, std::size_t bytes) {
    auto* worker = find(exchange.lease());
    auto& service = services_.at(job_of_.at(exchange.lease()));
    service.count(Clock::now());
    --service.in_work;
    if (worker != nullptr) --worker->busy;
    auto request = exchange.take_request();
    if (!request) {  // Some of the answer has left.
      totals_.bytes -= bytes;
      return;
    }
    if (request->tries < kMostTries && Clock::now() < request->until) {
      service.queue.push_front(std::move(request));
      return;
    }
    totals_.bytes -= bytes;
    request->reply.send(problem(502, "the service's program does not answer"));
  }

  // Workers that are no more, with their connections.
  void drop_lost() {
    if (connections_.lost.empty()) return;
    for (const auto lease : connections_.lost) {
      for (const auto& exchange : connections_.all) {
        if (exchange->lease() != lease || connections_.broken.contains(exchange.get())) continue;
        connections_.broken.insert(exchange.get());
        if (exchange->busy()) give_to_another(*exchange, exchange->request()->text.size());
      }
      const auto job = job_of_.find(lease);
      if (job == job_of_.end()) continue;
      if (const auto service = services_.find(job->second); service != services_.end()) {
        if (const auto it = service->second.workers.find(lease);
            it != service->second.workers.end()) {
          if (it->second.answered > 0)
            totals_.served.push_back({lease, it->second.epoch, it->second.answered});
          service->second.workers.erase(it);
        }
      }
      job_of_.erase(job);
    }
    connections_.lost.clear();
  }

  // A worker that drains waits until nobody is connected.
  void hang_up_draining() {
    for (auto& [job, service] : services_)
      for (auto& [lease, worker] : service.workers)
        if (worker.draining)
          for (auto* exchange : std::exchange(worker.idle, {}))
            connections_.broken.insert(exchange);
  }

  void sweep(Clock::time_point now) {
    for (auto& [job, service] : services_) {
      service.count(now);
      std::erase_if(service.queue, [&](const ServiceRequestPtr& request) {
        if (request->until > now) return false;
        totals_.bytes -= request->text.size();
        too_late(*request);
        return true;
      });
    }
    for (const auto& exchange : connections_.all) {
      if (!exchange->busy() || exchange->request()->until > now ||
          connections_.broken.contains(exchange.get()))
        continue;
      connections_.broken.insert(exchange.get());
      give_up(*exchange);
    }
    lines_->expire(now);
    std::erase_if(services_, [](const auto& entry) {
      const auto& service = entry.second;
      return service.workers.empty() && service.queue.empty() && service.in_work == 0;
    });
  }

  void give_up(Exchange& exchange) {
    const auto bytes = exchange.request()->text.size();
    auto& service = services_.at(job_of_.at(exchange.lease()));
    --service.in_work;
    if (auto* worker = find(exchange.lease())) --worker->busy;
    totals_.bytes -= bytes;
    if (const auto request = exchange.take_request()) too_late(*request);
  }

  void forget(const Exchange* exchange) {
    if (auto* worker = find(exchange->lease()))
      worker->idle.remove(const_cast<Exchange*>(exchange));
    connections_.again.erase(const_cast<Exchange*>(exchange));
    connections_.all.remove_if([&](const auto& e) { return e.get() == exchange; });
  }

  struct Connections {
    std::list<std::unique_ptr<Exchange>> all;
    std::set<Exchange*> again;     // To be pumped: they can go on.
    std::set<Exchange*> broken;    // To be forgotten.
    std::set<base::LeaseId> lost;  // Whose connections are of no use any more.
  };
  struct Totals {
    std::vector<Served> served;  // By workers that are gone.
    std::size_t bytes = 0;       // Of requests that are here.
    Clock::time_point loads_asked = Clock::now();
  };

  // Whose callers took what was sent: told on their threads.
  struct Resumed {
    std::mutex mutex;
    std::set<Exchange*> exchanges;
    void add(Exchange* exchange, const base::Fd& wake) {
      {
        const std::lock_guard lock(mutex);
        exchanges.insert(exchange);
      }
      signal(wake);
    }
  };

  const std::shared_ptr<LineDesk> lines_;
  base::Fd epoll_;
  const std::shared_ptr<base::Fd> wake_;  // Those two outlive the desk, with callers' streams.
  const std::shared_ptr<Resumed> resumed_ = std::make_shared<Resumed>();
  mutable std::mutex mutex_;  // Guards what follows.
  bool stopping_ = false;
  std::map<base::JobId, Service> services_;
  std::map<base::LeaseId, base::JobId> job_of_;
  Connections connections_;
  Totals totals_;
  std::thread thread_;
};

ServiceDesk::ServiceDesk(std::shared_ptr<LineDesk> lines)
    : impl_(std::make_unique<Impl>(std::move(lines))) {}
ServiceDesk::~ServiceDesk() = default;

void ServiceDesk::serve(const ServiceSpec& service, ServiceRequestPtr request) {
  impl_->serve(service, std::move(request));
}
void ServiceDesk::began(const ServiceSpec& service, base::LeaseId lease, std::int32_t epoch) {
  impl_->began(service, lease, epoch);
}
void ServiceDesk::close() { impl_->close(); }
void ServiceDesk::drains(base::LeaseId lease) { impl_->drains(lease); }
void ServiceDesk::gone(base::LeaseId lease) { impl_->gone(lease); }
void ServiceDesk::ended(base::JobId job) { impl_->ended(job); }
std::map<base::JobId, ServiceDesk::Load> ServiceDesk::loads() { return impl_->loads(); }
std::vector<ServiceDesk::Served> ServiceDesk::take_served() { return impl_->take_served(); }
ServiceDesk::Now ServiceDesk::now(base::JobId job) const { return impl_->now(job); }

}  // namespace souk::server
