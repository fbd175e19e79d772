#pragma once

#include <memory>
#include <string>

#include "base/fd.h"
#include "provider/reconcile.h"

namespace souk::provider {

// Where records go before the calls that they allow.
class IntentLog {
 public:
  virtual ~IntentLog() = default;
  // Durable when it returns. After a failure nothing more may be started.
  virtual Result<> append(const Record& record) = 0;
};

// The journal of intents of one pool: FOLDER/intents.log, one line a record, which is the first 16
// hex digits of its BLAKE2b, a blank, and JSON. A line that was cut off at the end, as by a crash,
// was never acknowledged and is dropped; damage before that is an error. The folder is locked while
// this lives: two providers would start twice what is needed.
class IntentFile final : public IntentLog {
 public:
  // Reads what is there into `fleet`. Makes the folder, readable by its owner alone. A pool that
  // another process has open is Code::conflict.
  static Result<std::unique_ptr<IntentFile>> open(const std::string& folder, Fleet& fleet,
                                                  Time now);
  Result<> append(const Record& record) override;

 private:
  IntentFile(base::Fd lock, base::Fd file, std::string path)
      : lock_(std::move(lock)), file_(std::move(file)), path_(std::move(path)) {}

  base::Fd lock_;
  base::Fd file_;
  std::string path_;
  bool failed_ = false;
};

// What a journal says, without locking it. For `souk provide status`.
Result<Fleet> read_intents(const std::string& folder);

inline constexpr std::size_t kShortenAfter = 512;  // Records; then the journal is written anew.

}  // namespace souk::provider
