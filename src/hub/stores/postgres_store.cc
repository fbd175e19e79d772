#include <fmt/format.h>
#include <postgresql/libpq-fe.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "hub/stores/stores.h"

// Parameters in PostgreSQL, shared by any number of hubs: the strongly consistent store to compare
// others with. A fold is one transaction that first locks the job's row, so that one hub folds at a
// time and none is overtaken. Tables are made when the first parameters are loaded:
//
//   souk_parameters  a row for each job: generation, version, size in floats, planes
//   souk_blocks      a row for each block: the version at which it last changed, and its bytes
//   souk_folded      the ids of the contributions that were folded, the greatest

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;

constexpr std::array kTables{
    "CREATE TABLE souk_parameters(job text PRIMARY KEY, generation text NOT NULL, "
    "version bigint NOT NULL, size bigint NOT NULL, planes bigint NOT NULL)",
    "CREATE TABLE souk_blocks(job text, i bigint, version bigint NOT NULL, data bytea NOT NULL, "
    "PRIMARY KEY(job, i))",
    // Floats do not compress; trying costs more than all the rest.
    "ALTER TABLE souk_blocks ALTER COLUMN data SET STORAGE EXTERNAL",
    "CREATE TABLE souk_folded(job text, id bigint, PRIMARY KEY(job, id))"};

using Rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

// A value on its way to PostgreSQL.
struct Value {
  std::string text;
  std::string_view bytes;
  bool binary = false;

  Value(std::string t) : text(std::move(t)) {}        // NOLINT(google-explicit-constructor)
  Value(std::int64_t n) : text(std::to_string(n)) {}  // NOLINT(google-explicit-constructor)
  static Value blob(std::string_view data) {
    Value out("");
    out.bytes = data;
    out.binary = true;
    return out;
  }
};

// Of a binary result.
std::int64_t number_at(const Rows& rows, int row, int column) {
  std::uint64_t big = 0;
  CHECK(PQgetlength(rows.get(), row, column) == sizeof big);
  std::memcpy(&big, PQgetvalue(rows.get(), row, column), sizeof big);
  return static_cast<std::int64_t>(std::byteswap(big));
}
std::string_view bytes_at(const Rows& rows, int row, int column) {
  return {PQgetvalue(rows.get(), row, column),
          static_cast<std::size_t>(PQgetlength(rows.get(), row, column))};
}

// One connection, made at the first call and again after it was lost. For one thread at a time.
class Postgres {
 public:
  Postgres(std::string url, std::string name) : url_(std::move(url)), name_(std::move(name)) {}
  ~Postgres() { PQfinish(connection_); }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  // Results come in binary.
  Result<Rows> run(const char* sql, std::initializer_list<Value> values = {}) {
    SOUK_TRY(connect());
    std::vector<const char*> texts;
    std::vector<int> lengths, formats;
    for (const auto& v : values) {
      texts.push_back(v.binary ? v.bytes.data() : v.text.c_str());
      lengths.push_back(static_cast<int>(v.bytes.size()));
      formats.push_back(v.binary ? 1 : 0);
    }
    Rows rows(PQexecParams(connection_, sql, static_cast<int>(texts.size()), nullptr, texts.data(),
                           lengths.data(), formats.data(), 1),
              PQclear);
    const auto status = PQresultStatus(rows.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
    const char* state = PQresultErrorField(rows.get(), PG_DIAG_SQLSTATE);
    undefined_table_ = state != nullptr && std::string_view(state) == "42P01";
    return lost(PQerrorMessage(connection_));
  }
  // Did the last error come from tables that were never made?
  [[nodiscard]] bool undefined_table() const { return undefined_table_; }
  void disconnect() { PQfinish(std::exchange(connection_, nullptr)); }

 private:
  Result<> connect() {
    undefined_table_ = false;
    if (connection_ != nullptr) return {};
    connection_ = PQconnectdb(url_.c_str());
    if (connection_ == nullptr || PQstatus(connection_) != CONNECTION_OK)
      return lost(connection_ == nullptr ? "out of memory" : PQerrorMessage(connection_));
    PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
    return {};
  }
  // Ends the transaction too.
  base::Failure lost(std::string_view why) {
    auto failure = fail(Code::unavailable, fmt::format("{} fails: {}", name_, base::trim(why)),
                        "is PostgreSQL running there, and may this user create tables?");
    disconnect();
    return failure;
  }

  const std::string url_, name_;
  PGconn* connection_ = nullptr;
  bool undefined_table_ = false;
};

// The pieces of a block in one: where there is one only, that.
std::string_view joined(std::span<const std::string_view> pieces, std::string& scratch) {
  if (pieces.size() == 1) return pieces.front();
  scratch.clear();
  for (const auto piece : pieces) scratch += piece;
  return scratch;
}

class PostgresStore final : public ParameterStore {
 public:
  PostgresStore(std::string url, std::string name, std::string_view job)
      : job_(job), postgres_(std::move(url), std::move(name)) {}

  std::string_view name() const override { return "postgresql"; }

  Result<> load(const SavedParameters& saved) override {
    const std::lock_guard lock(mutex_);
    SOUK_ASSIGN(const auto head, transaction([&] { return try_load(saved); }));
    mirror_.adopt(head, saved);
    return {};
  }
  Result<SavedParameters> save() const override {
    const std::lock_guard lock(mutex_);
    return transaction([&]() -> Result<SavedParameters> {
      SOUK_TRY(refresh(false));
      return mirror_.saved();
    });
  }
  Result<train::ParameterSnapshot> take() const override {
    const std::lock_guard lock(mutex_);
    return transaction([&]() -> Result<train::ParameterSnapshot> {
      SOUK_TRY(refresh(false));
      return mirror_.taken();
    });
  }
  Result<std::int64_t> fold(const train::Aggregator& rule,
                            std::span<Contribution> contributions) override {
    const std::lock_guard lock(mutex_);
    Batch batch(contributions);
    std::vector<std::size_t> changed;
    const auto version = transaction([&] { return try_fold(rule, batch, changed); });
    if (!version) return version;
    mirror_.commit(changed);
    batch.finish();
    return version;
  }
  // A fold of the same id that is under way is waited for.
  Result<bool> bar(std::int64_t id) override {
    const std::lock_guard lock(mutex_);
    return transaction([&]() -> Result<bool> {
      SOUK_ASSIGN(const bool added, insert(id));
      return !added;
    });
  }

 private:
  template <class Work>
  auto transaction(Work work) const -> decltype(work());
  Result<StoreHead> try_load(const SavedParameters& saved);
  Result<std::int64_t> try_fold(const train::Aggregator& rule, Batch& batch,
                                std::vector<std::size_t>& changed);
  Result<StoreHead> refresh(bool lock) const;
  // Of an id that was folded or barred; false: it is there already.
  Result<bool> insert(std::int64_t id) {
    SOUK_ASSIGN(const auto rows,
                postgres_.run("INSERT INTO souk_folded VALUES($1, $2) ON CONFLICT DO NOTHING "
                              "RETURNING id",
                              {job_, id}));
    return PQntuples(rows.get()) == 1;
  }

  base::Failure damaged() const {
    return fail(Code::damaged,
                fmt::format("the parameters of job {} in {} lack blocks", job_, postgres_.name()));
  }

  const std::string job_;
  mutable std::mutex mutex_;  // Guards what follows.
  mutable Postgres postgres_;
  mutable Mirror mirror_;
  std::string scratch_;  // For one block.
};

// Requires mutex_.
template <class Work>
auto PostgresStore::transaction(Work work) const -> decltype(work()) {
  SOUK_TRY(postgres_.run("BEGIN"));
  auto out = work();
  if (!out) {
    if (postgres_.undefined_table()) return no_parameters(job_, postgres_.name());
    postgres_.disconnect();  // Rolls back.
    return out;
  }
  SOUK_TRY(postgres_.run("COMMIT"));
  return out;
}

Result<StoreHead> PostgresStore::try_load(const SavedParameters& saved) {
  // Hubs that begin at the same moment must not both make the tables.
  SOUK_TRY(postgres_.run("SELECT pg_advisory_xact_lock(hashtext('souk_parameters'))"));
  SOUK_ASSIGN(const auto known, postgres_.run("SELECT 1 WHERE to_regclass('souk_folded') IS NULL"));
  if (PQntuples(known.get()) == 1)
    for (const auto* sql : kTables) SOUK_TRY(postgres_.run(sql));
  mirror_.forget();
  const auto head = head_of(saved);
  SOUK_TRY(postgres_.run(
      "INSERT INTO souk_parameters VALUES($1, $2, $3, $4, $5) ON CONFLICT (job) DO UPDATE SET "
      "generation = $2, version = $3, size = $4, planes = $5",
      {job_, head.generation, head.version, static_cast<std::int64_t>(head.size),
       static_cast<std::int64_t>(head.planes)}));
  SOUK_TRY(postgres_.run("DELETE FROM souk_blocks WHERE job = $1", {job_}));
  SOUK_TRY(postgres_.run("DELETE FROM souk_folded WHERE job = $1", {job_}));
  for (std::size_t i = 0; i < head.blocks(); ++i) {
    const auto pieces = pieces_of(saved, i);
    SOUK_TRY(postgres_.run("INSERT INTO souk_blocks VALUES($1, $2, $3, $4)",
                           {job_, static_cast<std::int64_t>(i), saved.version,
                            Value::blob(joined(pieces, scratch_))}));
  }
  return head;
}

// Reads what changed. With `lock` nobody else changes it before the transaction ends; without, a
// shared lock keeps head and blocks of one version.
Result<StoreHead> PostgresStore::refresh(bool lock) const {
  SOUK_ASSIGN(const auto rows,
              postgres_.run(
                  lock ? "SELECT generation, version, size, planes FROM souk_parameters WHERE job "
                         "= $1 FOR UPDATE"
                       : "SELECT generation, version, size, planes FROM souk_parameters WHERE job "
                         "= $1 FOR SHARE",
                  {job_}));
  if (PQntuples(rows.get()) != 1) return no_parameters(job_, postgres_.name());
  StoreHead head{.generation = std::string(bytes_at(rows, 0, 0)),
                 .version = number_at(rows, 0, 1),
                 .size = static_cast<std::size_t>(number_at(rows, 0, 2)),
                 .planes = static_cast<std::size_t>(number_at(rows, 0, 3))};
  mirror_.prepare(head);
  SOUK_ASSIGN(
      const auto blocks,
      postgres_.run("SELECT i, version FROM souk_blocks WHERE job = $1 ORDER BY i", {job_}));
  if (PQntuples(blocks.get()) != static_cast<int>(head.blocks())) return damaged();
  for (int row = 0; row < PQntuples(blocks.get()); ++row) {
    const auto i = static_cast<std::size_t>(row);
    if (number_at(blocks, row, 0) != row) return damaged();
    if (number_at(blocks, row, 1) == mirror_.version(i)) continue;
    SOUK_ASSIGN(const auto data,
                postgres_.run("SELECT data FROM souk_blocks WHERE job = $1 AND i = $2",
                              {job_, std::int64_t{row}}));
    if (PQntuples(data.get()) != 1) return damaged();
    SOUK_TRY(mirror_.set(i, bytes_at(data, 0, 0), number_at(blocks, row, 1)));
  }
  mirror_.arrive(head.version);
  return head;
}

Result<std::int64_t> PostgresStore::try_fold(const train::Aggregator& rule, Batch& batch,
                                             std::vector<std::size_t>& changed) {
  SOUK_ASSIGN(const auto head, refresh(true));
  std::vector<bool> folded;
  for (const auto id : batch.ids()) {
    SOUK_ASSIGN(const bool added, insert(id));
    folded.push_back(!added);
  }
  batch.leave_out(folded);
  if (batch.empty()) return head.version;
  SOUK_TRY(batch.check(rule, head));
  batch.stamp(rule, head.version);
  changed = mirror_.fold(rule, batch.updates());
  const auto& parameters = mirror_.parameters();
  for (const auto i : changed) {
    SOUK_TRY(
        postgres_.run("UPDATE souk_blocks SET version = $3, data = $4 WHERE job = $1 AND i = $2",
                      {job_, static_cast<std::int64_t>(i), parameters.version(i),
                       Value::blob(joined(mirror_.bytes(i), scratch_))}));
  }
  SOUK_TRY(postgres_.run("UPDATE souk_parameters SET version = $2 WHERE job = $1",
                         {job_, parameters.version()}));
  SOUK_TRY(
      postgres_.run("DELETE FROM souk_folded WHERE job = $1 AND id <= (SELECT id FROM "
                    "souk_folded WHERE job = $1 ORDER BY id DESC OFFSET $2 LIMIT 1)",
                    {job_, static_cast<std::int64_t>(kRememberedIds)}));
  return parameters.version();
}

}  // namespace

Result<std::unique_ptr<ParameterStore>> make_postgres_store(std::string_view url,
                                                            std::string_view job) {
  const std::string text(url);
  char* ignored = nullptr;  // It may quote the password.
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
      PQconninfoParse(text.c_str(), &ignored), PQconninfoFree);
  PQfreemem(ignored);
  if (!options)
    return fail(Code::invalid, "the URL of a PostgreSQL store cannot be read",
                "postgresql://USER[:PASSWORD]@HOST[:PORT]/DB[?OPTION=VALUE]", "store");
  std::string host, port, db;
  for (const auto* o = options.get(); o->keyword != nullptr; ++o) {
    if (o->val == nullptr) continue;
    if (std::string_view(o->keyword) == "host") host = o->val;
    if (std::string_view(o->keyword) == "port") port = o->val;
    if (std::string_view(o->keyword) == "dbname") db = o->val;
  }
  auto name = fmt::format("postgresql://{}{}{}/{}", host, port.empty() ? "" : ":", port, db);
  return std::make_unique<PostgresStore>(text, std::move(name), job);
}

}  // namespace souk::hub
