#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "job/train/formats/format.h"

namespace souk::job {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Formats : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("souk-formats-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view bytes) {
    const auto path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }
  // What went wrong, without the folder.
  std::string says(const DataSource& source) {
    const auto data = load_data(source, {});
    if (data) return "";
    auto out = data.error().message + "; " + data.error().hint;
    for (std::size_t at; (at = out.find(folder_.string() + "/")) != std::string::npos;)
      out.erase(at, folder_.string().size() + 1);
    return out;
  }
  fs::path folder_;
};

std::vector<float> floats(const train::Dataset& data) {
  std::vector<float> out(data.x.size() / sizeof(float));
  std::memcpy(out.data(), data.x.data(), out.size() * sizeof(float));
  return out;
}

TEST_F(Formats, EveryRowHasItsNameOnceAndWords) {
  std::set<std::string_view> names;
  for (const auto& format : formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_FALSE(format.what.empty());
    EXPECT_EQ(*find_format(format.name), &format);
  }
  EXPECT_THAT(find_format("xls").error().hint, HasSubstr("csv, jsonl, npz, images, idx"));
}

TEST_F(Formats, AmountsOfATableBecomeShardsOfFloats) {
  const auto train = write("a.csv", "x,c,y\n1,red,2.5\n3,blue,4\n");
  const auto test = write("t.csv", "x,c,y\n5,red,6\n");
  const auto data = load_data({.format = "csv",
                               .train = {train},
                               .test = {test},
                               .target = "y",
                               .columns = {{"c", train::ColumnKind::category}}},
                              {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(floats(data->train), ElementsAre(1, 0, 1, 3, 1, 0));
  EXPECT_THAT(data->train.amounts, ElementsAre(2.5F, 4));
  EXPECT_THAT(floats(data->test), ElementsAre(5, 0, 1));
  const auto file = shard_file(data->train);
  EXPECT_THAT(file, HasSubstr(R"("y":{"dtype":"F32","shape":[2])"));
  float last = 0;
  std::memcpy(&last, file.data() + file.size() - sizeof last, sizeof last);
  EXPECT_EQ(last, 4);
}

TEST_F(Formats, SeveralTablesAreOneAndEachErrorNamesItsFile) {
  const auto a = write("a.csv", "x,y\n1,no\n"), b = write("b.csv", "x,y\n2,yes\n3,no\n");
  const auto data = load_data({.format = "csv", .train = {a, b}, .test = {a}, .label = "y"}, {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(data->train.y, ElementsAre(0, 1, 0));
  EXPECT_THAT(data->train.names, ElementsAre("no", "yes"));
  const auto bad = write("c.csv", "x,y\n\n4,no\nfour,yes\n");
  EXPECT_THAT(says({.format = "csv", .train = {a, bad}, .label = "y"}),
              HasSubstr("c.csv: line 4, column 'x': 'four' is not a number"));
  const auto other = write("d.csv", "z,y\n1,no\n");
  EXPECT_THAT(says({.format = "csv", .train = {a, other}}),
              HasSubstr("d.csv: it has other columns than a.csv"));
}

TEST_F(Formats, ObjectsOfJsonAreATable) {
  const auto path =
      write("a.jsonl", R"({"area": 50, "new": true, "quarter": "hill", "price": 250000.5})"
                       "\n\n"
                       R"({"price": 3e5, "area": 7.5, "quarter": "mill", "new": false})"
                       "\n");
  const auto data = load_data({.format = "jsonl",
                               .train = {path},
                               .test = {path},
                               .target = "price",
                               .columns = {{"quarter", train::ColumnKind::category}}},
                              {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(floats(data->train), ElementsAre(50, 1, 1, 0, 7.5, 0, 0, 1));
  EXPECT_THAT(data->train.amounts, ElementsAre(250000.5F, 300000));
}

TEST_F(Formats, AFieldOfTextIsText) {
  const auto path = write("a.jsonl", "{\"body\":\"one\"}\n{\"body\":\"t\\u00e4\",\"n\":2}\n");
  const auto data =
      load_data({.format = "jsonl", .train = {path}, .test = {path}, .text = "body"}, {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->train.x, "one\nt\xc3\xa4\n");
  EXPECT_TRUE(data->train.is_text());
  EXPECT_EQ(says({.format = "jsonl", .train = {path}, .text = "n"}),
            "a.jsonl: line 1 has no text in the field 'n'; name a field that every line has with "
            "text:");
}

TEST_F(Formats, ALineOfJsonThatDoesNotFitIsNamed) {
  for (const auto& [text, told] : std::initializer_list<std::pair<const char*, const char*>>{
           {"{\"a\":1,\"b\":2}\n{\"a\":1}\n", "a.jsonl: line 2 has no field 'b'"},
           {"{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2,\"c\":3}\n",
            "a.jsonl: line 2 has 3 fields, not 2"},
           {"{\"a\":1,\"b\":2}\n{\"a\":[1],\"b\":2}\n", "a.jsonl: line 2, field 'a' is neither"},
           {"{\"a\":1,\"b\":2}\n{\"a\":\n", "a.jsonl: line 2: "},
           {"[1,2]\n", "a.jsonl: line 1 is not an object"},
           {"{\"a\":1}\n", "an object needs a feature and a label"},
           {"\n", "a.jsonl: the file has no rows"},
           {"{\"a\":1,\"b\":\"x\"}\n{\"a\":\"y\",\"b\":\"x\"}\n",
            "a.jsonl: line 2, column 'a': 'y' is not a number"}})
    EXPECT_THAT(says({.format = "jsonl", .train = {write("a.jsonl", text)}}), HasSubstr(told))
        << text;
}

// --- NumPy's archives ---------------------------------------------------------------------------

template <class Number>
std::string little(Number n) {
  return {reinterpret_cast<const char*>(&n), sizeof n};
}

// As numpy.save writes it.
template <class Number>
std::string npy(const std::string& dtype, const std::string& shape,
                const std::vector<Number>& values) {
  auto head = "{'descr': '" + dtype + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((head.size() + 11) % 64 != 0) head += ' ';
  head += '\n';
  std::string out =
      std::string("\x93NUMPY\1\0", 8) + little(static_cast<std::uint16_t>(head.size())) + head;
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  return out;
}

// As numpy.savez writes it; `method` 8 is compressed.
std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays,
                std::uint16_t method = 0) {
  std::string out, directory;
  for (const auto& [name, bytes] : arrays) {
    const auto file = name + ".npy";
    const auto size = little(static_cast<std::uint32_t>(bytes.size()));
    const auto at = little(static_cast<std::uint32_t>(out.size()));
    const auto length = little(static_cast<std::uint16_t>(file.size()));
    const auto zeros = [](std::size_t n) { return std::string(n, '\0'); };
    out += "PK\3\4" + zeros(4) + little(method) + zeros(8) + size + size + length +
           little(std::uint16_t{4}) + file + "xtra" + bytes;
    directory += "PK\1\2" + zeros(6) + little(method) + zeros(8) + size + size + length + zeros(4) +
                 zeros(8) + at + file;
  }
  const auto count = little(static_cast<std::uint16_t>(arrays.size()));
  return out + directory + "PK\5\6" + std::string(4, '\0') + count + count +
         little(static_cast<std::uint32_t>(directory.size())) +
         little(static_cast<std::uint32_t>(out.size())) + std::string(2, '\0');
}

TEST_F(Formats, ArraysOfNumPyAreSamples) {
  const auto x = npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6});
  const auto path = write("a.npz", npz({{"x", x},
                                        {"y", npy<std::int64_t>("<i8", "(3,)", {0, 2, 1})},
                                        {"price", npy<double>("<f8", "(3,)", {0.5, 1.5, -2})}}));
  const auto classes = load_data({.format = "npz", .train = {path}, .test = {path}}, {});
  ASSERT_TRUE(classes) << classes.error().message;
  EXPECT_THAT(classes->train.shape, ElementsAre(2));
  EXPECT_THAT(floats(classes->train), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(classes->train.y, ElementsAre(0, 2, 1));
  const auto amounts =
      load_data({.format = "npz", .train = {path, path}, .test = {path}, .target = "price"}, {});
  ASSERT_TRUE(amounts) << amounts.error().message;
  EXPECT_THAT(amounts->train.amounts, ElementsAre(0.5F, 1.5F, -2, 0.5F, 1.5F, -2));
  const auto pictures =
      write("p.npz", npz({{"x", npy<std::uint8_t>("|u1", "(1, 2, 2)", {0, 1, 2, 255})},
                          {"y", npy<std::uint8_t>("|u1", "(1,)", {3})}}));
  const auto grey = load_data({.format = "npz", .train = {pictures}, .test = {pictures}}, {});
  ASSERT_TRUE(grey) << grey.error().message;
  EXPECT_EQ(grey->train.dtype, "U8");
  EXPECT_THAT(grey->train.shape, ElementsAre(1, 2, 2));
}

TEST_F(Formats, AnArchiveThatDoesNotFitIsNamed) {
  const auto x = npy<float>("<f4", "(2, 1)", {1, 2});
  const auto y = npy<std::int64_t>("<i8", "(2,)", {0, 1});
  const auto told = [&](const std::string& bytes, DataSource source = {}) {
    source.format = "npz";
    source.train = {write("a.npz", bytes)};
    return says(source);
  };
  EXPECT_THAT(told(npz({{"x", x}, {"y", y}}, 8)), HasSubstr("numpy.savez, not"));
  EXPECT_THAT(told(npz({{"x", x}})), HasSubstr("a.npz: there is no array 'y' among x"));
  EXPECT_THAT(
      told(npz({{"x", x}, {"y", npy<double>("<f8", "(2,)", {0, 0.5})}})),
      HasSubstr("row 1 of the array 'y' is 0.5; a label is a whole number from 0; for amounts "
                "use target: y"));
  EXPECT_THAT(told(npz({{"x", x}, {"y", npy<std::int64_t>("<i8", "(3,)", {0, 1, 2})}})),
              HasSubstr("'x' has the shape (2, 1) and 'y' (3)"));
  EXPECT_THAT(told(npz({{"x", npy<float>("<f4", "(2, 1)", {1, NAN})}, {"y", y}})),
              HasSubstr("row 1 of the array 'x' has a number that is not finite"));
  EXPECT_THAT(told(npz({{"x", npy<float>("<c8", "(1, 1)", {1, 2})}, {"y", y}})),
              HasSubstr("the array 'x' is of '<c8'"));
  EXPECT_THAT(told(npz({{"x", npy<float>("<f4", "(4611686018427387904, 4)", {1, 2})}, {"y", y}})),
              HasSubstr("another size than its shape"));
  EXPECT_THAT(told("PK\5\6"), HasSubstr("it is not an npz file"));
  // Every beginning, and every byte turned over: refused or read, never worse.
  const auto whole = npz({{"x", x}, {"y", y}});
  train::Words words;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto turned = whole;
    turned[i] = static_cast<char>(~turned[i]);
    for (const auto& bytes : {whole.substr(0, i), turned})
      if (const auto read = read_npz_files({.format = "npz"}, {{"a.npz", bytes}}, words))
        EXPECT_EQ(read->x.size(), static_cast<std::size_t>(read->samples()) * read->sample_bytes());
  }
}

// --- Folders of pictures ------------------------------------------------------------------------

TEST_F(Formats, AFolderOfPicturesForEachClass) {
  write("train/cat/1.pgm", std::string("P5\n# a comment\n2 1\n255\n\x01\x02"));
  write("train/dog/1.pgm", std::string("P5 2 1 255\n\x03\x04"));
  write("train/dog/2.pgm", std::string("P5 2 1 255\n\x05\x06"));
  write("train/.hidden/x", "x");
  write("test/dog/1.pgm", std::string("P5 2 1 255\n\x07\x08"));
  const auto in = [&](const char* name) { return (folder_ / name).string(); };
  const auto data =
      load_data({.format = "images", .train = {in("train")}, .test = {in("test")}}, {});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_THAT(data->train.shape, ElementsAre(1, 1, 2));
  EXPECT_THAT(data->train.y, ElementsAre(0, 1, 1));
  EXPECT_THAT(data->train.names, ElementsAre("cat", "dog"));
  EXPECT_EQ(data->train.x, "\1\2\3\4\5\6");
  EXPECT_THAT(data->test.y, ElementsAre(1));
  write("colour/red/1.ppm", std::string("P6 2 1 255\n\x01\x02\x03\x04\x05\x06"));
  const auto colour =
      load_data({.format = "images", .train = {in("colour")}, .test = {in("colour")}}, {});
  ASSERT_TRUE(colour) << colour.error().message;
  EXPECT_EQ(colour->train.x, "\1\4\2\5\3\6");  // Planes.
  EXPECT_THAT(colour->train.shape, ElementsAre(3, 1, 2));
}

TEST_F(Formats, APictureThatDoesNotFitIsNamed) {
  const auto in = [&](const char* name) { return (folder_ / name).string(); };
  const DataSource source{.format = "images", .train = {in("d")}};
  EXPECT_THAT(says(source), HasSubstr("cannot read d"));
  write("d/file", "x");
  EXPECT_THAT(says(source), HasSubstr("d has no folders"));
  write("d/a/1.pgm", std::string("P5 2 1 255\n\x01\x02"));
  write("d/a/2.png", "\x89PNG");
  EXPECT_THAT(says(source),
              HasSubstr("d/a/2.png: it is not a binary PGM or PPM picture; convert it"));
  fs::remove(in("d/a/2.png"));
  const auto two = write("d/a/2.pgm", "P5 1 1 255\n\x01");
  EXPECT_THAT(says(source),
              HasSubstr("d/a/2.pgm: it has the shape 1x1x1, and the pictures before it 1x1x2"));
  for (const auto* bytes :
       {"P5 2 1 255\n\x01", "P5 99999 99999 255\n\x01", "P5 2 1 65535\n\x01\x02", "P5",
        "P5 -1 1 255\n", "P5 2 1 255", "P5 #"}) {
    write("d/a/2.pgm", bytes);
    EXPECT_THAT(says(source), HasSubstr("d/a/2.pgm: it")) << bytes;
  }
  fs::remove(two);
  fs::create_symlink("/dev/zero", in("d/a/3.pgm"));  // Not followed.
  EXPECT_EQ(says(source), "");
}

}  // namespace
}  // namespace souk::job
