#include "hub/run/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstring>
#include <filesystem>
#include <regex>

#include "base/text.h"
#include "blob/store.h"
#include "wire/safetensors.h"

namespace souk::hub {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

wire::Training training(int epochs) {
  wire::Training out{.state = wire::TrainingState::finished,
                     .reason = "all epochs are done",
                     .rule = "fedbuff",
                     .epoch = epochs,
                     .epochs = epochs,
                     .progress = 1,
                     .target = 0.95};
  for (int e = 1; e <= epochs; ++e) {
    const auto accuracy = 1 - 0.5 / e;
    out.rows.push_back({.epoch = e,
                        .at = base::milliseconds(1'500 * e),
                        .samples = 1'000 * e,
                        .version = 10 * e,
                        .loss = 1.0 / e,
                        .validation_loss = 1.25 / e,
                        .accuracy = accuracy,
                        .mean = accuracy - 0.01,
                        .low = accuracy - 0.05,
                        .high = accuracy + 0.01,
                        .workers = 3});
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (const auto line : base::split(text, '\n'))
    if (!line.empty()) out.emplace_back(line);
  return out;
}

std::string model_file(const train::Layout& layout, const std::vector<float>& values) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("souk-results-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::string out;
  {
    const auto store = *blob::Store::open((folder / "store").string());
    blob::FolderWriter to(*store);
    EXPECT_TRUE(write_model(layout, train::blocks_of(values), to));
    const auto packed = to.finish();
    EXPECT_TRUE(packed);
    if (packed) out = *blob::read_file(packed->manifest, "model.safetensors", *store, 1 << 30);
  }
  std::filesystem::remove_all(folder);
  return out;
}

std::map<std::string, std::string> files(const wire::Training& t) {
  auto out = result_files({.config = {{"model", "\"mlp\""}, {"classes", "3"}}}, t);
  out["model.safetensors"] =
      model_file({{{"zeta", {2, 3}}, {"alpha", {2}}}}, {1, 2, 3, 4, 5, 6, 7, 8});
  return out;
}

// An element of a picture: what it is, and its attributes.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
};

// All elements, in order; fails where the text is not well-formed XML.
std::vector<Element> parse_xml(const std::string& text) {
  static const std::regex tag(R"re(<(/?)([a-z]+)((?:\s+[a-zA-Z0-9:-]+="[^"<&]*")*)\s*(/?)>)re");
  static const std::regex attribute(R"re(([a-zA-Z0-9:-]+)="([^"]*)")re");
  std::vector<Element> out;
  std::vector<std::string> open;
  std::size_t at = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), tag), end; it != end; ++it) {
    const auto between = text.substr(at, static_cast<std::size_t>(it->position()) - at);
    EXPECT_EQ(between.find_first_of("<>&"), std::string::npos) << between;
    at = static_cast<std::size_t>(it->position() + it->length());
    const auto name = (*it)[2].str();
    if ((*it)[1].length() > 0) {
      EXPECT_FALSE(open.empty());
      if (open.empty()) return out;
      EXPECT_EQ(open.back(), name);
      open.pop_back();
      continue;
    }
    Element element{name, {}};
    const auto list = (*it)[3].str();
    for (std::sregex_iterator a(list.begin(), list.end(), attribute); a != end; ++a)
      EXPECT_TRUE(element.attributes.emplace((*a)[1], (*a)[2]).second) << "twice: " << (*a)[1];
    out.push_back(element);
    EXPECT_TRUE(!open.empty() || out.size() == 1) << "two roots";
    if ((*it)[4].length() == 0) open.push_back(name);
  }
  EXPECT_THAT(open, SizeIs(0));
  EXPECT_EQ(base::trim(std::string_view(text).substr(at)), "");
  return out;
}

std::vector<Element> of_class(const std::vector<Element>& all, const std::string& name) {
  std::vector<Element> out;
  for (const auto& e : all)
    if (const auto it = e.attributes.find("class"); it != e.attributes.end() && it->second == name)
      out.push_back(e);
  return out;
}

// "1.0,2.0 3.0,4.0 " as numbers.
std::vector<std::pair<double, double>> points_of(const Element& e) {
  std::vector<std::pair<double, double>> out;
  for (const auto pair : base::split(e.attributes.at("points"), ' ')) {
    if (pair.empty()) continue;
    const auto xy = base::split(pair, ',');
    EXPECT_THAT(xy, SizeIs(2));
    out.emplace_back(std::stod(std::string(xy[0])), std::stod(std::string(xy[1])));
  }
  return out;
}

TEST(Results, AreSixFiles) {
  std::vector<std::string> names;
  for (const auto& [name, _] : files(training(3))) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("curve.svg", "events.tfevents", "metrics.csv", "metrics.json",
                                 "model.safetensors", "trainer.json"));
}

TEST(Results, MetricsAreATableWithARowForEachEpoch) {
  const auto lines = lines_of(files(training(3)).at("metrics.csv"));
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[0],
            "epoch,seconds,samples,version,loss,validation_loss,accuracy,accuracy_mean,"
            "accuracy_low,accuracy_high,workers");
  EXPECT_EQ(lines[1], "1,1.500,1000,10,1,1.25,0.5,0.49,0.45,0.51,3");
  EXPECT_EQ(lines[2], "2,3.000,2000,20,0.5,0.625,0.75,0.74,0.7,0.76,3");
  EXPECT_THAT(lines_of(files(training(0)).at("metrics.csv")), SizeIs(1));
}

// An estimate of amounts: no accuracy, and less is better.
wire::Training estimates(int epochs) {
  auto out = training(epochs);
  out.figure = wire::TrainFigure{.name = "rmse", .below = true};
  out.target = 2'000;
  for (auto& r : out.rows) {
    const auto rmse = 12'000.0 / r.epoch;
    r.accuracy.reset();
    r.mean = rmse;
    r.low = 0.9 * rmse;
    r.high = 1.1 * rmse;
    r.metrics = {{"rmse", rmse}, {"r2", 1 - 0.5 / r.epoch}};
  }
  return out;
}

TEST(Results, MetricsOfATrainerWithoutAccuracyHaveColumnsOfTheirOwn) {
  auto t = estimates(2);
  t.rows[1].metrics.erase("r2");
  const auto lines = lines_of(files(t).at("metrics.csv"));
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines[0],
            "epoch,seconds,samples,version,loss,validation_loss,rmse_mean,rmse_low,rmse_high,"
            "workers,r2,rmse");
  EXPECT_EQ(lines[1], "1,1.500,1000,10,1,1.25,12000,10800,13200,3,0.5,12000");
  EXPECT_EQ(lines[2], "2,3.000,2000,20,0.5,0.625,6000,5400,6600,3,,6000");
  EXPECT_THAT(files(t).at("metrics.json"), Not(HasSubstr("\"accuracy\"")));
}

TEST(Results, MetricsAreJsonToo) {
  const auto t = training(2);
  const auto read = json::parse(files(t).at("metrics.json")).as_object();
  EXPECT_EQ(read.at("rule").as_string(), "fedbuff");
  EXPECT_EQ(read.at("reason").as_string(), t.reason);
  ASSERT_THAT(read.at("rows").as_array(), SizeIs(2));
  const auto& row = read.at("rows").as_array()[1].as_object();
  EXPECT_EQ(row.at("epoch").to_number<int>(), 2);
  EXPECT_EQ(row.at("accuracy").to_number<double>(), 0.75);
  EXPECT_EQ(row.at("samples").to_number<int>(), 2'000);
}

TEST(Results, TheTrainersConfigComesBackAsItWas) {
  EXPECT_EQ(json::parse(files(training(1)).at("trainer.json")),
            json::parse(R"({"model":"mlp","classes":3})"));
}

TEST(Results, TheModelIsReadableTensorByTensor) {
  const auto model = files(training(1)).at("model.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, model.data(), sizeof length);
  EXPECT_EQ(length % 8, 0u) << "so that the floats are aligned";
  const auto head = json::parse(model.substr(8, length)).as_object();
  EXPECT_EQ(head.at("zeta"), json::parse(R"({"dtype":"F32","shape":[2,3],"data_offsets":[0,24]})"));
  EXPECT_EQ(head.at("alpha"), json::parse(R"({"dtype":"F32","shape":[2],"data_offsets":[24,32]})"));
  const auto read = wire::read_safetensors(model, model.size());
  ASSERT_TRUE(read) << read.error().message;
  const auto* alpha = read->find("alpha");
  ASSERT_NE(alpha, nullptr);
  float values[2];
  std::memcpy(values, model.data() + read->data + alpha->begin, sizeof values);
  EXPECT_THAT(values, ElementsAre(7, 8));
}

TEST(Results, AModelOfManyBlocksIsWhole) {
  const std::size_t size = train::kBlock + 3;
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i);
  const train::Layout layout{{{"w", {static_cast<std::int64_t>(size)}}}};
  const auto model = model_file(layout, values);
  const auto read = wire::read_safetensors(model, model.size());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(std::memcmp(model.data() + read->data, values.data(), size * sizeof(float)), 0);
}

TEST(Curve, IsWellFormedWhateverThereIsToShow) {
  for (const auto epochs : {0, 1, 2, 12, 13, 40, 300}) {
    const auto svg = curve_svg(training(epochs));
    const auto all = parse_xml(svg);
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].name, "svg");
    EXPECT_EQ(all[0].attributes.at("xmlns"), "http://www.w3.org/2000/svg");
    EXPECT_THAT(of_class(all, "dot"), SizeIs(static_cast<std::size_t>(epochs)));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  }
}

TEST(Curve, ShowsTheMeanWithTheRangeOfItsChecksAndTheTarget) {
  const auto all = parse_xml(curve_svg(training(10)));
  const auto line = of_class(all, "line"), band = of_class(all, "band");
  ASSERT_THAT(line, SizeIs(1));
  ASSERT_THAT(band, SizeIs(1));
  EXPECT_THAT(of_class(all, "target"), SizeIs(1));
  const auto mean = points_of(line[0]), range = points_of(band[0]);
  ASSERT_THAT(mean, SizeIs(10));
  ASSERT_THAT(range, SizeIs(20));  // There above, back below.
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const auto& high = range[i];
    const auto& low = range[range.size() - 1 - i];
    EXPECT_EQ(high.first, mean[i].first);
    EXPECT_EQ(low.first, mean[i].first);
    // Pictures count from above.
    EXPECT_LT(high.second, mean[i].second);
    EXPECT_GT(low.second, mean[i].second);
    if (i > 0) EXPECT_GT(mean[i].first, mean[i - 1].first);
    if (i > 0) EXPECT_LT(mean[i].second, mean[i - 1].second);
  }
}

TEST(Curve, StaysInsideItsFrame) {
  for (const auto epochs : {1, 2, 7, 50}) {
    auto t = training(epochs);
    t.rows.back().high = 1;
    t.rows.front().low = 0;
    for (const auto& dot : of_class(parse_xml(curve_svg(t)), "dot")) {
      EXPECT_THAT(std::stod(dot.attributes.at("cx")), AllOf(Ge(56), Le(616)));
      EXPECT_THAT(std::stod(dot.attributes.at("cy")), AllOf(Ge(40), Le(320)));
    }
  }
}

TEST(Curve, ShowsAnyFigureOnAScaleThatFits) {
  for (const auto epochs : {1, 2, 7}) {
    auto t = estimates(epochs);
    const auto svg = curve_svg(t);
    EXPECT_THAT(svg, HasSubstr("rmse by epoch"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    const auto all = parse_xml(svg);
    EXPECT_THAT(of_class(all, "grid"), SizeIs(AllOf(Ge(3u), Le(13u))));
    for (const auto& dot : of_class(all, "dot"))
      EXPECT_THAT(std::stod(dot.attributes.at("cy")), AllOf(Ge(40), Le(320)));
    // An epoch whose checks did not have it leaves a gap.
    t.rows[0].mean.reset();
    EXPECT_THAT(of_class(parse_xml(curve_svg(t)), "dot"),
                SizeIs(static_cast<std::size_t>(epochs - 1)));
  }
}

TEST(Curve, WithoutATargetThereIsNoLineForIt) {
  auto t = training(3);
  t.target.reset();
  EXPECT_THAT(of_class(parse_xml(curve_svg(t)), "target"), SizeIs(0));
}

TEST(Curve, ATargetThatWasPassedIsStillInThePicture) {
  auto t = training(40);
  t.rows.erase(t.rows.begin(), t.rows.end() - 5);
  t.target = 0.5;
  const auto target = of_class(parse_xml(curve_svg(t)), "target");
  ASSERT_THAT(target, SizeIs(1));
  EXPECT_THAT(std::stod(target[0].attributes.at("y1")), AllOf(Ge(40), Le(320)));
}

}  // namespace
}  // namespace souk::hub
