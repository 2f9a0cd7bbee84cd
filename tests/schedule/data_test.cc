// Whole training steps with known least peaks, if the environment variable BERTH_DATA names a
// folder that contains them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/schedule.h"
#include "tools/verify/verify.h"

namespace berth::internal::schedule {
namespace {

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

TEST(ScheduleData, TrainingStepsReachTheirKnownPeaks) {
  const char* const data = std::getenv("BERTH_DATA");
  if (data == nullptr) GTEST_SKIP() << "BERTH_DATA names no folder with graphs";
  std::ifstream peaks(std::string(data) + "/reference/peaks.csv");
  ASSERT_TRUE(peaks) << "no reference/peaks.csv";
  std::string line;
  std::getline(peaks, line);
  int graphs = 0;
  while (std::getline(peaks, line)) {
    const std::vector<std::string> row = Split(line);
    ASSERT_EQ(row.size(), 8u) << line;
    if (row[0].rfind("training_", 0) != 0) continue;
    SCOPED_TRACE(row[0]);
    std::ifstream file(std::string(data) + "/graphs/training/" + row[0].substr(9) + ".json");
    ASSERT_TRUE(file);
    std::ostringstream text;
    text << file.rdbuf();
    const auto graph = ReadGraphJson(text.str(), row[0]);
    ASSERT_TRUE(graph.has_value()) << graph.error().message;
    const auto by = [&](ScheduleAlgorithm algorithm) {
      ScheduleOptions options;
      options.algorithm = algorithm;
      Budget budget;
      auto answer = Schedule(*graph, options, budget);
      EXPECT_TRUE(answer.has_value());
      const verify::PlanReport report = verify::VerifyOrder(*graph, answer->best->order);
      EXPECT_TRUE(report.ok());
      EXPECT_EQ(report.peak, answer->best->peak());
      return *std::move(answer);
    };
    EXPECT_EQ(by(ScheduleAlgorithm::kProgram).best->peak(), std::stoll(row[3]));
    EXPECT_EQ(by(ScheduleAlgorithm::kHoistedUpdates).best->peak(), std::stoll(row[4]));
    const PlanAnswer answer = by(ScheduleAlgorithm::kAuto);
    EXPECT_EQ(answer.outcome, Outcome::kOptimal);
    EXPECT_EQ(answer.best->peak(), std::stoll(row[7]));
    EXPECT_LE(answer.nodes, 20'000);
    ++graphs;
  }
  EXPECT_GE(graphs, 18);
}

}  // namespace
}  // namespace berth::internal::schedule
