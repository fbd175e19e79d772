#include "wire/yaml.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/random.h"
#include "wire/testing/samples.h"

namespace souk::wire {
namespace {

constexpr std::string_view kJob = R"(# A job.
name: digits
class: c4
job: j17
budget: 0.4
workers:
  min: 1
  max: 8
small: -3
big: 0xff
ratio: .25
deadline: 2027-03-01T22:00:00Z
windows:
  - from: 2027-03-01T22:00:00Z
    length: 1h30m
  - {from: "2027-03-02T22:00:00Z", length: 90s}
prices:
  c1: 0.1
extra: [1, no, ~]
)";

std::string job_with(std::string_view from, std::string_view to) {
  std::string text(kJob);
  const auto at = text.find(from);
  CHECK(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string refusal(std::string_view text) {
  const auto result = from_yaml<testing::Sample>(text, "job.yaml");
  return result ? "accepted" : one_line(result.error());
}

std::string value_of(std::string_view text) {
  const auto document = parse_yaml(text, "f");
  if (!document) return one_line(document.error());
  std::string out;
  write_value(out, document->value);
  return out;
}

TEST(Yaml, AJobFileReadsLikeItsJson) {
  const auto s = from_yaml<testing::Sample>(kJob, "job.yaml");
  ASSERT_TRUE(s) << one_line(s.error());
  EXPECT_EQ(s->budget, base::Credits(400'000));
  EXPECT_EQ(s->workers.max, 8);
  EXPECT_EQ(s->big, 255u);
  EXPECT_EQ(s->ratio, 0.25);
  EXPECT_EQ(s->windows[0].length, base::minutes(90));
  EXPECT_EQ(s->windows[1].length, base::seconds(90));
  EXPECT_EQ(s->prices.at("c1"), base::Credits(100'000));
  EXPECT_EQ(s->extra.text, R"([1,"no",null])");
}

TEST(Yaml, ErrorsNameFileLineKeyAndHint) {
  const struct {
    std::string_view from, to, line;
  } table[] = {
      {"budget: 0.4", "bugdet: 0.4", "job.yaml:5: unknown key 'bugdet' (did you mean 'budget'?)"},
      {"  max: 8", "  mx: 8", "job.yaml:8: unknown key 'workers.mx' (did you mean 'max'?)"},
      {"  max: 8\n", "", "job.yaml:6: missing key 'workers.max' (it takes a whole number)"},
      {"budget: 0.4\n", "", "job.yaml:2: missing key 'budget' (it takes an amount of credits)"},
      {"name: digits", "name: 12", "job.yaml:2: name: 12 is not a text (put it in quotes: \"12\")"},
      {"  min: 1", "  min: one",
       "job.yaml:7: workers.min: \"one\" is not a whole number (write a whole number from 0 to "
       "65535)"},
      {"length: 90s", "lenght: 90s",
       "job.yaml:16: unknown key 'windows[1].lenght' (did you mean 'length'?)"},
      {"length: 1h30m", "length: 90",
       "job.yaml:15: windows[0].length: 90 is not a length of time (write for example 90s, 30m, "
       "1.5h or 2d12h (at most 10 years))"},
      {"ratio: .25", "name: again", "job.yaml:11: key 'name' appears twice (write each key once)"},
      {"  max: 8", "  max: 8\n  min: 2",
       "job.yaml:9: key 'workers.min' appears twice (write each key once)"},
      {"ratio: .25", "ratio: .inf",
       "job.yaml:11: '.inf' is not a finite number (put it in quotes if it is a text)"},
      {"name: digits", "name: !secret digits",
       "job.yaml:2: tag '!secret' is not supported (leave the tag out)"},
      {"name: digits", "? [a, b]\n: c", "job.yaml:2: this key is not a text (write `key: value`)"},
  };
  for (const auto& row : table) EXPECT_EQ(refusal(job_with(row.from, row.to)), row.line);
}

TEST(Yaml, SyntaxErrorsAndStrayDocumentsNameTheirLine) {
  EXPECT_TRUE(refusal("name: [1, 2\nclass: x\n").starts_with("job.yaml:2: not valid YAML: "));
  EXPECT_EQ(refusal("name: a\n---\nname: b\n"),
            "job.yaml:2: a second document starts here (keep one document in a file)");
  EXPECT_EQ(refusal(""), "job.yaml:1: the file is empty (write `key: value` lines)");
  EXPECT_EQ(refusal("# only a comment\n"),
            "job.yaml:1: the file is empty (write `key: value` lines)");
  EXPECT_EQ(refusal("name: a\nclass: \xff\n"),
            "job.yaml:2: this line is not plain UTF-8 text (save the file as UTF-8)");
  EXPECT_EQ(refusal(std::string_view("n\0a", 3)),
            "job.yaml:1: this line is not plain UTF-8 text (save the file as UTF-8)");
  EXPECT_EQ(refusal("- a\n"), "job.yaml:1: the document: a list is not an object (write {...})");
}

// The core schema of YAML 1.2.2, section 10.3.2.
TEST(Yaml, ScalarsHaveTheTypesOfYaml12) {
  const struct {
    std::string_view yaml, json;
  } table[] = {
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"nULL", "\"nULL\""},
      {"true", "true"},
      {"True", "true"},
      {"FALSE", "false"},
      {"tRUE", "\"tRUE\""},
      {"yes", "\"yes\""},
      {"no", "\"no\""},
      {"on", "\"on\""},
      {"12", "12"},
      {"+12", "12"},
      {"-12", "-12"},
      {"012", "12"},
      {"0o14", "12"},
      {"0xC", "12"},
      {"0x", "\"0x\""},
      {"0o8", "\"0o8\""},
      {"1_000", "\"1_000\""},
      {"1.5", "1.5"},
      {"1.", "1"},
      {".5", "0.5"},
      {"-.5", "-0.5"},
      {"1e3", "1000"},
      {"+1.5E-1", "0.15"},
      {"1e", "\"1e\""},
      {".", "\".\""},
      {"1:30", "\"1:30\""},
      {"1.2.3", "\"1.2.3\""},
      {"- 1", "[1]"},
      {"-", "[null]"},
      {"'12'", "\"12\""},
      {"\"true\"", "\"true\""},
      {"!!str 12", "\"12\""},
      {"18446744073709551615", "18446744073709551615"},
      {"2027-03-01", "\"2027-03-01\""},
      {"{a: }", "{\"a\":null}"},
      {"{1: 2}", "{\"1\":2}"},
      {"|\n  a\n  b\n", "\"a\\nb\\n\""},
      {"\xef\xbb\xbf"
       "a: 1",
       "{\"a\":1}"},
  };
  for (const auto& row : table) EXPECT_EQ(value_of(row.yaml), row.json) << row.yaml;
}

TEST(Yaml, AliasesWorkAndTheirErrorsPointAtTheAlias) {
  EXPECT_EQ(value_of("a: &x {b: [1, 2]}\nc: *x\nd: [*x]\n"),
            R"({"a":{"b":[1,2]},"c":{"b":[1,2]},"d":[{"b":[1,2]}]})");
  const auto text = job_with("workers:\n  min: 1\n  max: 8\n", "workers: &w {min: 1, max: 8}\n") +
                    "spare: *w\nprices2: *w\n";
  EXPECT_EQ(refusal(text).substr(0, 35), "job.yaml:19: unknown key 'prices2' ");
  EXPECT_EQ(refusal(job_with("workers:\n  min: 1\n  max: 8\n", "color: &w {a: b}\nworkers: *w\n")),
            "job.yaml:7: unknown key 'workers.a' (one of: min, max)");
}

TEST(Yaml, ABombOfAliasesIsRefusedBeforeItExpands) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += "*a" + std::to_string(i - 1) + (k < 9 ? ", " : "]\n");
  }
  EXPECT_EQ(value_of(text),
            "f:5: the document has more than 100000 values (aliases count as what they stand for)");
  EXPECT_EQ(value_of("a: &a [*a]\n"),
            "f:1: an alias refers to a value that contains it (write it out)");
  EXPECT_TRUE(value_of("a: *nobody\n").starts_with("f:1: not valid YAML"));
}

// A value is one, however long its text is: half a megabyte, a hundred thousand times. Keys count
// as texts do; one key is at most 1024 bytes long.
TEST(Yaml, ABombOfOneLongTextIsRefusedBeforeItExpands) {
  std::string text = "a: &a " + std::string(500'000, 'x') + "\nb: [";
  for (int i = 0; i < 90'000; ++i) text += "*a,";
  EXPECT_EQ(value_of(text + "]\n"),
            "f:2: aliases stand for more than 1048576 bytes (use them for less, or less often)");
  std::string keys = "a: &a {";
  for (int i = 0; i < 600; ++i) keys += std::string(1'000, 'k') + std::to_string(i) + ": 1, ";
  EXPECT_EQ(value_of(keys + "}\nb: [*a, *a]\n").substr(0, 14), "f:2: aliases s");
}

TEST(Yaml, ManyValuesUnderALongPathTakeLittleMemory) {
  std::string text, indent;
  for (int i = 0; i < 30; ++i, indent += ' ') text += indent + std::string(64, 'k') + ":\n";
  for (int i = 0; i < 20'000; ++i) text += indent + "- 1\n";
  const auto document = parse_yaml(text, "f");
  ASSERT_TRUE(document) << document.error().message;
  std::size_t bytes = 0;
  for (const auto& [path, line] : document->lines) bytes += path.size();
  EXPECT_LE(bytes, 8U << 20);
  EXPECT_EQ(document->lines.begin()->second, 1);
}

TEST(Yaml, SizeAndDepthAreBounded) {
  const auto nest = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_EQ(value_of(nest(kMaxDepth)), nest(kMaxDepth));
  EXPECT_EQ(value_of(nest(kMaxDepth + 1)),
            "f:1: lists and maps are nested more than 32 deep (use fewer levels)");
  EXPECT_FALSE(parse_yaml(std::string(100'000, '['), "f"));
  EXPECT_FALSE(parse_yaml(std::string(100'000, '{'), "f"));
  std::string deep = "a0: &a0 [1]\n";
  for (int i = 1; i < 40; ++i)
    deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            "]\n";
  EXPECT_NE(value_of(deep).find("nested more than 32 deep"), std::string::npos);
  const auto large = parse_yaml(std::string(kMaxYamlBytes + 1, ' '), "f");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, base::Code::too_large);
}

TEST(Yaml, FilesAreReadWhole) {
  const auto path = ::testing::TempDir() + "souk_yaml_test.yaml";
  std::ofstream(path) << kJob;
  EXPECT_TRUE(load_yaml<testing::Sample>(path));
  std::ofstream(path) << job_with("budget", "bugdet");
  const auto bad = load_yaml<testing::Sample>(path);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, path + ":5: unknown key 'bugdet'");
  EXPECT_EQ(bad.error().field, "bugdet");
  std::ofstream(path) << std::string(kMaxYamlBytes + 1, '#');
  EXPECT_EQ(load_yaml<testing::Sample>(path).error().code, base::Code::too_large);
  std::remove(path.c_str());
  EXPECT_EQ(load_yaml<testing::Sample>(path).error().code, base::Code::not_found);
  EXPECT_FALSE(load_yaml<testing::Sample>(::testing::TempDir()));
}

// JSON is YAML, so every JSON text must mean the same read as either.
TEST(Yaml, JsonReadAsYamlMeansTheSame) {
  base::Random random(1);
  for (int i = 0; i < 300; ++i) {
    const auto sample = testing::random_sample(random);
    const auto text = to_json(sample);
    const auto back = from_yaml<testing::Sample>(text, "f");
    ASSERT_TRUE(back) << one_line(back.error()) << "\n" << text;
    ASSERT_EQ(*back, sample) << text;
  }
}

TEST(Yaml, NoInputCrashesTheReader) {
  base::Random random(2);
  constexpr std::string_view alphabet = "ab:-[]{}&*!|>'\"#%@`,? \n\t~0.9\\\r";
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    if (random.chance(2)) {
      for (auto n = random.below(60); n > 0; --n) text += alphabet[random.below(alphabet.size())];
    } else {
      text = kJob;
      for (auto n = 1 + random.below(6); n > 0; --n)
        text[random.below(text.size())] = alphabet[random.below(alphabet.size())];
    }
    const auto result = from_yaml<testing::Sample>(text, "f");
    if (!result) EXPECT_TRUE(result.error().message.starts_with("f:")) << result.error().message;
  }
}

}  // namespace
}  // namespace souk::wire
