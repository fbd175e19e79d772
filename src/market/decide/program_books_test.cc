#include "market/decide/program_books.h"

#include <gtest/gtest.h>

#include "market/testing/world.h"

namespace souk::market::testing {
namespace {

using base::minutes;

const Credits kFallback = 2_cr;  // The price of the fallback, which is no program's here.

// A market whose class c1 a program clears, which gives each bid what it can of the first asks.
struct Programmed : World {
  AccountId lena = account("lena"), mia = account("mia"), bob = account("bob", 1000_cr);

  Programmed() {
    auto c = *s.find_class("c1");
    c.mechanism = kExternal;
    c.params = {{"program", "mine"}, {"fallback", "posted"}, {"price", "2"}};
    run(kBoss, SetClass{c});
  }

  static mechanism::Outcome greedy(mechanism::Book book) {
    mechanism::Outcome out;
    for (std::uint32_t bid = 0; bid < book.bids.size(); ++bid)
      for (std::uint32_t ask = 0; ask < book.asks.size(); ++ask) {
        const auto n = std::min(book.bids[bid].units, book.asks[ask].units);
        if (n <= 0) continue;
        book.bids[bid].units -= n;
        book.asks[ask].units -= n;
        out.trades.push_back({bid, ask, n, 3_cr, 1_cr});
      }
    return out;
  }

  [[nodiscard]] Clear question() const { return {.slot_class = slot_class(), .seed = 1}; }
  [[nodiscard]] ProgramAnswer answer() const {
    return ask_all(program_books(s, now, question()),
                   [](const auto& book, std::uint64_t) { return greedy(book); });
  }
  void finish_round(ProgramAnswer answer) {
    auto round = question();
    round.answer = std::move(answer);
    run(kSystem, round);
  }
  // What the job pays; zero without a lease.
  [[nodiscard]] Credits price(JobId job) const {
    const auto& leases = at(job).leases;
    return leases.empty() ? Credits() : at(leases.front()).term.pays;
  }
};

TEST(ProgramBooks, AnAnswerIsUsedAsItIsWhereNothingHasChanged) {
  Programmed w;
  w.offer(w.machine(w.lena), {.slots = 2, .reserve = 1_cr});
  const auto job = w.job(w.bob, wants(1, 2, 3_cr, 30_cr));
  w.finish_round(w.answer());
  EXPECT_EQ(w.at(job).held, 2);
  EXPECT_EQ(w.price(job), 3_cr);
}

TEST(ProgramBooks, NothingIsAskedWhereNobodyCanTradeOrNoProgramClears) {
  Programmed w;
  EXPECT_TRUE(program_books(w.s, w.now, w.question()).empty());
  w.offer(w.machine(w.lena));
  EXPECT_TRUE(program_books(w.s, w.now, w.question()).empty());
  w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  EXPECT_EQ(program_books(w.s, w.now, w.question()).size(), 1u);
  auto c = *w.s.find_class("c1");
  c.mechanism = "k-double";
  c.params = {};
  w.run(kBoss, SetClass{c});
  EXPECT_TRUE(program_books(w.s, w.now, w.question()).empty());
}

TEST(ProgramBooks, AJobThatWasCancelledMeanwhileGetsNoLease) {
  Programmed w;
  w.offer(w.machine(w.lena), {.slots = 2, .reserve = 1_cr});
  const auto gone = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  const auto stays = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  auto answer = w.answer();
  w.run(user(w.bob), CancelJob{gone, ""});
  w.finish_round(std::move(answer));
  EXPECT_TRUE(w.at(gone).leases.empty());
  EXPECT_EQ(w.price(stays), 3_cr);
}

TEST(ProgramBooks, AnOfferThatWasWithdrawnMeanwhileIsNotLeased) {
  Programmed w;
  const auto gone = w.offer(w.machine(w.lena), {.reserve = 1_cr});
  w.offer(w.machine(w.mia), {.reserve = 1_cr});
  const auto first = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  const auto second = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  auto answer = w.answer();
  w.run(user(w.lena), RemoveOffer{gone});
  w.finish_round(std::move(answer));
  EXPECT_EQ(w.at(first).held + w.at(second).held, 1);
  w.s.leases.for_each([&](const Lease& l) { EXPECT_NE(l.offer, gone); });
}

TEST(ProgramBooks, APriceThatOneSideNoLongerAcceptsIsNoTrade) {
  Programmed w;
  w.offer(w.machine(w.lena), {.slots = 2, .reserve = 1_cr});
  const auto lower = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  const auto higher = w.job(w.bob, wants(1, 1, 3_cr, 9_cr));
  auto answer = w.answer();
  auto terms = w.at(lower).terms;
  terms.limit = 2_cr;
  w.run(user(w.bob), ChangeJob{lower, terms});
  terms = w.at(higher).terms;
  terms.limit = 4_cr;
  w.run(user(w.bob), ChangeJob{higher, terms});
  w.finish_round(std::move(answer));
  EXPECT_TRUE(w.at(lower).leases.empty());
  EXPECT_EQ(w.price(higher), 3_cr) << "both still accept it";
}

TEST(ProgramBooks, ATradeIsCutDownAndABrokenGangGetsNothing) {
  Programmed w;
  const auto offer = w.offer(w.machine(w.lena), {.slots = 6, .reserve = 1_cr});
  const auto flexible = w.job(w.bob, wants(1, 4, 3_cr, 60_cr));
  const auto gang = w.job(w.bob, wants(2, 2, 3_cr, 60_cr));
  auto answer = w.answer();
  auto terms = w.s.offers.at(offer).terms;
  terms.slots = 5;
  w.run(user(w.lena), ChangeOffer{offer, terms});
  w.finish_round(answer);
  EXPECT_EQ(w.at(flexible).held, 4);
  EXPECT_EQ(w.at(gang).held, 0) << "one of two slots is left";
}

TEST(ProgramBooks, WhoCameAfterTheQuestionWaitsForTheNext) {
  Programmed w;
  w.offer(w.machine(w.lena), {.slots = 4, .reserve = 1_cr});
  const auto early = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  auto answer = w.answer();
  const auto late = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
  w.finish_round(std::move(answer));
  EXPECT_EQ(w.price(early), 3_cr);
  EXPECT_TRUE(w.at(late).leases.empty());
  w.finish_round(w.answer());
  EXPECT_EQ(w.price(late), 3_cr);
}

TEST(ProgramBooks, WhatCannotStandAndWhatWasNotAnsweredIsClearedByTheFallback) {
  const auto round = [](auto change) {
    Programmed w;
    w.offer(w.machine(w.lena), {.slots = 2, .reserve = 1_cr});
    const auto job = w.job(w.bob, wants(1, 1, 3_cr, 3_cr));
    auto answer = w.answer();
    change(answer);
    w.finish_round(std::move(answer));
    return w.price(job);
  };
  EXPECT_EQ(round([](auto& a) { a.trades[0].gets = 4_cr; }), kFallback) << "a loss for nobody";
  EXPECT_EQ(round([](auto& a) { a.unanswered = {a.trades[0].job}, a.trades.clear(); }), kFallback);
  EXPECT_EQ(round([](auto& a) { a.trades.clear(); }), Credits()) << "it traded nothing";
}

TEST(ProgramBooks, ALaterBookDoesNotOfferWhatAnEarlierOneTook) {
  Programmed w;
  MachineSpec eu{.cores = 8, .memory_mib = 65'536, .region = "eu"};
  w.offer(w.machine(w.lena, eu), {.slots = 2, .reserve = 1_cr});
  w.offer(w.machine(w.mia), {.slots = 1, .reserve = 1_cr});
  auto terms = wants(1, 2, 3_cr, 30_cr);
  terms.constraints.regions = {"eu"};
  const auto picky = w.job(w.bob, terms);
  const auto any = w.job(w.bob, wants(1, 3, 3_cr, 30_cr));
  std::vector<std::size_t> asks;
  auto answer =
      ask_all(program_books(w.s, w.now, w.question()), [&](const auto& book, std::uint64_t) {
        asks.push_back(book.asks.size());
        return Programmed::greedy(book);
      });
  EXPECT_EQ(asks, (std::vector<std::size_t>{1, 1})) << "of three slots, two were taken";
  w.finish_round(std::move(answer));
  EXPECT_EQ(w.at(picky).held, 2);
  EXPECT_EQ(w.at(any).held, 1);
}

}  // namespace
}  // namespace souk::market::testing
