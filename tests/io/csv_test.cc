#include "base/csv.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "base/source.h"
#include "berth/io.h"
#include "tests/io/random_table.h"
#include "tests/io/reference_table.h"

namespace berth {
namespace {

using internal::RandomTable;

Problem Read(std::string_view text, Endpoints endpoints = Endpoints::kByColumnName) {
  const auto table = ReadCsv(text, "t.csv", {endpoints});
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return table ? table->problem : Problem();
}

Error Refuse(std::string_view text) {
  const auto table = ReadCsv(text, "t.csv");
  EXPECT_FALSE(table.has_value()) << text;
  return table ? Error{ErrorCode::kIo, "none"} : table.error();
}

std::vector<std::string> Ids(const Problem& problem) {
  std::vector<std::string> ids;
  for (const Buffer& buffer : problem.buffers) ids.push_back(buffer.id);
  return ids;
}

TEST(ReadCsvTest, ReadsEveryColumn) {
  const Problem problem = Read(
      "id,lower,upper,size,alignment,hint,gaps,offset\n"
      "a,-3,9,64,16,40,-2-0@1:3 4-6,32\n"
      "b,0,1,1,1,,,\n");
  ASSERT_EQ(problem.buffers.size(), 2u);
  const Buffer a{"a", -3, 9, 64, 16, 32, 40, {{-2, 0, Window{1, 3}}, {4, 6, std::nullopt}}};
  EXPECT_EQ(problem.buffers[0], a);
  EXPECT_EQ(problem.buffers[1], (Buffer{"b", 0, 1, 1, 1, {}, {}, {}}));
  EXPECT_EQ(problem.capacity, std::nullopt);
}

TEST(ReadCsvTest, QuotedFieldsHoldAnything) {
  const Problem problem = Read(
      "id,lower,upper,size\n"
      "\"conv,1\",0,1,1\n"
      "\"say \"\"hi\"\"\",0,1,1\n"
      "\"two\nlines\",0,1,1\n"
      "\"two\r\nlines\",0,1,1\n"
      "\"\"\"\",0,1,1\n"
      "\" padded \",0,1,1\n"
      "gr\xc3\xb6\xc3\x9f"
      "e,0,1,1\n"
      "in between,0,1,1\n");
  EXPECT_EQ(Ids(problem), (std::vector<std::string>{"conv,1", "say \"hi\"", "two\nlines",
                                                    "two\r\nlines", "\"", " padded ",
                                                    "gr\xc3\xb6\xc3\x9f"
                                                    "e",
                                                    "in between"}));
}

TEST(ReadCsvTest, LinesAreThoseOfAnEditor) {
  const auto table = ReadCsv(
      "\n"
      "id,lower,upper,size\r\n"
      "a,0,1,1\r\n"
      "\r\n"
      "\"b\n\nb\",0,1,1\n"
      "c,0,1,1",
      "t.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  EXPECT_EQ(table->lines, (std::vector<std::size_t>{3, 5, 8}));
}

TEST(ReadCsvTest, ColumnsOfErrorsCountCharacters) {
  EXPECT_EQ(
      Refuse("\xef\xbb\xbfsize,id,lower,upper\n1,\"\xc3\xb6\n\xc3\xb6\xf0\x9f\x98\x80\",x,1\n")
          .message,
      "t.csv:3:5: lower \"x\" is not a whole number");
}

TEST(ReadCsvTest, LifetimesByColumnName) {
  const Buffer half_open = Read("id,start,upper,size,gaps\na,2,5,1,3-4\n").buffers.at(0);
  EXPECT_EQ(half_open, (Buffer{"a", 2, 5, 1, 1, {}, {}, {{3, 4, {}}}}));
  const Buffer inclusive = Read("id,lower,end,size,gaps\na,2,5,1,3-4\n").buffers.at(0);
  EXPECT_EQ(inclusive, (Buffer{"a", 2, 6, 1, 1, {}, {}, {{3, 5, {}}}}));
}

TEST(ReadCsvTest, LifetimesAsAskedFor) {
  for (const char* text :
       {"id,lower,upper,size,gaps\na,2,9,1,3-5\n", "id,begin,end,size,gaps\na,2,9,1,3-5\n"}) {
    EXPECT_EQ(Read(text, Endpoints::kHalfOpen).buffers.at(0),
              (Buffer{"a", 2, 9, 1, 1, {}, {}, {{3, 5, {}}}}));
    EXPECT_EQ(Read(text, Endpoints::kInclusive).buffers.at(0),
              (Buffer{"a", 2, 10, 1, 1, {}, {}, {{3, 6, {}}}}));
    EXPECT_EQ(Read(text, Endpoints::kExclusive).buffers.at(0),
              (Buffer{"a", 3, 9, 1, 1, {}, {}, {{4, 5, {}}}}));
  }
}

TEST(ReadCsvTest, SingleSteps) {
  EXPECT_EQ(Read("id,start,end,size\na,7,7,1\n").buffers.at(0).end, 8);
  EXPECT_FALSE(ReadCsv("id,start,end,size\na,7,7,1\n", "t", {Endpoints::kHalfOpen}).has_value());
  EXPECT_FALSE(ReadCsv("id,start,end,size\na,7,8,1\n", "t", {Endpoints::kExclusive}).has_value());
}

TEST(ReadCsvTest, GapsOfNegativeSteps) {
  const Problem problem =
      Read("id,lower,upper,size,gaps\na,-9,9,8,\" -8--6  -5--3@0:8\t-3-2@7:8\"\n");
  EXPECT_EQ(problem.buffers.at(0).gaps,
            (std::vector<Gap>{{-8, -6, {}}, {-5, -3, Window{0, 8}}, {-3, 2, Window{7, 8}}}));
}

TEST(ReadCsvTest, TableWithoutRowsIsAProblemWithoutBuffers) {
  EXPECT_TRUE(Read("id,lower,upper,size").buffers.empty());
  EXPECT_TRUE(Read("size,upper,lower,id\r\n\r\n").buffers.empty());
}

TEST(ReadCsvTest, FaultsOfFormAndOfSubstance) {
  EXPECT_EQ(Refuse("id,lower,upper,size\na,0,1,x\n").code, ErrorCode::kParse);
  EXPECT_EQ(Refuse("id,lower,upper,size\na,0,1,0\n").code, ErrorCode::kInvalidProblem);
  EXPECT_EQ(Refuse("id,lower,upper,size\na,0,1,1\na,0,1,1\n").code, ErrorCode::kInvalidProblem);
}

TEST(ReadCsvTest, ErrorsSayWhatTheyAreAbout) {
  const auto subject = [](const std::string& rows) {
    return Refuse("id,lower,upper,size,offset\n" + rows).subject;
  };
  EXPECT_EQ(subject("\na,0,1,1,\nb,0,1,x,\n"), Subject::OfLine(4));
  EXPECT_EQ(subject("\na,0,1,1,\nb,0,1,0,\n"), Subject::OfBuffer(1));
  EXPECT_EQ(subject("a,0,1,1,\na,0,1,1,\n"), Subject::OfBuffer(1));
  EXPECT_EQ(subject("a,0,1,1,3\nb,0,1,1,1152921504606846976\nc,0,1,1,7\n"), Subject::OfBuffer(1));
  EXPECT_EQ(Refuse("id,lower\n").subject, Subject::OfLine(1));
}

TEST(CsvCellTest, ReadsBackAsItWas) {
  const std::string texts[] = {"",      "a",    "two words", " led",       "trailed ",
                               "\ttab", "a,b",  "\"",        "say \"no\"", "two\nlines",
                               "\r",    "\x01", "\"\"",      "\xc3\xa9"};
  std::string table;
  for (const std::string& text : texts) table += "x," + internal::CsvCell(text) + "\n";
  const internal::Source source(table, "t.csv");
  internal::CsvReader reader(source);
  for (const std::string& text : texts) {
    const auto more = reader.Next();
    ASSERT_TRUE(more.has_value() && *more) << text;
    ASSERT_EQ(reader.fields().size(), 2u) << text;
    EXPECT_EQ(reader.fields()[1].value, text);
  }
  EXPECT_EQ(internal::CsvCell("two words"), "two words");
  EXPECT_EQ(internal::CsvCell("say \"no\""), "\"say \"\"no\"\"\"");
}

TEST(ReadCsvTest, ReportsTheFirstFault) {
  EXPECT_EQ(Refuse("id,lower,upper,size\na,0,1,0\nb,x,1,1\n").message.substr(0, 9), "t.csv:2:7");
}

TEST(ReadCsvTest, ErrorsAreOneLineWhateverTheName) {
  const auto table = ReadCsv("", "a\nb\x1b[31m");
  ASSERT_FALSE(table.has_value());
  EXPECT_EQ(table.error().message.substr(0, 22), "a\\nb\\x1b[31m:1:1: the ");
}

// A damaged table is either read or rejected with the position of the error; it never crashes the
// reader.
TEST(ReadCsvTest, SurvivesDamage) {
  internal::Random random(1);
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    std::string text = WriteCsv(RandomTable(seed));
    const auto at =
        static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(text.size()) - 1));
    constexpr std::string_view kDamage = ",\"\n\r-9 @:\xff";
    switch (random.Uniform(0, 2)) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = kDamage[static_cast<std::size_t>(random.Uniform(0, kDamage.size() - 1))];
        break;
      default:
        text.insert(at, 1,
                    kDamage[static_cast<std::size_t>(random.Uniform(0, kDamage.size() - 1))]);
    }
    const auto table = ReadCsv(text, "t.csv");
    if (table) {
      EXPECT_TRUE(Validate(table->problem).has_value());
    } else {
      const std::string& message = table.error().message;
      EXPECT_EQ(message.substr(0, 6), "t.csv:");
      EXPECT_NE(message.find_first_of("123456789"), std::string::npos);
      EXPECT_EQ(message.find_first_of("\n\r"), std::string::npos);
    }
  }
}

// ReadCsv() gives the table of the simple reader, or an error of the same kind at the same place.
void ExpectAsReference(const std::string& text, Endpoints endpoints) {
  const auto expected = internal::ReadReferenceTable(text, endpoints);
  const auto table = ReadCsv(text, "t", {endpoints});
  const auto* const read = std::get_if<Table>(&expected);
  ASSERT_EQ(table.has_value(), read != nullptr)
      << (table ? "read, with a fault" : table.error().message) << "\n"
      << text;
  if (read != nullptr) {
    EXPECT_EQ(table->problem, read->problem) << text;
    EXPECT_EQ(table->lines, read->lines) << text;
    return;
  }
  const auto& fault = std::get<internal::TableFault>(expected);
  const std::string place = internal::PlaceInText(text, fault.position);
  const Error& error = table.error();
  EXPECT_EQ(error.message.substr(0, place.size() + 4), "t:" + place + ": ") << error.message << "\n"
                                                                            << text;
  EXPECT_EQ(error.code, fault.code) << error.message << "\n" << text;
  if (fault.buffer) {
    EXPECT_EQ(error.subject, Subject::OfBuffer(*fault.buffer)) << text;
  } else {
    EXPECT_EQ(error.subject, Subject::OfLine(std::stoul(place))) << text;
  }
}

// One character or piece more, less or another.
void Mutate(std::string& text, internal::Random& random) {
  using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)
  static constexpr std::string_view kPieces[] = {","sv,
                                                 "\""sv,
                                                 "\n"sv,
                                                 "\r"sv,
                                                 "\r\n"sv,
                                                 "-"sv,
                                                 "9"sv,
                                                 " "sv,
                                                 "\t"sv,
                                                 "@"sv,
                                                 ":"sv,
                                                 "a"sv,
                                                 "+"sv,
                                                 "0"sv,
                                                 "\n\n"sv,
                                                 ".5"sv,
                                                 "\xff"sv,
                                                 "\x1b"sv,
                                                 "\"\""sv,
                                                 ",,"sv,
                                                 "-1"sv,
                                                 "\xc3\xb6"sv,
                                                 "1152921504606846976"sv,
                                                 "999999999999999999"sv,
                                                 "99999999999999999999"sv};
  const auto at =
      static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(text.size())));
  const std::string_view piece =
      kPieces[static_cast<std::size_t>(random.Uniform(0, std::size(kPieces) - 1))];
  const std::size_t replaced = random.Chance(0.5) ? 0 : 1;
  text.replace(at, std::min(replaced, text.size() - at), random.Chance(0.2) ? ""sv : piece);
}

TEST(ReadCsvTest, ReadsAsTheSimpleReaderDoes) {
  internal::Random random(7);
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    SCOPED_TRACE(seed);
    const auto endpoints = static_cast<Endpoints>(seed % 4);
    std::string text = WriteCsv(RandomTable(seed));
    ExpectAsReference(text, endpoints);
    for (int mutations = 0; mutations < 4; ++mutations) {
      Mutate(text, random);
      if (text[0] != '{' && text[0] != '[') ExpectAsReference(text, endpoints);
    }
  }
}

// Ids are looked up some rows later than they are read, and room is made after some hundred rows:
// the first fault is still the one that is reported.
TEST(ReadCsvTest, ReportsTheFirstFaultOfManyRows) {
  internal::Random random(8);
  for (int round = 1; round <= 200; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t rows = random.Uniform(1, 1000);
    const std::int64_t ids = random.Chance(0.5) ? rows * rows : 2 * rows;
    std::string text = "id,lower,upper,size\n";
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t id = random.Chance(0.5) ? row : random.Uniform(rows, ids);
      text += std::to_string(id) + ",0,1," + (random.Uniform(0, rows) == 0 ? "x" : "1") + "\n";
    }
    ExpectAsReference(text, Endpoints::kHalfOpen);
    Mutate(text, random);
    ExpectAsReference(text, Endpoints::kHalfOpen);
  }
}

// Memory is reserved for rows as long as the first ones, but not as if all bytes of a long row were many.
TEST(ReadCsvTest, ShortRowsBeforeALongOneReserveLittle) {
  std::string csv = "id,lower,upper,size\n";
  constexpr std::size_t kShort = 300;
  for (std::size_t row = 0; row < kShort; ++row) csv += std::to_string(row) + ",0,1,4\n";
  csv += std::string(std::size_t{8} << 20, 'x') + ",0,1,4\n";
  const auto table = ReadCsv(csv, "long.csv");
  ASSERT_TRUE(table.has_value()) << table.error().message;
  ASSERT_EQ(table->problem.buffers.size(), kShort + 1);
  EXPECT_LE(table->problem.buffers.capacity(), 100 * kShort);
}

TEST(WriteCsvTest, LeavesOutUnusedColumns) {
  Problem problem;
  EXPECT_EQ(WriteCsv(problem), "id,lower,upper,size\n");
  problem.buffers = {{"a", 0, 3, 4, 1, {}, {}, {}}, {"b,\"", 1, 2, 5, 1, {}, {}, {}}};
  EXPECT_EQ(WriteCsv(problem), "id,lower,upper,size\na,0,3,4\n\"b,\"\"\",1,2,5\n");
  problem.buffers[1].alignment = 8;
  problem.buffers[1].offset = 16;
  problem.buffers[0].gaps = {{1, 2, Window{0, 2}}};
  EXPECT_EQ(WriteCsv(problem),
            "id,lower,upper,size,alignment,gaps,offset\n"
            "a,0,3,4,1,1-2@0:2,\n"
            "\"b,\"\"\",1,2,5,8,,16\n");
}

TEST(WriteCsvTest, HoldsAPlan) {
  Problem problem;
  problem.buffers = {{"a", 0, 3, 4, 1, {}, {}, {}}, {"b", 1, 2, 5, 1, {}, {}, {}}};
  const std::vector<Bytes> offsets = {5, 0};
  EXPECT_EQ(WriteCsv(problem, &offsets), "id,lower,upper,size,offset\na,0,3,4,5\nb,1,2,5,0\n");
}

TEST(WriteCsvTest, ReadsBackAsItWas) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = RandomTable(seed);
    ASSERT_TRUE(Validate(problem).has_value()) << Validate(problem).error().message;
    const std::string text = WriteCsv(problem);
    const auto table = ReadCsv(text, "t.csv");
    ASSERT_TRUE(table.has_value()) << table.error().message << "\n" << text;
    EXPECT_EQ(table->problem, problem) << text;
    EXPECT_EQ(WriteCsv(table->problem), text);
  }
}

TEST(ReadCsvTest, ReadsPublishedTables) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with published tables";
  const std::filesystem::path folder = std::filesystem::path(data) / "buffers";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no tables in " << folder;
  std::size_t tables = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    SCOPED_TRACE(entry.path());
    const auto text = ReadFile(entry.path());
    ASSERT_TRUE(text.has_value()) << text.error().message;
    const auto table = ReadCsv(*text, entry.path().string());
    ASSERT_TRUE(table.has_value()) << table.error().message;
    EXPECT_FALSE(table->problem.buffers.empty());
    EXPECT_EQ(WriteCsv(table->problem), *text);
    ++tables;
  }
  EXPECT_GE(tables, 1u);
}

}  // namespace
}  // namespace berth
