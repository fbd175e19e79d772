#include <gtest/gtest.h>

#include "hub/run/time_book.h"

namespace souk::hub {
namespace {

using base::LeaseId;
using base::seconds;

TEST(TimeBook, SumsUpWhatWorkersSpent) {
  TimeBook book;
  book.add(LeaseId(1), {.compute = seconds(3), .waiting = seconds(1)});
  book.add(LeaseId(1), {.compute = seconds(4), .upload = seconds(2)});
  book.add(LeaseId(2), {.fetch = seconds(5)});
  EXPECT_EQ(book.of(LeaseId(1)).compute, seconds(7));
  EXPECT_EQ(book.of(LeaseId(1)).upload, seconds(2));
  EXPECT_EQ(book.of(LeaseId(3)).compute, base::Duration());
  EXPECT_EQ(book.all().fetch, seconds(5));
  EXPECT_EQ(book.all().waiting, seconds(1));
}

TEST(TimeBook, ComputingCountsForTheBatchThatWasDoneMeanwhile) {
  TimeBook book;
  book.did(LeaseId(1), 32, 10);
  book.did(LeaseId(2), 16, 10);
  book.add(LeaseId(1), {.compute = seconds(3), .waiting = seconds(1)});
  book.add(LeaseId(1), {.compute = seconds(9)});  // Nothing came of it.
  book.add(LeaseId(2), {.compute = seconds(2)});
  book.did(LeaseId(2), 32, 5);
  book.add(LeaseId(2), {.compute = seconds(1)});
  const auto by_batch = book.by_batch();
  ASSERT_EQ(by_batch.size(), 2u);
  EXPECT_EQ(by_batch[0].batch, 16);
  EXPECT_EQ(by_batch[0].compute, seconds(2));
  EXPECT_EQ(by_batch[1].steps, 15);
  EXPECT_EQ(by_batch[1].compute, seconds(4));
}

TEST(TimeBook, WhatNobodyCanHaveSpentIsNotBelieved) {
  TimeBook book;
  book.add(LeaseId(1), {.compute = seconds(-1)});
  book.add(LeaseId(1), {.waiting = base::days(3)});
  EXPECT_EQ(book.all().compute, base::Duration());
  EXPECT_EQ(book.all().waiting, base::Duration());
}

}  // namespace
}  // namespace souk::hub
