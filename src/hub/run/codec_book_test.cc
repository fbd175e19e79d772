#include "hub/run/codec_book.h"

#include <gtest/gtest.h>

namespace souk::hub {
namespace {

using base::LeaseId;
using base::milliseconds;

constexpr std::size_t kModelFloats = 5'000'000;

// A worker that computes ten seconds a unit, on a link of so many bytes a second.
struct Worker {
  CodecBook& book;
  LeaseId id = LeaseId(7);
  double bytes_per_second = 0;
  bool comparable = false;
  std::size_t floats = kModelFloats;
  bool overlaps = false;  // It computes while it sends.
  std::int64_t unit = 0;

  std::string work(int units) {
    std::string last;
    for (int i = 0; i < units; ++i) {
      const auto& given = book.give(id, ++unit, comparable);
      last = given.spec;
      auto seconds = static_cast<double>(floats) * given.bytes / bytes_per_second;
      if (overlaps) seconds = std::max(0.0, seconds - 10);
      book.measured(id,
                    {.compute = base::seconds(10),
                     .upload = milliseconds(static_cast<std::int64_t>(seconds * 1000))},
                    floats);
    }
    return last;
  }
};

TEST(CodecBook, AJobThatNamesACodecGetsItWhateverTheLink) {
  CodecBook book("top-k:0.05", false);
  Worker slow{book, LeaseId(7), 1e3};
  EXPECT_EQ(slow.work(20), "top-k:0.05");
  EXPECT_EQ(book.of(LeaseId(7), 20).codec->name(), "top-k");
}

TEST(CodecBook, TheSlowerTheLinkTheSmallerTheCodec) {
  const struct {
    double bytes_per_second;
    const char* codec;
  } cases[] = {{100e6, "fp32"}, {20e6, "fp32"}, {10e6, "fp16"}, {5e6, "int8"}, {1e6, "sparse2"}};
  for (const auto& c : cases) {
    CodecBook book("auto", false);
    Worker worker{book, LeaseId(7), c.bytes_per_second};
    EXPECT_EQ(worker.work(1), "fp32");
    EXPECT_EQ(worker.work(20), c.codec) << c.bytes_per_second;
    EXPECT_EQ(book.latest(LeaseId(7)), c.codec);
  }
}

TEST(CodecBook, ALinkThatStaysTheSameKeepsItsCodec) {
  for (double rate = 1e5; rate < 1e8; rate *= 1.1) {
    CodecBook book("auto", false);
    Worker worker{book, LeaseId(7), rate};
    const auto chosen = worker.work(15);
    for (int i = 0; i < 200; ++i) ASSERT_EQ(worker.work(1), chosen) << rate;
  }
}

// Where an upload is hidden behind the computing nobody knows how much longer it could take; what
// is too long is tried ever more rarely.
TEST(CodecBook, AWorkerThatSendsWhileItComputesGetsTheLargestThatItCanHide) {
  const struct {
    double bytes_per_second;
    const char* codec;
  } cases[] = {{2e6, "fp32"}, {1.1e6, "fp16"}, {0.6e6, "int8"}, {0.3e6, "sparse2"}};
  for (const auto& c : cases) {
    CodecBook book("auto", false);
    Worker worker{book, LeaseId(7), c.bytes_per_second};
    worker.overlaps = true;
    worker.work(1000);
    int others = 0;
    for (int i = 0; i < 1000; ++i) others += worker.work(1) == c.codec ? 0 : 1;
    EXPECT_LT(others, 20) << c.codec;
  }
}

TEST(CodecBook, ALinkThatGetsFastAgainGetsFp32Back) {
  CodecBook book("auto", false);
  Worker worker{book, LeaseId(7), 5e6};
  EXPECT_EQ(worker.work(12), "int8");
  worker.bytes_per_second = 30e6;  // Slightly faster than needed is not enough.
  EXPECT_EQ(worker.work(100), "fp16");
  worker.bytes_per_second = 100e6;
  EXPECT_EQ(worker.work(100), "fp32");
}

TEST(CodecBook, OneSlowUploadAloneChangesNothing) {
  CodecBook book("auto", false);
  Worker worker{book, LeaseId(7), 100e6};
  worker.work(10);
  worker.bytes_per_second = 15e6;
  worker.work(1);
  worker.bytes_per_second = 100e6;
  EXPECT_EQ(worker.work(5), "fp32");
}

TEST(CodecBook, WhatSomebodyMayDoAgainLeavesNothingOut) {
  CodecBook book("auto", false);
  Worker worker{book, LeaseId(7), 1e6};
  worker.comparable = true;
  EXPECT_EQ(worker.work(20), "int8");
  worker.comparable = false;
  EXPECT_EQ(worker.work(1), "sparse2");
}

TEST(CodecBook, WholeWeightsLeaveNothingOut) {
  CodecBook book("auto", true);
  Worker worker{book, LeaseId(7), 1e4};
  EXPECT_EQ(worker.work(20), "int8");
}

TEST(CodecBook, ASmallModelAndAShortUploadAreLeftAlone) {
  CodecBook book("auto", false);
  Worker small{book, LeaseId(7), 1e3};
  small.floats = 8'000;  // 32 kB in half a minute.
  EXPECT_EQ(small.work(20), "fp32");
  // A unit of a millisecond, and an upload of ninety.
  for (std::int64_t unit = 1; unit < 20; ++unit) {
    EXPECT_EQ(book.give(LeaseId(8), unit, false).spec, "fp32");
    book.measured(LeaseId(8), {.compute = milliseconds(1), .upload = milliseconds(90)},
                  kModelFloats);
  }
}

TEST(CodecBook, EachUnitKeepsTheCodecItWasGivenAndWorkersDoNotMix) {
  CodecBook book("auto", false);
  Worker slow{book, LeaseId(7), 5e6}, fast{book, LeaseId(8), 1e9};
  slow.work(4);
  book.give(LeaseId(7), 5, false);
  EXPECT_EQ(book.of(LeaseId(7), 4).spec, "fp32");
  EXPECT_EQ(book.of(LeaseId(7), 5).spec, "fp16");
  EXPECT_EQ(fast.work(20), "fp32");
  EXPECT_EQ(book.of(LeaseId(8), 5).spec, "fp32");
  // What is not known is what a worker begins with.
  EXPECT_EQ(book.of(LeaseId(9), 1).spec, "fp32");
  EXPECT_EQ(book.latest(LeaseId(9)), "");
}

TEST(CodecBook, TimesThatCannotBeAreOfNoUse) {
  CodecBook book("auto", false);
  for (std::int64_t unit = 1; unit < 20; ++unit) {
    EXPECT_EQ(book.give(LeaseId(7), unit, false).spec, "fp32");
    book.measured(LeaseId(7), {.compute = base::seconds(-5), .upload = base::days(9)},
                  kModelFloats);
    book.measured(LeaseId(7), {.upload = base::days(9)}, kModelFloats);
    book.measured(LeaseId(7), {.compute = base::seconds(1), .upload = base::seconds(-9)},
                  kModelFloats);
  }
}

}  // namespace
}  // namespace souk::hub
