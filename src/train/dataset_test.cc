#include "train/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "train/testing/datasets.h"

namespace souk::train {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::floats;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::says;
using ::testing::SizeIs;

// An idx file of bytes with these dimensions, filled with 0, 1, 2, ...
std::string idx(const std::vector<std::uint32_t>& shape) {
  std::string out("\0\0\x08", 3);
  out += static_cast<char>(shape.size());
  std::size_t total = 1;
  for (const auto d : shape) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(d >> shift);
    total *= d;
  }
  for (std::size_t i = 0; i < total; ++i) out += static_cast<char>(i);
  return out;
}

TEST(Idx, ImagesGetTheirLabelsAndOneChannel) {
  const auto data = parse_idx(idx({3, 2, 4}), idx({3}));
  ASSERT_TRUE(data) << says(data);
  EXPECT_EQ(data->dtype, "U8");
  EXPECT_THAT(data->shape, ElementsAre(1, 2, 4));
  EXPECT_THAT(data->y, ElementsAre(0, 1, 2));
  EXPECT_EQ(data->samples(), 3);
  EXPECT_EQ(data->classes(), 3);
  EXPECT_EQ(data->sample_bytes(), 8u);
  ASSERT_THAT(data->x, SizeIs(24));
  EXPECT_EQ(data->x[23], 23);
}

TEST(Idx, ChannelsStayAsTheyAre) {
  const auto data = parse_idx(idx({2, 3, 2, 2}), idx({2}));
  ASSERT_TRUE(data) << says(data);
  EXPECT_THAT(data->shape, ElementsAre(3, 2, 2));
  EXPECT_THAT(parse_idx(idx({2, 5}), idx({2}))->shape, ElementsAre(5));
}

TEST(Idx, LabelsAboveTheSignOfAByteAreKept) {
  auto labels = idx({2});
  labels.back() = '\xff';
  EXPECT_THAT(parse_idx(idx({2, 1, 1}), labels)->y, ElementsAre(0, 255));
}

TEST(Idx, WhatIsNotSuchAFileIsRefusedAndNamed) {
  const auto images = idx({3, 2, 4}), labels = idx({3});
  for (std::size_t cut = 0; cut < images.size(); ++cut)
    EXPECT_THAT(says(parse_idx(std::string_view(images).substr(0, cut), labels)),
                HasSubstr("the images are not"))
        << cut;
  for (std::size_t cut = 0; cut < labels.size(); ++cut)
    EXPECT_THAT(says(parse_idx(images, std::string_view(labels).substr(0, cut))),
                HasSubstr("the labels are not"))
        << cut;
  EXPECT_THAT(says(parse_idx(images + "x", labels)), HasSubstr("the images are not"));
  for (std::size_t at = 0; at < 3; ++at) {
    auto wrong = images;
    wrong[at] ^= 1;
    EXPECT_THAT(says(parse_idx(wrong, labels)), HasSubstr("begins with 00 00 08")) << at;
  }
  for (const char dimensions : {'\x00', '\x05', '\x7f', '\xff'}) {
    auto wrong = images;
    wrong[3] = dimensions;
    EXPECT_FALSE(parse_idx(wrong, labels));
  }
  // Dimensions whose product does not fit a number, and empty ones.
  auto huge = images;
  std::fill_n(huge.begin() + 4, 12, '\xff');
  EXPECT_FALSE(parse_idx(huge, labels));
  EXPECT_FALSE(parse_idx(idx({0, 2, 4}), idx({0})));
  EXPECT_FALSE(parse_idx(idx({3, 0, 4}), labels));
}

TEST(Idx, ImagesAndLabelsBelongTogether) {
  EXPECT_THAT(says(parse_idx(idx({3, 2, 2}), idx({4}))), HasSubstr("3 images and 4 labels"));
  EXPECT_THAT(says(parse_idx(idx({3}), idx({3, 2, 2}))), HasSubstr("images first"));
}

std::string cifar(const std::vector<int>& labels) {
  std::string out;
  for (const auto label : labels) {
    out += static_cast<char>(label);
    for (int i = 0; i < 3072; ++i) out += static_cast<char>(i % 251);
  }
  return out;
}

TEST(Cifar, ImagesOfThreePlanesWithNamedLabels) {
  const auto data = parse_cifar10(cifar({9, 0, 3}));
  ASSERT_TRUE(data) << says(data);
  EXPECT_THAT(data->shape, ElementsAre(3, 32, 32));
  EXPECT_THAT(data->y, ElementsAre(9, 0, 3));
  EXPECT_EQ(data->classes(), 10);
  EXPECT_EQ(data->names[3], "cat");
  EXPECT_EQ(data->samples(), 3);
  ASSERT_THAT(data->x, SizeIs(3 * 3072));
  EXPECT_EQ(data->x.substr(3072, 5), std::string("\0\1\2\3\4", 5));
}

TEST(Cifar, OtherLengthsAndLabelsAreRefused) {
  const auto good = cifar({1, 2});
  EXPECT_THAT(says(parse_cifar10("")), HasSubstr("0 bytes"));
  EXPECT_THAT(says(parse_cifar10(good.substr(1))), HasSubstr("each image takes 3073 bytes"));
  EXPECT_THAT(says(parse_cifar10(good + "x")), HasSubstr("6147 bytes"));
  EXPECT_THAT(says(parse_cifar10(cifar({1, 10}))), HasSubstr("label 10 is not 0 to 9"));
  EXPECT_THAT(says(parse_cifar10(cifar({255}))), HasSubstr("label 255"));
}

TEST(Csv, NumbersWithALabelLast) {
  const auto data = parse_csv("1,2.5,0\n-3e2, 4 ,2\n", "");
  ASSERT_TRUE(data) << says(data);
  EXPECT_EQ(data->dtype, "F32");
  EXPECT_THAT(data->shape, ElementsAre(2));
  EXPECT_THAT(floats(*data), ElementsAre(1, 2.5F, -300, 4));
  EXPECT_THAT(data->y, ElementsAre(0, 2));
  EXPECT_THAT(data->names, IsEmpty());
  EXPECT_EQ(data->classes(), 3);
}

TEST(Csv, AHeaderEmptyLinesAndOtherLineEndsDoNotMatter) {
  for (const auto* text : {"a,b,kind\n1,2,0\n3,4,1\n", "a,b,kind\r\n1,2,0\r\n3,4,1\r\n",
                           "\n a , b , kind \n\n1,2,0\n\n3,4,1", "1,2,0\n3,4,1"}) {
    const auto data = parse_csv(text, "");
    ASSERT_TRUE(data) << text << says(data);
    EXPECT_THAT(floats(*data), ElementsAre(1, 2, 3, 4)) << text;
    EXPECT_THAT(data->y, ElementsAre(0, 1)) << text;
  }
}

TEST(Csv, TheLabelIsAColumnsNameOrNumber) {
  const std::string text = "kind,width,height\n7,1,2\n8,3,4\n";
  for (const auto* label : {"kind", "0"}) {
    const auto data = parse_csv(text, label);
    ASSERT_TRUE(data) << says(data);
    EXPECT_THAT(data->y, ElementsAre(7, 8));
    EXPECT_THAT(floats(*data), ElementsAre(1, 2, 3, 4));
  }
  EXPECT_THAT(floats(*parse_csv(text, "width")), ElementsAre(7, 2, 8, 4));
  EXPECT_THAT(says(parse_csv(text, "colour")),
              AllOf(HasSubstr("no column 'colour'"), HasSubstr("kind, width, height")));
  for (const auto* label : {"3", "-1", "0.5", "nan"})
    EXPECT_THAT(says(parse_csv("1,2,0\n", label)), HasSubstr("use 0 to 2")) << label;
  EXPECT_EQ(parse_csv(text, "colour").error().field, "label");
}

TEST(Csv, WordsAreNumberedInOrderAndKeepTheirNames) {
  const auto data = parse_csv("1,plum\n2,apple\n3,plum\n4,fig\n", "");
  ASSERT_TRUE(data) << says(data);
  EXPECT_THAT(data->names, ElementsAre("apple", "fig", "plum"));
  EXPECT_THAT(data->y, ElementsAre(2, 0, 2, 1));
  EXPECT_EQ(data->classes(), 3);
}

TEST(Csv, NumbersThatCannotCountClassesAreNames) {
  EXPECT_THAT(parse_csv("1,-1\n2,1\n", "")->names, ElementsAre("-1", "1"));
  EXPECT_THAT(parse_csv("1,1e9\n2,1\n", "")->y, ElementsAre(1, 0));
}

TEST(Csv, TestDataIsNumberedAsTheTrainingData) {
  const std::vector<std::string> names{"apple", "fig", "plum"};
  const auto data = parse_csv("1,plum\n2,fig\n", "", names);
  ASSERT_TRUE(data) << says(data);
  EXPECT_THAT(data->y, ElementsAre(2, 1));
  EXPECT_EQ(data->names, names);
  EXPECT_EQ(data->classes(), 3);
  // Names that look like numbers too.
  EXPECT_THAT(parse_csv("5,1\n5,-1\n", "", {"-1", "1"})->y, ElementsAre(1, 0));
  EXPECT_THAT(says(parse_csv("x,kind\n1,plum\n2,pear\n", "", names)),
              HasSubstr("line 3: label 'pear' does not occur in the training data"));
}

TEST(Csv, AColumnOfMeasurementsIsNotTakenForLabels) {
  std::string text;
  for (int i = 0; i <= 100'000; ++i) text += "1," + std::to_string(1'000'000 + i) + "\n";
  const auto data = parse_csv(text, "");
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().message, "column 1 has 100001 different labels");
  EXPECT_EQ(data.error().field, "label");
}

TEST(Csv, AmountsAreNotTakenForClasses) {
  const auto data = parse_csv("rooms,price\n3,250000\n4,310000.5\n", "price");
  ASSERT_FALSE(data);
  EXPECT_EQ(data.error().message,
            "line 3: label '310000.5' in column 'price' is a number with a fraction");
  EXPECT_THAT(data.error().hint, HasSubstr("classes"));
  EXPECT_EQ(data.error().field, "label");
  EXPECT_FALSE(parse_csv("1,0.5\n2,1\n", ""));
  EXPECT_TRUE(parse_csv("1,1.0\n2,0.0\n", ""));      // Whole, however they are written.
  EXPECT_TRUE(parse_csv("1,1.5\n2,unknown\n", ""));  // Words.
}

TEST(Csv, ACellThatIsNoNumberIsNamed) {
  EXPECT_THAT(says(parse_csv("a,b,kind\n1,2,x\n\n1,two,y\n", "")),
              HasSubstr("line 4, column 'b': 'two' is not a number"));
  EXPECT_THAT(says(parse_csv("1,2,0\n,2,0\n", "")), HasSubstr("line 2, column 0: ''"));
  for (const auto* cell : {"nan", "inf", "-inf", "1e39", "-1e39", "1e999", "1 2", "0x10", "1.5."})
    EXPECT_THAT(says(parse_csv(std::string("1,0\n") + cell + ",0\n", "")),
                HasSubstr(std::string("'") + cell + "' is not a number"));
  // What comes from elsewhere is not repeated at any length.
  EXPECT_LT(says(parse_csv("1,0\n" + std::string(10'000, 'x') + ",0\n", "")).size(), 200u);
  EXPECT_LT(says(parse_csv("1," + std::string(10'000, 'x') + "\n", "", {"a"})).size(), 200u);
}

TEST(Csv, RowsOfAnotherLengthAreNamed) {
  EXPECT_THAT(says(parse_csv("1,2,0\n1,0\n", "")), HasSubstr("line 2 has 2 columns, not 3"));
  EXPECT_THAT(says(parse_csv("1,2,0\n\n1,2,3,0\n", "")), HasSubstr("line 3 has 4 columns, not 3"));
  EXPECT_THAT(says(parse_csv("a,b,c\n1,0\n", "")), HasSubstr("line 2 has 2 columns, not 3"));
}

TEST(Csv, NothingToLearnFromIsRefused) {
  for (const auto* text : {"", "\n\n", "   \n", "a,b,c\n"})
    EXPECT_THAT(says(parse_csv(text, "")), HasSubstr("no rows")) << text;
  EXPECT_THAT(says(parse_csv("1\n2\n", "")), HasSubstr("a feature and a label"));
}

TEST(Text, IsItsBytes) {
  const auto data = parse_text("caf\xc3\xa9");
  EXPECT_EQ(data.samples(), 5);
  const auto zero = parse_text(std::string("a\0b", 3));
  EXPECT_EQ(zero.samples(), 3);
  EXPECT_EQ(zero.classes(), 256);
  EXPECT_THAT(zero.shape, IsEmpty());
  EXPECT_THAT(zero.y, IsEmpty());
  EXPECT_EQ(zero.x, std::string("a\0b", 3));
}

// `n` samples of two floats: sample i is (i, -i), with label i.
Dataset numbered(std::int64_t n) {
  Dataset out{.dtype = "F32", .shape = {2}, .names = {"zero", "one"}};
  for (std::int64_t i = 0; i < n; ++i) {
    const float values[2] = {static_cast<float>(i), -static_cast<float>(i)};
    out.x.append(reinterpret_cast<const char*>(values), sizeof values);
    out.y.push_back(i);
  }
  return out;
}

TEST(Split, EverySampleIsInOneShardWithItsLabel) {
  const struct {
    std::int64_t samples;
    std::int32_t shards;
  } cases[] = {{100, 7}, {100, 1}, {100, 100}, {7, 3}, {1, 1}, {60, 64}};
  for (const auto& c : cases) {
    const auto shards = split(numbered(c.samples), c.shards, 1);
    std::map<std::int64_t, int> seen;
    std::int64_t least = c.samples, most = 0;
    for (const auto& shard : shards) {
      EXPECT_EQ(shard.dtype, "F32");
      EXPECT_THAT(shard.shape, ElementsAre(2));
      EXPECT_THAT(shard.names, ElementsAre("zero", "one"));
      const auto values = floats(shard);
      ASSERT_EQ(values.size(), 2 * shard.y.size());
      for (std::size_t i = 0; i < shard.y.size(); ++i) {
        ++seen[shard.y[i]];
        EXPECT_EQ(values[2 * i], static_cast<float>(shard.y[i]));
        EXPECT_EQ(values[2 * i + 1], -static_cast<float>(shard.y[i]));
      }
      least = std::min(least, shard.samples());
      most = std::max(most, shard.samples());
    }
    EXPECT_EQ(std::ssize(seen), c.samples);
    for (const auto& [label, times] : seen) EXPECT_EQ(times, 1) << label;
    EXPECT_LE(most - least, 1);
    EXPECT_GE(least, 1) << "nobody is sent an empty shard";
    EXPECT_EQ(std::ssize(shards), std::min<std::int64_t>(c.samples, c.shards));
  }
}

TEST(Split, IsDrawnByItsSeed) {
  const auto labels = [](std::uint64_t seed) {
    std::vector<std::vector<std::int64_t>> out;
    for (const auto& shard : split(numbered(50), 5, seed)) out.push_back(shard.y);
    return out;
  };
  EXPECT_EQ(labels(1), labels(1));
  EXPECT_NE(labels(1), labels(2));
  const auto first = labels(1).front();
  EXPECT_FALSE(std::ranges::is_sorted(first)) << "data sorted by class would stay so";
}

TEST(Split, TextIsCutInOrder) {
  const auto shards = split(parse_text("abcdefghij"), 3, 1);
  ASSERT_THAT(shards, SizeIs(3));
  EXPECT_EQ(shards[0].x + "|" + shards[1].x + "|" + shards[2].x, "abc|def|ghij");
  EXPECT_EQ(shards[1].samples(), 3);
  EXPECT_THAT(split(parse_text("ab"), 5, 1), SizeIs(2));
}

TEST(Scaling, MeanAndDeviationOfEachFeature) {
  const auto data = parse_csv("1,10,0\n3,10,1\n5,40,0\n", "");
  const auto scaling = scaling_of(*data);
  EXPECT_THAT(scaling.mean, ElementsAre(DoubleNear(3, 1e-12), DoubleNear(20, 1e-12)));
  EXPECT_THAT(scaling.deviation, ElementsAre(DoubleNear(std::sqrt(8.0 / 3), 1e-12),
                                             DoubleNear(std::sqrt(200), 1e-12)));
}

TEST(Scaling, AFeatureThatNeverChangesIsLeftAlone) {
  std::string text;
  for (int i = 0; i < 7; ++i) text += "0.1,123456.7,0," + std::to_string(i % 2) + "\n";
  const auto scaling = scaling_of(*parse_csv(text, ""));
  EXPECT_THAT(scaling.deviation, ElementsAre(1, 1, 1));
  EXPECT_THAT(scaling.mean, ElementsAre(DoubleNear(0.1, 1e-8), DoubleNear(123456.7, 0.01), 0));
}

TEST(Scaling, ASmallChangeOnALargeValueCounts) {
  const auto scaling = scaling_of(*parse_csv("1000000,0\n1000001,1\n", ""));
  EXPECT_THAT(scaling.deviation, ElementsAre(DoubleNear(0.5, 1e-6)));
}

}  // namespace
}  // namespace souk::train
