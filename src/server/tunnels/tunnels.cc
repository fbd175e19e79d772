#include "server/tunnels/tunnels.h"

#include <utility>

namespace souk::server {

std::shared_ptr<Tunnels::Parts> Tunnels::parts(bool make) {
  const std::lock_guard lock(mutex_);
  if (!parts_ && make && !closed_)
    if (auto carrier = relay::Carrier::start())
      parts_ = std::make_shared<Parts>(*std::move(carrier));
  return parts_;
}

void Tunnels::bring(const std::string& meeting, int side, std::unique_ptr<net::Line> line) {
  if (!line) return;
  if (const auto to = parts(true)) to->joiner.bring(meeting, side, std::move(line));
}

void Tunnels::carry(std::unique_ptr<net::Line> a, std::unique_ptr<net::Line> b) {
  if (const auto to = parts(true)) to->carrier->carry(std::move(a), std::move(b));
}

std::uint64_t Tunnels::bytes() const {
  const std::lock_guard lock(mutex_);
  return parts_ ? parts_->carrier->counters().bytes.load() : 0;
}

std::uint64_t Tunnels::pairs() const {
  const std::lock_guard lock(mutex_);
  return parts_ ? parts_->carrier->counters().pairs.load() : 0;
}

void Tunnels::close() {
  std::shared_ptr<Parts> gone;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  gone.swap(parts_);
}

}  // namespace souk::server
