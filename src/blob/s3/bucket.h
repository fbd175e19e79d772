#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "blob/s3/address.h"
#include "net/aws/key.h"
#include "net/aws/sign.h"
#include "net/client.h"

namespace souk::blob {

// Objects of an S3 store, below the prefix of an address. Blocking; any thread: each call takes a
// connection of its own out of a few that stay open. What may be tried again is tried again, a few
// times; a store that does not answer at all is left alone for a second, so that no more than one
// thread at a time waits for it. Errors contain neither key nor signature.
//   unavailable  no answer, or one that asks to wait
//   not_found    no such object
//   forbidden    the key may not
class Bucket {
 public:
  using ReadKey = std::function<base::Result<net::AwsKey>()>;
  struct Options {
    base::Duration timeout = base::seconds(30);  // Of one try.
    int tries = 4;
    base::Duration first_wait = base::milliseconds(200);  // Doubles with each try.
  };

  // `key` is asked now, and again when the store refuses the key (it may have been changed or have
  // expired). Connects to nothing yet.
  [[nodiscard]] static base::Result<std::unique_ptr<Bucket>> make(S3Address address, ReadKey key,
                                                                  const base::Clock& clock,
                                                                  Options options);
  [[nodiscard]] static base::Result<std::unique_ptr<Bucket>> make(S3Address address, ReadKey key,
                                                                  const base::Clock& clock) {
    return make(std::move(address), std::move(key), clock, Options());
  }

  [[nodiscard]] const S3Address& address() const { return address_; }

  // Makes the calls under way, and all later ones, fail within about a second.
  void cancel();

  [[nodiscard]] base::Result<> put(std::string_view key, std::string_view bytes);
  [[nodiscard]] base::Result<base::Bytes> get(std::string_view key);
  // A piece of it; less where it ends.
  [[nodiscard]] base::Result<base::Bytes> get(std::string_view key, std::uint64_t from,
                                              std::uint64_t bytes);
  // Its size; nothing if there is none.
  [[nodiscard]] base::Result<std::optional<std::uint64_t>> size_of(std::string_view key);
  [[nodiscard]] base::Result<> remove(std::string_view key);  // Also where there is none.

  struct Object {
    std::string key;  // Without the address's prefix.
    std::uint64_t bytes = 0;
    base::Time changed;
  };
  // All objects whose keys begin with `start`, in order of their keys.
  [[nodiscard]] base::Result<std::vector<Object>> list(std::string_view start);

  // An address that anybody may GET the object at, for so long. Empty: the address says "off".
  [[nodiscard]] std::string direct_url(std::string_view key, base::Duration lasts) const;

  // An object of any size, in parts of kPartBytes. `read` gives so many bytes from an offset, fewer
  // where it ends. Parts that an earlier try left in the store are not sent again.
  static constexpr std::uint64_t kPartBytes = 16 << 20;  // Up to 160 GiB: there are 10,000 parts.
  using Read = std::function<base::Result<base::Bytes>(std::uint64_t from, std::uint64_t bytes)>;
  [[nodiscard]] base::Result<> put_large(std::string_view key, std::uint64_t bytes,
                                         const Read& read);

 private:
  Bucket(S3Address address, ReadKey key, const base::Clock& clock, Options options);

  struct Call {
    std::string method = "GET";
    std::string key;  // With the prefix; empty: of the bucket.
    std::vector<std::pair<std::string, std::string>> query = {};
    net::Headers headers = {};
    std::string_view body = {};
  };
  [[nodiscard]] base::Result<net::Response> send(const Call& call);
  [[nodiscard]] base::Result<net::Response> try_once(const Call& call);
  class Busy;
  [[nodiscard]] net::AwsRequest request_of(const Call& call, const std::string& endpoint) const;
  [[nodiscard]] base::Failure refusal(const Call& call, const net::Response& answer);
  [[nodiscard]] net::AwsKey key() const;
  [[nodiscard]] bool renew_key(const net::AwsKey& refused);
  // Not to be asked just now.
  [[nodiscard]] bool quiet() const;

  struct Part {
    int number = 0;
    std::string etag;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] base::Result<std::string> unfinished(const std::string& key);
  [[nodiscard]] base::Result<std::vector<Part>> parts_of(const std::string& key,
                                                         const std::string& upload);
  [[nodiscard]] base::Result<std::string> begin(const std::string& key);
  [[nodiscard]] base::Result<> finish(const std::string& key, const std::string& upload,
                                      const std::vector<Part>& parts);

  const S3Address address_;
  const ReadKey read_key_;
  const base::Clock& clock_;
  const Options options_;
  mutable std::mutex mutex_;  // Never held across a call.
  net::AwsKey key_;
  std::vector<net::Client> idle_;
  std::vector<net::Client*> busy_;
  bool cancelled_ = false;
  std::int64_t quiet_until_ns_ = 0;  // Steady.
};

}  // namespace souk::blob
