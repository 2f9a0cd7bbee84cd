// Published tables, if the environment variable BERTH_DATA names a folder that contains them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/place.h"

namespace berth {
namespace {

class PublishedTables : public testing::Test {
 protected:
  // The tables in buffers/`name`, in order of their names; none if the data is missing.
  std::vector<Table> Read(const std::string& name) {
    std::vector<Table> tables;
    const char* const data = std::getenv("BERTH_DATA");
    if (data == nullptr) return tables;
    const auto folder = std::filesystem::path(data) / "buffers" / name;
    if (!std::filesystem::exists(folder)) return tables;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) {
      auto text = ReadFile(path.string());
      EXPECT_TRUE(text.has_value());
      auto table = ReadCsv(*text, path.filename().string());
      EXPECT_TRUE(table.has_value());
      tables.push_back(*table);
      names_.push_back(path.filename().string());
    }
    return tables;
  }

  std::vector<std::string> names_;
};

TEST_F(PublishedTables, MiniMallocsChallengesAreSolved) {
  std::vector<Table> tables = Read("challenging");
  if (tables.empty()) GTEST_SKIP() << "BERTH_DATA names no folder with buffers/challenging";
  std::int64_t nodes = 0;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Problem& problem = tables[t].problem;
    problem.capacity = 1048576;
    PlaceOptions options;
    options.algorithm = Algorithm::kCanonical;
    Budget budget;
    budget.SetNodeLimit(300'000);
    const auto answer = Place(problem, options, budget);
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->best.has_value());
    EXPECT_TRUE(ValidatePlacement(problem, PlacementOf(*answer->best)).has_value()) << names_[t];
    nodes += answer->nodes;
  }
  EXPECT_EQ(nodes, 446'282);  // As docs/algorithms/exact.md says.
}

TEST_F(PublishedTables, ModelsArePlacedOptimally) {
  std::vector<Table> tables = Read("models");
  if (tables.empty()) GTEST_SKIP() << "BERTH_DATA names no folder with buffers/models";
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Budget budget;
    budget.SetNodeLimit(5'000);
    const auto answer = Place(tables[t].problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->best.has_value());
    if (names_[t] == "inference_hmcos_darts_cifar.csv") {
      EXPECT_LE(answer->best->height(), 1'806'912);
    } else {
      EXPECT_EQ(answer->outcome, Outcome::kOptimal) << names_[t];
    }
  }
}

TEST_F(PublishedTables, LargeTablesComeCloseToTheirLoad) {
  std::vector<Table> tables = Read("large");
  if (tables.empty()) GTEST_SKIP() << "BERTH_DATA names no folder with buffers/large";
  for (std::size_t t = 0; t < tables.size(); ++t) {
    Budget budget;
    budget.SetNodeLimit(5'000);
    const auto answer = Place(tables[t].problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    ASSERT_TRUE(answer->best.has_value());
    EXPECT_LE(static_cast<double>(answer->best->height()),
              1.002 * static_cast<double>(answer->height_bound))
        << names_[t];
  }
}

}  // namespace
}  // namespace berth
