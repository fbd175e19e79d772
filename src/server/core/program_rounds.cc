#include "server/core/program_rounds.h"

#include <spdlog/spdlog.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "lab/worlds/external.h"
#include "market/decide/program_books.h"

namespace souk::server {
namespace {

// For /bin/sh, whatever the name is.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

using ClassParams = std::map<std::string, std::string>;

// Nothing where it cannot run, and a line in the log.
std::unique_ptr<lab::External> start_program(const std::string& folder,
                                             const std::string& slot_class,
                                             const ClassParams& params) {
  const auto name = params.find("program");
  const auto path = name == params.end() ? folder : folder + "/" + name->second;
  std::error_code error;
  if (folder.empty() || !std::filesystem::is_regular_file(path, error)) {
    spdlog::error("class {}: {} is not a program; the fallback clears (--mechanisms FOLDER)",
                  slot_class, path);
    return nullptr;
  }
  mechanism::Params given(params.begin(), params.end());
  given["program"] = "exec " + quoted(std::filesystem::absolute(path, error).string());
  given.try_emplace("start_ms", std::to_string(ProgramRounds::kStartMs));
  auto made = lab::make_external(given);
  if (!made) spdlog::error("class {}: {}", slot_class, made.error().message);
  return made ? *std::move(made) : nullptr;
}

}  // namespace

struct ProgramRounds::Question {
  market::ClassId slot_class;
  std::string name;    // Of the class.
  ClassParams params;  // Of its program.
  std::uint64_t seed = 0;
  std::vector<market::ProgramBook> books;
};

// Asks the program of one class, one question at a time. The program is started by the first
// question and anew when the class's parameters have changed; it ends with this object, which does
// not wait for an answer then.
class ProgramThread {
 public:
  explicit ProgramThread(ProgramRounds& rounds) : rounds_(rounds), thread_([this] { run(); }) {}
  ~ProgramThread() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      if (program_) program_->interrupt();
    }
    ready_.notify_one();
    thread_.join();
  }
  ProgramThread(const ProgramThread&) = delete;
  ProgramThread& operator=(const ProgramThread&) = delete;

  // From a question until its round.
  [[nodiscard]] bool busy() const { return busy_; }
  void done() { busy_ = false; }

  // Requires !busy().
  void ask(ProgramRounds::Question question) {
    busy_ = true;
    {
      const std::lock_guard lock(mutex_);
      question_ = std::move(question);
    }
    ready_.notify_one();
  }

 private:
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [&] { return stopping_ || question_; });
      if (stopping_) return;
      auto question = *std::exchange(question_, std::nullopt);
      lock.unlock();
      auto answer = answer_to(question);
      const bool posted = rounds_.core_.post(
          [this, q = std::move(question), a = std::move(answer)](Core::Turn& turn) mutable {
            done();
            rounds_.finish(turn, q, std::move(a));
          });
      if (!posted) done();  // The next round asks again.
    }
  }

  // Nothing where there is no program.
  std::optional<market::ProgramAnswer> answer_to(ProgramRounds::Question& question) {
    if (!started_ || params_ != question.params) replace(question);
    if (!program_) return std::nullopt;
    auto out = market::ask_all(std::move(question.books),
                               [&](const mechanism::Book& book, std::uint64_t seed) {
                                 return program_->attempt(book, seed);
                               });
    if (const auto& why = program_->counts().last_reason; why != complained_) {
      spdlog::warn("class {}: its program was replaced by the fallback: {}", question.name, why);
      complained_ = why;
    }
    return out;
  }

  void replace(const ProgramRounds::Question& question) {
    auto fresh = start_program(rounds_.folder_, question.name, question.params);
    params_ = question.params;
    complained_.clear();
    started_ = true;
    const std::lock_guard lock(mutex_);
    std::swap(program_, fresh);  // The old program ends after the lock, with `fresh`.
    if (stopping_ && program_) program_->interrupt();
  }

  ProgramRounds& rounds_;
  std::atomic<bool> busy_ = false;
  std::mutex mutex_;
  std::condition_variable ready_;
  bool stopping_ = false;
  std::optional<ProgramRounds::Question> question_;
  std::unique_ptr<lab::External> program_;  // Changed by the thread, interrupted by any.
  // Of the thread.
  bool started_ = false;
  ClassParams params_;
  std::string complained_;  // What was logged last.
  std::thread thread_;      // Last: it uses all of the above.
};

ProgramRounds::ProgramRounds(std::string folder, Core& core, Describe describe)
    : folder_(std::move(folder)), core_(core), describe_(std::move(describe)) {}

ProgramRounds::~ProgramRounds() = default;

bool ProgramRounds::take_over(const market::State& s, base::Time now, const market::Clear& round) {
  const auto& slot_class = s.slot_class(round.slot_class);
  if (slot_class.mechanism_at(now) != market::kExternal) return false;
  auto& thread = threads_[slot_class.id];
  if (thread && thread->busy()) return true;
  auto books = market::program_books(s, now, round);
  if (books.empty()) return false;  // Nothing to ask about: the round is quick.
  if (!thread) thread = std::make_unique<ProgramThread>(*this);
  thread->ask(
      {slot_class.id, slot_class.name, slot_class.params_at(now), round.seed, std::move(books)});
  return true;
}

void ProgramRounds::finish(Core::Turn& turn, const Question& question,
                           std::optional<market::ProgramAnswer> answer) {
  const auto& slot_class = turn.state().slot_class(question.slot_class);
  if (slot_class.mechanism_at(turn.now()) != market::kExternal ||
      slot_class.params_at(turn.now()) != question.params)
    return;
  market::Clear round{question.slot_class, question.seed};
  describe_(turn.state(), turn.now(), round);
  round.answer = std::move(answer);
  round.unheard = turn.liveness().unheard(turn.state(), turn.now());
  (void)turn.execute(market::kSystem, std::move(round));
}

}  // namespace souk::server
