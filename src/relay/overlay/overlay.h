#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/fields.h"
#include "base/time.h"
#include "net/line.h"
#include "relay/overlay/seal.h"

namespace souk::relay {

// How two workers reach each other: without anybody between, through a relay, or through the
// market's server. The first is best.
SOUK_ENUM(PathKind, direct, relay, server)

struct OverlayOptions {
  std::int32_t worker = 0;
  std::int32_t workers = 1;  // That there may be: 0 to workers - 1.
  base::Fd tun;              // With a virtio header, in the namespace of the worker's program.
  KeyPair keys;
  bool fast_aes = has_fast_aes();
  base::Duration to_verify = base::seconds(10);  // For a new line to show that it is the peer's.
};

struct PeerStatus {
  std::int32_t worker = 0;
  bool reached = false;
  PathKind path = PathKind::server;
};

// One worker's end of a gang's network: takes packets from the device of its namespace, seals them,
// and sends them to the worker that they are for; what comes from others is opened and given to the
// device. A packet that is not from this worker, or from another to this one, goes nowhere, and so
// does one for anybody who is not in the gang. Lines to other workers are given to it; it opens
// none itself. Owns two threads.
//
// On a line: "SKG1", from and to (2 bytes each, big endian), then frames: the length of a record (4
// bytes, little endian) and a record (seal.h) of a kind (1 byte) and what it carries. A line is
// used once a record of the other side could be opened; the first is an empty hello.
class Overlay {
 public:
  static constexpr std::size_t kHeadBytes = 8;

  explicit Overlay(OverlayOptions options);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // From any thread. Whoever has another key than before is somebody else: old lines are closed.
  // False: that is no key.
  bool set_peer(std::int32_t worker, const PublicKey& key, bool fast_aes);
  // It is of the gang no longer: its lines are closed, until set_peer() names it again.
  void drop_peer(std::int32_t worker);
  // A new line to the worker. `head_read`: the other side's head was read from it. Of more than
  // kMostUnverified that have shown nothing yet the oldest is closed.
  static constexpr std::ptrdiff_t kMostUnverified = 4;
  void add_line(std::int32_t worker, std::unique_ptr<net::Line> line, PathKind kind,
                bool head_read = false);
  // Those whose keys are known.
  [[nodiscard]] std::vector<PeerStatus> peers() const;
  [[nodiscard]] bool reaches(std::int32_t worker) const;
  // Of packets, as the programs see them.
  [[nodiscard]] std::int64_t sent_bytes() const;
  [[nodiscard]] std::int64_t received_bytes() const;

  // The head of a line from `from` to `to`, and whom a head that was received is from; -1: it is
  // none for `to`.
  [[nodiscard]] static std::string head_of(std::int32_t from, std::int32_t to);
  [[nodiscard]] static std::int32_t read_head(std::string_view head, std::int32_t to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::relay
