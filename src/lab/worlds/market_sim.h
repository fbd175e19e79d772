#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lab/worlds/agenda.h"
#include "lab/worlds/external.h"
#include "lab/worlds/market_record.h"
#include "lab/worlds/market_time.h"
#include "lab/worlds/market_world.h"
#include "market/decide/decide.h"

// The inside of run_market(): market_world.cc has the clock and the commands, market_agents.cc what
// people and machines do.

namespace souk::lab::sim {

using base::AccountId;
using base::JobId;
using base::LeaseId;
using base::MachineId;
using base::OfferId;
using base::Time;
using market::Actor;
using market::LeaseOutcome;
using market::LeaseState;
using market::Scope;

inline constexpr double kTick = 1;  // Seconds between looks at what is due, as in the server.

struct User {
  const UserDraw* draw;
  AccountId first;  // Its accounts, one for each name.
  std::int32_t names = 1;
  std::unique_ptr<Strategy> strategy;
  std::vector<JobId> waiting;
  std::uint64_t quotes = 0, submitted = 0;
  bool gone = false;
};

struct Lender {
  const MachineDraw* draw;
  AccountId first;
  std::int32_t names = 1;
  std::unique_ptr<Strategy> strategy;
  std::uint64_t quotes = 0;
  std::uint32_t first_machine = 0;
};

class MarketWorld {
 public:
  MarketWorld(const Scenario& s, const Traces& traces, const MechanismChoice& mechanism,
              std::uint64_t seed)
      : s_(s),
        mechanism_(mechanism),
        program_(program_of(mechanism.name, mechanism.params)),
        seed_(seed),
        lowest_(s.lowest_price()),
        highest_(s.highest_price()),
        draws_(draw_market(s, traces, seed)) {}

  Result<Record> run(const Watch& watch);

 private:
  // --- The beginning ----------------------------------------------------------------------------

  void found();
  void use_class(const std::string& name);
  AccountId accounts(std::string_view prefix, std::int32_t names, double credits);
  void lender(const MachineDraw& draw);
  void user(const UserDraw& draw);

  // So that not all agents think at the same moment.
  [[nodiscard]] double mark(std::string_view what, std::uint64_t index) const;

  // --- Prices -----------------------------------------------------------------------------------

  [[nodiscard]] Situation situation(bool buys, double value, const Population& p,
                                    double run_time) const;
  double quote(Strategy& strategy, bool buys, double value, const Population& p,
               std::uint64_t index, std::uint64_t number, double run_time);
  [[nodiscard]] market::OfferTerms terms_of(const Lender& l, std::int32_t name,
                                            double quoted) const;

  // Enough for the work at this price and for some of it twice.
  [[nodiscard]] static Credits budget_of(Credits limit, std::int32_t workers, double run_time);

  // --- Time -------------------------------------------------------------------------------------

  void plan(double at, Act act, std::uint64_t id, std::int32_t epoch = 0);

  // When the core next has something to attend to.
  [[nodiscard]] double next_due() const;

  // Does what comes next and returns when that was; nothing after `end`.
  double step(double end);
  void round();

  // --- Commands ---------------------------------------------------------------------------------

  // Returns how many events came of it. A refusal ends the run: agents do nothing that is refused,
  // but for what try_as() is for.
  std::size_t do_as(const Actor& actor, market::Command command);
  bool try_as(const Actor& actor, market::Command command);
  void observe(const market::Event& event);
  [[nodiscard]] Actor agent(std::uint32_t machine) const;
  [[nodiscard]] Actor owner_of(JobId job) const;

  // --- What people and machines do --------------------------------------------------------------

  void act(const Planned& p);

  // Of the program of a lease, if the lease still stands and its machine is there.
  void on_lease(const Planned& p);
  void started(JobId id, const JobDraw& draw);
  void keep_beating(std::uint32_t machine);

  // Returns whether it holds anything.
  bool beat(std::uint32_t machine);
  void leave(std::uint32_t machine);
  void expire(std::uint32_t machine, std::int32_t absence);
  void back(std::uint32_t machine);
  void submit(std::size_t draw_index);
  void defect(JobId id);
  void revise_offer(std::uint64_t index);
  void revise_jobs(std::uint64_t index);

  // Users whose job ran out of budget add to it, if they can.
  void top_up();
  void balances(Record& out) const;

  const Scenario& s_;
  const MechanismChoice& mechanism_;
  const std::unique_ptr<External> program_;
  const std::uint64_t seed_;
  const double lowest_, highest_;
  const Draws draws_;
  market::State state_;
  std::optional<MarketRecord> record_;
  std::vector<market::ClassId> classes_;
  std::vector<User> users_;
  std::vector<Lender> lenders_;
  Agenda agenda_;
  std::vector<JobId> out_of_budget_;
  std::uint64_t rounds_ = 0;
  market::Events events_;  // Of the last command, kept for their memory.
  std::size_t next_job_ = 0;
  double now_ = 0, next_round_ = 0, ticked_ = -kTick;
  std::optional<base::Error> failure_;
};

}  // namespace souk::lab::sim
