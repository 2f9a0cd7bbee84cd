// Recorded steps are asked again as they were recorded: the recorder writes the same table of a replay. And the
// steps of the two networks whose training is measured (docs/howto/reproduce-the-papers.md) follow their plans.
#include "tools/lab/bench/replay.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "berth/io.h"
#include "berth/place.h"
#include "tests/lab/lab_process.h"

namespace berth::lab {
namespace {

std::string KeptPlan(const std::string& network) {
  return BERTH_SOURCE_DIR "/bench/results/runtime/" + network + "-plan.csv";
}

// Without offsets: what was recorded.
Problem ReadTable(const std::string& path) {
  const auto text = ReadFile(path);
  EXPECT_TRUE(text.has_value()) << path;
  const auto table = ReadCsv(text.value_or(""), path);
  EXPECT_TRUE(table.has_value()) << table.error().message;
  Problem problem = table ? table->problem : Problem{};
  for (Buffer& buffer : problem.buffers) buffer.offset.reset();
  return problem;
}

std::uint64_t Departures(const berth_arena_report& report) {
  return std::accumulate(std::begin(report.departures), std::end(report.departures),
                         std::uint64_t{0});
}

class ReplayTest : public cli::CommandTest {
 protected:
  // What the recorder writes of the third of five such steps. Requests without a row are never given back.
  [[nodiscard]] Problem RecordAgain(const RecordedStep& step) const {
    const std::unique_ptr<berth_recorder, decltype(&berth_recorder_free)> recorder(
        berth_recorder_new(3), berth_recorder_free);
    std::vector<std::uintptr_t> blocks(step.requests.size());
    std::uintptr_t last = 0;
    for (int round = 0; round < 5; ++round) {
      berth_recorder_step(recorder.get());
      for (const RecordedStep::Event& event : step.events) {
        const RecordedStep::Request& request = step.requests[event.request];
        if (event.release) {
          if (request.planned && blocks[event.request] != 0) {
            berth_recorder_released(recorder.get(), Pointer(blocks[event.request]));
          }
          continue;
        }
        blocks[event.request] = last += 64;
        berth_recorder_allocated(recorder.get(), Pointer(last),
                                 static_cast<std::size_t>(request.size),
                                 static_cast<std::size_t>(request.alignment));
      }
    }
    const std::string path = Path("again.csv");
    EXPECT_TRUE(berth_recorder_write(recorder.get(), path.c_str(), nullptr));
    return ReadTable(path);
  }

 private:
  // The recorder never reads what is there.
  static const void* Pointer(std::uintptr_t address) {
    return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
};

TEST_F(ReplayTest, FollowsTheTable) {
  const std::string table = Write("step.csv",
                                  "id,lower,upper,size,alignment,gaps\n"
                                  "r0,0,3,10,64,\n"     // Given back before the last request.
                                  "r2,0,4,20,64,1-2\n"  // Of the step before, until request 1.
                                  "r3,0,4,30,64,\n");   // Until the same request comes again.
  const auto step = ReadStep(ReadTable(table));
  ASSERT_TRUE(step.has_value()) << step.error().message;
  std::string events;
  for (const RecordedStep::Event& event : step->events) {
    events += (event.release ? '-' : '+') + std::to_string(event.request) + ' ';
  }
  EXPECT_EQ(events, "+0 -2 +1 -1 +2 -0 -3 +3 ");
  EXPECT_FALSE(step->requests[1].planned);
  EXPECT_EQ(step->requests[3].size, 30);
  EXPECT_EQ(RecordAgain(*step), ReadTable(table));
}

TEST_F(ReplayTest, RefusesWhatNoRecorderWrites) {
  const auto refused = [this](const std::string& rows) {
    const auto step =
        ReadStep(ReadTable(Write("bad.csv", "id,lower,upper,size,alignment,gaps\n" + rows)));
    EXPECT_FALSE(step.has_value()) << rows;
    return step ? "" : step.error().message;
  };
  const std::string id = ": an id such as r12 is wanted, the number of a request";
  EXPECT_EQ(refused("conv,0,1,4,64,\n"), "buffer conv" + id);
  EXPECT_EQ(refused("r16777216,0,1,4,64,\n"), "buffer r16777216" + id);
  EXPECT_EQ(refused("r1x,0,1,4,64,\n"), "buffer r1x" + id);
  EXPECT_EQ(refused("r0,0,1,4,64,\nr00,0,1,4,64,\n"), "buffer r00: this request has a row already");
  const std::string lifetime = ": no recorded step has this lifetime";
  EXPECT_EQ(refused("r1,2,3,4,64,\n"), "buffer r1" + lifetime);
  EXPECT_EQ(refused("r5,0,3,4,64,\n"), "buffer r5" + lifetime);
  EXPECT_EQ(refused("r5,0,9,4,64,2-4\n"), "buffer r5" + lifetime);
  EXPECT_EQ(refused("r5,0,9,4,64,1-2 3-5\n"), "buffer r5" + lifetime);
}

// What the C library serves of real training, without PyTorch.
TEST_F(ReplayTest, TrainingFollowsItsPlan) {
  struct Expected {
    const char* network;
    std::uint64_t requests;  // Of a step, in the plan.
    std::uint64_t bytes;
  };
  constexpr int kRounds = 5;
  for (const auto& [network, requests, bytes] :
       {Expected{"convolutions", 3224, 130'627'780}, Expected{"transformer", 869, 164'397'060}}) {
    SCOPED_TRACE(network);
    const Problem table = ReadTable(KeptPlan(network));
    EXPECT_EQ(table.buffers.size(), requests);
    const auto step = ReadStep(table);
    ASSERT_TRUE(step.has_value()) << step.error().message;
    EXPECT_EQ(RecordAgain(*step), table);

    const auto replayed = Replay(KeptPlan(network), kRounds);
    ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
    EXPECT_EQ(replayed->requests, requests + 3);  // The batch, its labels, and the loss.
    EXPECT_EQ(replayed->report.steps, kRounds);
    EXPECT_EQ(replayed->report.served, kRounds * requests);
    EXPECT_EQ(replayed->report.not_planned, kRounds * 3);
    EXPECT_EQ(replayed->report.bytes, bytes);
    EXPECT_EQ(replayed->report.bad_releases, 0U);
    EXPECT_EQ(Departures(replayed->report), 0U);
    EXPECT_EQ(replayed->arena_seconds.size(), kRounds);
    EXPECT_EQ(replayed->system_seconds.size(), kRounds);

    Budget budget;
    const auto answer = Place(table, {}, budget);
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->outcome, Outcome::kOptimal);
    EXPECT_EQ(static_cast<std::uint64_t>(answer->best->height()), bytes);
  }
}

TEST_F(ReplayTest, CommandSaysWhetherThePlanIsFollowed) {
  const std::string head = "id,lower,upper,size,alignment,gaps,offset\n";
  const std::string good = Write("good.csv", head + "r0,0,2,100,64,,0\nr1,1,2,64,64,,128\n");
  const ProcessResult kept = Lab({"replay", good, "--rounds", "7", "-o", Path("rows.csv")});
  EXPECT_EQ(kept.exit_code, 0) << kept.standard_error;
  const std::string rows = Read(Path("rows.csv"));
  EXPECT_EQ(rows.substr(0, rows.find('\n')),
            "plan,steps,step_requests,served,not_planned,arena_bytes,departures,"
            "plan_median_seconds,plan_least_seconds,c_library_median_seconds,"
            "c_library_least_seconds");
  EXPECT_NE(rows.find("\ngood,7,2,14,0,192,0,"), std::string::npos) << rows;
  // Offsets at which two blocks share bytes: the second is refused in each step.
  const std::string bad = Write("bad.csv", head + "r0,0,2,100,64,,0\nr1,1,2,64,64,,64\n");
  const ProcessResult departed = Lab({"replay", bad, "--rounds", "7", "-o", Path("rows.csv")});
  EXPECT_EQ(departed.exit_code, 1) << departed.standard_error;
  EXPECT_NE(Read(Path("rows.csv")).find("\nbad,7,2,7,0,128,7,"), std::string::npos)
      << Read(Path("rows.csv"));
  ExpectRefused(Lab({"replay", Write("none.csv", "id,lower,upper,size\nr0,0,2,100\n")}),
                "columns id, size and offset");
  ExpectRefused(Lab({"replay", Path("absent.csv")}), "absent.csv");
}

}  // namespace
}  // namespace berth::lab
