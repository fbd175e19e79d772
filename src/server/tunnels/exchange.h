#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/id.h"
#include "net/line.h"
#include "net/response_reader.h"
#include "server/http/api_reply.h"

namespace souk::server {

// One request to a service, from its arrival to its answer.
struct ServiceRequest {
  std::string text;  // As the program gets it: head and body.
  bool head_only = false;
  ApiReply reply;
  std::chrono::steady_clock::time_point until;  // It must be answered by then.
  int tries = 0;
};
using ServiceRequestPtr = std::unique_ptr<ServiceRequest>;

// A connection to one worker of a service, and the request that it carries, if any. What a short
// answer says is passed on when it is complete, so that a worker that dies before costs nobody an
// answer; a long one, or one without a length, as it comes. For one thread.
class Exchange {
 public:
  Exchange(base::LeaseId lease, std::unique_ptr<net::Line> line)
      : lease_(lease), line_(std::move(line)) {}

  [[nodiscard]] base::LeaseId lease() const { return lease_; }
  [[nodiscard]] int fd() const { return line_->fd(); }
  [[nodiscard]] bool busy() const { return request_ != nullptr; }
  [[nodiscard]] const ServiceRequest* request() const { return request_.get(); }

  // Requires that it is not busy.
  void begin(ServiceRequestPtr request);

  enum class State { waits, answered, broken };
  // Goes on as far as it can. `more` is called, on any thread, when an answer that is passed on as
  // it comes can go on. answered: not busy any more. broken: of no use; a request that can be tried
  // elsewhere is in take_request().
  [[nodiscard]] State pump(const std::function<void()>& more);
  // May it carry another request?
  [[nodiscard]] bool reusable() const { return reusable_; }
  // The request, unless some of its answer has left.
  [[nodiscard]] ServiceRequestPtr take_request();
  // Ends an answer that has begun to leave.
  void cut();

 private:
  [[nodiscard]] bool write_some();
  [[nodiscard]] State read_some(const std::function<void()>& more);
  void begin_stream();
  [[nodiscard]] bool pass_on(const std::function<void()>& more);
  void answer();

  const base::LeaseId lease_;
  std::unique_ptr<net::Line> line_;
  ServiceRequestPtr request_;
  std::size_t written_ = 0;
  std::optional<net::ResponseReader> reader_;
  std::optional<net::Stream> stream_;  // Of an answer that is passed on as it comes.
  std::shared_ptr<std::atomic<bool>> full_ = std::make_shared<std::atomic<bool>>(false);
  bool reusable_ = true;
};

}  // namespace souk::server
