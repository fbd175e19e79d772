#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "net/server.h"

namespace souk::net {

struct AdmissionLimits {
  std::size_t total = 20'000;
  std::size_t per_address = 0;  // 0: no limit.
  std::size_t reserved = 0;     // Of `total`: only for callers on this computer.
};

// Counts connections, in all and by address, against their limits. Where one more does not fit, the
// oldest stranger makes room: a connection on which nobody has proved who they are, from the moment
// it is let in (a busy thread may not have begun with it yet). So whoever fills a server with
// silent or slow connections closes their own, and a member's is never closed for a newcomer. Any
// thread. Internal to src/net.
class Admission : public std::enable_shared_from_this<Admission> {
 public:
  // Connections over a limit that may be held just long enough to be told so, and as many that are
  // on their way out. More are cut. So never more than this are open beside the limit.
  static constexpr std::size_t kRefusalsAtOnce = kConnectionsBesideLimit / 2;

  enum class Verdict { welcome, refuse, cut };
  struct Caller {
    std::string address;
    bool local = false;   // On this computer: may use what is reserved.
    bool limited = true;  // By address. A proxy brings many people from one.
  };

  // One connection's place, until it goes.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();

    [[nodiscard]] Verdict verdict() const { return verdict_; }
    // `leave` is called once if the connection must make room, at once if it had to already; on any
    // thread and under a lock: it must only pass the word on. By then the place is given away.
    void when_evicted(std::function<void()> leave);
    // Somebody proved who they are: it makes room for nobody.
    void is_known();

   private:
    friend class Admission;
    Place(std::shared_ptr<Admission> owner, std::uint64_t id, Verdict verdict)
        : owner_(std::move(owner)), id_(id), verdict_(verdict) {}
    std::shared_ptr<Admission> owner_;
    std::uint64_t id_ = 0;
    Verdict verdict_ = Verdict::cut;
  };

  explicit Admission(AdmissionLimits limits) : limits_(limits) {}

  [[nodiscard]] Place enter(const Caller& caller);

  [[nodiscard]] std::size_t open() const;  // All that have a place, and those who left it just now.
  [[nodiscard]] std::size_t strangers() const;
  [[nodiscard]] std::size_t open_from(const std::string& address) const;  // As Caller has it.
  [[nodiscard]] std::uint64_t evicted() const;                            // So far.
  [[nodiscard]] const AdmissionLimits& limits() const { return limits_; }
  // Until nobody is in; false when `deadline` comes first.
  bool wait_until_empty(std::chrono::steady_clock::time_point deadline);

 private:
  // Only `welcome` is counted against the limits.
  enum class Standing { welcome, refused, evicted };
  struct Guest {
    std::string address;
    Standing standing;
    std::function<void()> leave = {};  // Of a stranger its thread has begun with.
  };
  struct AddressUse {
    std::size_t welcome = 0;
    std::map<std::uint64_t, Guest*> strangers;  // Oldest first.
  };

  bool fits(const Caller& caller) const;
  // Makes the oldest of `strangers` leave; false if there is none.
  bool evict_oldest(const std::map<std::uint64_t, Guest*>& strangers);
  void uncount(std::uint64_t id, Guest& guest);
  void forget_stranger(std::uint64_t id, Guest& guest);
  void set_leave(std::uint64_t id, std::function<void()> leave);
  void set_known(std::uint64_t id);
  void leave(std::uint64_t id);

  const AdmissionLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  std::uint64_t next_ = 1;
  std::size_t welcome_ = 0;
  std::size_t refusing_ = 0;
  std::size_t leaving_ = 0;  // Evicted, not gone yet.
  std::uint64_t evicted_ = 0;
  std::unordered_map<std::uint64_t, Guest> guests_;
  std::unordered_map<std::string, AddressUse> by_address_;  // Only those with welcome guests.
  std::map<std::uint64_t, Guest*> strangers_;               // Of all addresses, oldest first.
};

}  // namespace souk::net
