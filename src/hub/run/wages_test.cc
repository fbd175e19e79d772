#include "hub/run/wages.h"

#include <gtest/gtest.h>

namespace souk::hub {
namespace {

using base::LeaseId;

std::vector<std::int64_t> numbers(const Wages& wages) {
  std::vector<std::int64_t> out;
  for (const auto& wage : wages.owed()) out.push_back(wage.number);
  return out;
}

Wage work(std::int64_t number = 0) {
  return {number, LeaseId(7), 1, base::microseconds(1'234'567)};
}

TEST(Wages, AreNumberedOneByOneAndOwedUntilAcknowledged) {
  Wages wages;
  for (int i = 0; i < 3; ++i) wages.add(work());
  EXPECT_EQ(numbers(wages), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(wages.owed()[0], work(1));
  wages.acknowledge(2);
  EXPECT_EQ(numbers(wages), (std::vector<std::int64_t>{3}));
  wages.acknowledge(1);  // Repeated, or late: nothing changes.
  wages.add(work());
  EXPECT_EQ(numbers(wages), (std::vector<std::int64_t>{3, 4}));
}

TEST(Wages, NoNumberIsUsedTwiceWhateverTheAgeOfTheSnapshot) {
  struct {
    std::int64_t paid_through;
    std::vector<std::int64_t> owed;
    std::int64_t next;
  } const rows[] = {
      {0, {5, 6, 7}, 8},  // Nothing of it was paid.
      {5, {6, 7}, 8},
      {7, {}, 8},
      {9, {}, 10},  // The market has paid wages that the snapshot does not know.
  };
  for (const auto& row : rows) {
    Wages wages;
    wages.restore({work(5), work(6), work(7)}, 8, row.paid_through);
    EXPECT_EQ(numbers(wages), row.owed) << row.paid_through;
    EXPECT_EQ(wages.next(), row.next) << row.paid_through;
  }
  Wages old;  // A snapshot from before there were wages.
  old.restore({}, 1, 4);
  EXPECT_EQ(old.next(), 5);
}

}  // namespace
}  // namespace souk::hub
