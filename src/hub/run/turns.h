#pragma once

#include <mutex>
#include <semaphore>

namespace souk::hub {

// Whoever folds into the parameters of a training, or saves them, does so in turn: it may talk to a
// parameter store, a disk or a hub for long. A turn guards no data. Nobody needs one to look at the
// training or to be given a unit, so nobody waits for a store but those who need it. Taken before
// any lock.
class Turns {
 public:
  void lock() { free_.acquire(); }
  bool try_lock() { return free_.try_acquire(); }
  void unlock() { free_.release(); }

 private:
  std::binary_semaphore free_{1};
};

using Turn = std::unique_lock<Turns>;

}  // namespace souk::hub
