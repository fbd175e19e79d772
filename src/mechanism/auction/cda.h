#pragma once

#include "mechanism/mechanism.h"

namespace souk::mechanism {

// A continuous double auction, played through once per clearing: orders arrive one by one and rest
// in the book until they are matched. Each side arrives in order of position, and how the two sides
// interleave is drawn, every way with equal chance. An order that crosses trades at once, at the
// price of the order that rests: with the cheapest ask, then by (rank, position), or with the
// highest bid, then by position. What is left of it rests. There is no uniform price.
//
// A gang rests only once it has its minimum. If it cannot be whole when it arrives it waits aside,
// unseen, and after the last arrival such gangs try once more, in order of position.
//
// Individually rational; budget balanced. No order rests next to one that it crosses, gangs aside.
// Not incentive compatible, not Sybil-proof; not efficient in one pass, as early orders may trade
// with the wrong partners, but close to it where traders come back with new prices.
class Cda final : public Mechanism {
 public:
  Outcome clear(const Book& book, base::Random& random) const override;
};

}  // namespace souk::mechanism
