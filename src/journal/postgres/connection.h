#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

struct pg_conn;    // NOLINT(readability-identifier-naming): of libpq
struct pg_result;  // NOLINT(readability-identifier-naming): of libpq

namespace souk::journal {

// A value on its way to PostgreSQL. Texts and bytes are seen where they lie.
class PgValue {
 public:
  PgValue(std::int64_t number);    // NOLINT(google-explicit-constructor): a bigint
  PgValue(std::uint64_t number);   // NOLINT(google-explicit-constructor): a bigint, too
  PgValue(std::string_view text);  // NOLINT(google-explicit-constructor): a text
  PgValue(const std::string& text) : PgValue(std::string_view(text)) {}  // NOLINT
  PgValue(const char* text) : PgValue(std::string_view(text)) {}         // NOLINT
  static PgValue blob(std::string_view bytes);                           // A bytea.

  [[nodiscard]] const char* data() const { return number_ ? big_endian_.data() : seen_.data(); }
  [[nodiscard]] int size() const;
  [[nodiscard]] unsigned type() const { return type_; }

 private:
  PgValue(unsigned type, std::string_view seen) : type_(type), seen_(seen) {}
  unsigned type_;
  bool number_ = false;
  std::array<char, 8> big_endian_{};
  std::string_view seen_;
};

// What PostgreSQL answered, in binary. Texts and bytes are valid as long as this.
class PgRows {
 public:
  explicit PgRows(pg_result* rows) : rows_(rows) {}

  [[nodiscard]] int count() const;     // Rows.
  [[nodiscard]] int affected() const;  // By a statement that changes.
  // Of a bigint, integer or boolean; 0 for NULL.
  [[nodiscard]] std::int64_t number(int row, int column) const;
  [[nodiscard]] std::string_view bytes(int row, int column) const;

 private:
  struct Clear {
    void operator()(pg_result* rows) const;
  };
  std::unique_ptr<pg_result, Clear> rows_;
};

struct PgOptions {
  std::vector<std::string> greetings = {};  // Statements that each new session begins with.
  // For one answer; a database that takes longer counts as lost. Zero: as long as it takes.
  base::Duration patience = base::seconds(30);
  std::string application = "souk";  // What the database's operators see.
};

// One session with PostgreSQL, begun at the first call and again after it was lost. For one thread
// at a time. What is in a URL and does not say otherwise: dead peers are noticed within seconds.
// Errors never contain the password.
class PgConnection {
 public:
  // Invalid for a URL that libpq cannot read. Connects to nothing yet.
  static base::Result<PgConnection> make(const std::string& url, PgOptions options = {});
  PgConnection(PgConnection&& other) noexcept;
  PgConnection& operator=(PgConnection&&) = delete;
  ~PgConnection();

  // "postgresql://HOST:PORT/DATABASE", for people.
  [[nodiscard]] const std::string& name() const { return name_; }

  base::Result<PgRows> run(const char* sql, std::span<const PgValue> values);
  base::Result<PgRows> run(const char* sql, std::initializer_list<PgValue> values = {}) {
    return run(sql, std::span(values.begin(), values.size()));
  }
  // The same for what is run often: the database reads the statement once in a session.
  base::Result<PgRows> run_prepared(const char* sql, std::initializer_list<PgValue> values);
  // The same for many rows of values in one round trip and one transaction: all of it or nothing.
  // Returns how many rows of the tables it changed.
  base::Result<std::int64_t> run_all(const char* sql, std::span<const std::vector<PgValue>> rows);
  // Passes on row after row as they arrive. The visitor's error ends it, and the session.
  base::Result<> stream(const char* sql, std::initializer_list<PgValue> values,
                        const std::function<base::Result<>(const PgRows& row)>& visit);
  // work() between BEGIN (`begin`, if it needs more than that) and COMMIT; an error ends the
  // session, and so takes everything back.
  base::Result<> transaction(const std::function<base::Result<>()>& work,
                             const char* begin = "BEGIN");

  // Waits until somebody notified a channel that a greeting listens to, or for so long. True:
  // somebody did. Does not connect: without a session it returns at once.
  base::Result<bool> wait(base::Duration most);

  // Of the last call that failed: what PostgreSQL named the error (SQLSTATE); empty when there was
  // no answer, and what was asked may have happened or not.
  [[nodiscard]] const std::string& state() const { return state_; }
  // May the same call succeed in a while: was the database away, restarting or full?
  [[nodiscard]] bool may_pass() const;
  void disconnect();
  [[nodiscard]] bool connected() const { return connection_ != nullptr; }

 private:
  PgConnection(std::string url, std::string name, PgOptions options);
  base::Result<> connect();
  base::Result<std::string> prepare(const char* sql, std::span<const PgValue> values);
  base::Result<> greet();
  base::Result<PgRows> finish(bool sent);
  base::Result<> await_answer();
  base::Result<bool> await_socket(bool writing, base::Duration most);
  base::Result<PgRows> judged(pg_result* result);
  base::Failure lost(std::string_view why);

  const std::string url_, name_;
  const PgOptions options_;
  pg_conn* connection_ = nullptr;
  std::vector<std::string> prepared_;  // Statements of this session, named by their place here.
  std::string state_;
};

}  // namespace souk::journal
