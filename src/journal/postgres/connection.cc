#include "journal/postgres/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <postgresql/libpq-fe.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace souk::journal {
namespace {

using base::Code;
using base::fail;
using base::Result;

// Of PostgreSQL's types; they never change.
constexpr unsigned kBytea = 17, kBigint = 20, kText = 25;

// How values are handed to libpq.
struct Arrays {
  std::vector<Oid> types;
  std::vector<const char*> values;
  std::vector<int> lengths, formats;

  explicit Arrays(std::span<const PgValue> from) {
    for (const auto& v : from) {
      types.push_back(v.type());
      values.push_back(v.data());
      lengths.push_back(v.size());
      formats.push_back(1);
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(values.size()); }
};

Code code_of(std::string_view state) {
  if (state.starts_with("53")) return Code::exhausted;
  if (state.starts_with("XX00")) return Code::damaged;
  if (state == "42501" || state.starts_with("28")) return Code::forbidden;
  if (state == "42P01" || state == "3F000" || state == "3D000") return Code::not_found;
  return Code::unavailable;
}

// Where it is, without who asks and with which password. Nothing: libpq cannot read the URL.
std::optional<std::string> name_of(const std::string& url) {
  char* ignored = nullptr;  // It may quote the password.
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(url.c_str(), &ignored), PQconninfoFree);
  PQfreemem(ignored);
  if (!options) return std::nullopt;
  const auto value = [&](std::string_view keyword) -> std::string {
    for (const auto* o = options.get(); o->keyword != nullptr; ++o)
      if (keyword == o->keyword && o->val != nullptr) return o->val;
    return "";
  };
  const auto port = value("port");
  return fmt::format("postgresql://{}{}{}/{}", value("host"), port.empty() ? "" : ":", port,
                     value("dbname"));
}

}  // namespace

PgValue::PgValue(std::int64_t number) : type_(kBigint), number_(true) {
  const auto big = std::byteswap(static_cast<std::uint64_t>(number));
  std::memcpy(big_endian_.data(), &big, sizeof big);
}
PgValue::PgValue(std::uint64_t number) : PgValue(static_cast<std::int64_t>(number)) {}
PgValue::PgValue(std::string_view text) : PgValue(kText, text) {}
PgValue PgValue::blob(std::string_view bytes) { return {kBytea, bytes}; }
int PgValue::size() const { return static_cast<int>(number_ ? big_endian_.size() : seen_.size()); }

void PgRows::Clear::operator()(pg_result* rows) const { PQclear(rows); }
int PgRows::count() const { return PQntuples(rows_.get()); }
int PgRows::affected() const { return std::atoi(PQcmdTuples(rows_.get())); }

std::int64_t PgRows::number(int row, int column) const {
  const auto text = bytes(row, column);
  CHECK(text.size() <= 8);
  std::int64_t out = !text.empty() && (text[0] & 0x80) != 0 ? -1 : 0;
  for (const char c : text) out = (out << 8) | static_cast<unsigned char>(c);
  return out;
}

std::string_view PgRows::bytes(int row, int column) const {
  return {PQgetvalue(rows_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(rows_.get(), row, column))};
}

Result<PgConnection> PgConnection::make(const std::string& url, PgOptions options) {
  auto name = name_of(url);
  if (!name)
    return fail(Code::invalid, "the URL of a PostgreSQL database cannot be read",
                "postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?OPTION=VALUE]");
  return PgConnection(url, *std::move(name), std::move(options));
}

PgConnection::PgConnection(std::string url, std::string name, PgOptions options)
    : url_(std::move(url)), name_(std::move(name)), options_(std::move(options)) {}
PgConnection::PgConnection(PgConnection&& other) noexcept
    : url_(other.url_),
      name_(other.name_),
      options_(other.options_),
      connection_(std::exchange(other.connection_, nullptr)),
      prepared_(std::move(other.prepared_)),
      state_(std::move(other.state_)) {}
PgConnection::~PgConnection() { disconnect(); }

void PgConnection::disconnect() {
  PQfinish(std::exchange(connection_, nullptr));
  prepared_.clear();
}

base::Failure PgConnection::lost(std::string_view why) {
  state_.clear();
  auto failure = fail(Code::unavailable, fmt::format("{}: {}", name_, base::trim(why)),
                      "is PostgreSQL running there, and does it let this user in?");
  disconnect();
  return failure;
}

bool PgConnection::may_pass() const {
  // No answer; resources; an operator's shutdown or a start; a server that can only be read now.
  return state_.empty() || state_.starts_with("08") || state_.starts_with("53") ||
         state_.starts_with("57P") || state_ == "25006" || state_ == "40001" || state_ == "40P01";
}

Result<> PgConnection::connect() {
  if (connection_ != nullptr) return {};
  // What comes later counts: the URL may say otherwise.
  const std::array<std::pair<const char*, const char*>, 7> settings{{
      {"connect_timeout", "5"},
      {"keepalives_idle", "5"},
      {"keepalives_interval", "2"},
      {"keepalives_count", "3"},
      {"tcp_user_timeout", "10000"},
      {"fallback_application_name", options_.application.c_str()},
      {"dbname", url_.c_str()},
  }};
  std::vector<const char*> keywords, values;
  for (const auto& [keyword, value] : settings) {
    keywords.push_back(keyword);
    values.push_back(value);
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  connection_ = PQconnectdbParams(keywords.data(), values.data(), 1);
  if (connection_ == nullptr) return lost("out of memory");
  if (PQstatus(connection_) != CONNECTION_OK) return lost(std::string(PQerrorMessage(connection_)));
  PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
  PQsetnonblocking(connection_, 1);
  auto greeted = greet();
  if (!greeted) disconnect();
  return greeted;
}

Result<> PgConnection::greet() {
  for (const auto& sql : options_.greetings)
    SOUK_TRY(finish(PQsendQueryParams(connection_, sql.c_str(), 0, nullptr, nullptr, nullptr,
                                      nullptr, 1) == 1));
  return {};
}

// False: nothing happened for so long.
Result<bool> PgConnection::await_socket(bool writing, base::Duration most) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::microseconds(most.us);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd fd{.fd = PQsocket(connection_),
              .events = static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN),
              .revents = 0};
    const int ready =
        ::poll(&fd, 1, most.us <= 0 ? -1 : static_cast<int>(std::max<long>(0, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return lost(std::strerror(errno));
    return ready > 0;
  }
}

// What was sent is on its way, and something of the answer is here.
Result<> PgConnection::await_answer() {
  while (true) {
    const int flushed = PQflush(connection_);
    if (flushed < 0) return lost(std::string(PQerrorMessage(connection_)));
    if (flushed == 0 && PQisBusy(connection_) == 0) return {};
    SOUK_ASSIGN(const bool ready, await_socket(flushed == 1, options_.patience));
    if (!ready) return lost(fmt::format("no answer for {}", to_string(options_.patience)));
    if (PQconsumeInput(connection_) == 0) return lost(std::string(PQerrorMessage(connection_)));
  }
}

Result<PgRows> PgConnection::judged(pg_result* result) {
  PgRows rows(result);
  const auto status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE ||
      status == PGRES_PIPELINE_SYNC)
    return rows;
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  if (state == nullptr || PQstatus(connection_) != CONNECTION_OK)
    return lost(std::string(PQresultErrorMessage(result)));
  state_ = state;
  return fail(code_of(state_),
              fmt::format("{} says: {}", name_, message == nullptr ? state : message));
}

// The last result of what was sent, or the first error.
Result<PgRows> PgConnection::finish(bool sent) {
  if (!sent) return lost(std::string(PQerrorMessage(connection_)));
  std::optional<Result<PgRows>> out;
  while (true) {
    SOUK_TRY(await_answer());
    auto* result = PQgetResult(connection_);
    if (result == nullptr) break;
    auto rows = judged(result);
    if (connection_ == nullptr) return rows;
    if (!out || *out) out = std::move(rows);
  }
  if (!out) return lost("it answered nothing");
  return *std::move(out);
}

Result<PgRows> PgConnection::run(const char* sql, std::span<const PgValue> values) {
  SOUK_TRY(connect());
  const Arrays a(values);
  return finish(PQsendQueryParams(connection_, sql, a.count(), a.types.data(), a.values.data(),
                                  a.lengths.data(), a.formats.data(), 1) == 1);
}

// Its name in this session.
Result<std::string> PgConnection::prepare(const char* sql, std::span<const PgValue> values) {
  const auto known = std::ranges::find(prepared_, sql);
  auto name = fmt::format("souk{}", known - prepared_.begin());
  if (known != prepared_.end()) return name;
  const Arrays a(values);
  SOUK_TRY(finish(PQsendPrepare(connection_, name.c_str(), sql, a.count(), a.types.data()) == 1));
  prepared_.emplace_back(sql);
  return name;
}

Result<PgRows> PgConnection::run_prepared(const char* sql, std::initializer_list<PgValue> values) {
  SOUK_TRY(connect());
  const std::span all(values.begin(), values.size());
  SOUK_ASSIGN(const auto name, prepare(sql, all));
  const Arrays a(all);
  return finish(PQsendQueryPrepared(connection_, name.c_str(), a.count(), a.values.data(),
                                    a.lengths.data(), a.formats.data(), 1) == 1);
}

Result<std::int64_t> PgConnection::run_all(const char* sql,
                                           std::span<const std::vector<PgValue>> rows) {
  if (rows.empty()) return 0;
  SOUK_TRY(connect());
  SOUK_ASSIGN(const auto name, prepare(sql, rows.front()));
  bool sent = PQenterPipelineMode(connection_) == 1;
  for (const auto& row : rows) {
    const Arrays a(row);
    sent = sent && PQsendQueryPrepared(connection_, name.c_str(), a.count(), a.values.data(),
                                       a.lengths.data(), a.formats.data(), 1) == 1;
  }
  sent = sent && PQpipelineSync(connection_) == 1;
  if (!sent) return lost(std::string(PQerrorMessage(connection_)));
  Result<std::int64_t> out = 0;
  for (bool synced = false; !synced;) {
    SOUK_TRY(await_answer());
    auto* result = PQgetResult(connection_);
    if (result == nullptr) continue;  // Between the results of two statements.
    synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
    const bool skipped = PQresultStatus(result) == PGRES_PIPELINE_ABORTED;  // After an error.
    if (skipped) {
      PQclear(result);
      continue;
    }
    auto judgement = judged(result);
    if (judgement && out) *out += judgement->affected();
    if (!judgement && out) out = std::unexpected(std::move(judgement).error());
    if (connection_ == nullptr) return out;
  }
  if (PQexitPipelineMode(connection_) != 1) return lost(std::string(PQerrorMessage(connection_)));
  return out;
}

Result<> PgConnection::stream(const char* sql, std::initializer_list<PgValue> values,
                              const std::function<Result<>(const PgRows& row)>& visit) {
  SOUK_TRY(connect());
  const Arrays a(std::span(values.begin(), values.size()));
  if (PQsendQueryParams(connection_, sql, a.count(), a.types.data(), a.values.data(),
                        a.lengths.data(), a.formats.data(), 1) != 1 ||
      PQsetSingleRowMode(connection_) != 1)
    return lost(std::string(PQerrorMessage(connection_)));
  Result<> out;
  while (true) {
    SOUK_TRY(await_answer());
    auto* result = PQgetResult(connection_);
    if (result == nullptr) return out;
    const auto rows = judged(result);
    if (!rows) out = std::unexpected(rows.error());
    if (connection_ == nullptr) return out;
    if (!rows || rows->count() == 0) continue;
    if (auto visited = visit(*rows); !visited) {
      disconnect();
      return visited;
    }
  }
}

Result<> PgConnection::transaction(const std::function<Result<>()>& work, const char* begin) {
  SOUK_TRY(run(begin));
  auto done = work();
  if (done) {
    SOUK_TRY(run("COMMIT"));
  } else {
    disconnect();
  }
  return done;
}

Result<bool> PgConnection::wait(base::Duration most) {
  if (connection_ == nullptr) return false;
  const auto notified = [this] {
    bool any = false;
    while (auto* n = PQnotifies(connection_)) {
      PQfreemem(n);
      any = true;
    }
    return any;
  };
  if (notified()) return true;
  SOUK_ASSIGN(const bool ready, await_socket(false, std::max(most, base::milliseconds(1))));
  if (ready && PQconsumeInput(connection_) == 0)
    return lost(std::string(PQerrorMessage(connection_)));
  return notified();
}

}  // namespace souk::journal
