// berth_repack() gives what Repack() does.

#include "berth/repack.h"

#include <berth/berth.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/budget.h"
#include "berth/memories.h"
#include "testing/memories_oracle.h"
#include "testing/seeds.h"

namespace berth::internal {
namespace {

// A random problem of what arrays can say, with previous places of any kind: some are no plan.
MemoryProblem RandomProblem(std::uint64_t seed) {
  MemoryProblem problem = RandomMemoryProblem(seed);
  Random random(seed);
  for (Memory& memory : problem.memories) {
    memory = {.name = memory.name, .capacity = memory.capacity, .reserved = memory.reserved};
  }
  for (Buffer& buffer : problem.table.buffers) {
    buffer = {buffer.id, buffer.start, buffer.end, buffer.size};
  }
  problem.placing.assign(problem.table.buffers.size(), {});
  for (Placing& placing : problem.placing) {
    for (std::size_t m = 0; m < problem.memories.size(); ++m) {
      placing.candidates.push_back({m, random.Uniform(0, 9), {}});
    }
    if (random.Chance(0.5)) placing.cost_left_out = random.Uniform(0, 30);
    if (random.Chance(0.6)) {
      const auto last = static_cast<std::int64_t>(problem.memories.size()) - 1;
      placing.previous = Previous{static_cast<std::size_t>(random.Uniform(0, last)),
                                  random.Uniform(0, 8), random.Uniform(0, 3)};
    }
  }
  return problem;
}

// The same as arrays, which this keeps.
class Arrays {
 public:
  explicit Arrays(const MemoryProblem& problem)
      : table_(berth_problem_new(), berth_problem_free),
        groups_(problem.table.buffers.size(), BERTH_NONE),
        distances_(problem.table.buffers.size(), 0) {
    for (const Buffer& buffer : problem.table.buffers) {
      EXPECT_EQ(berth_problem_add(table_.get(), buffer.id.c_str(), buffer.start, buffer.end,
                                  buffer.size, buffer.alignment, nullptr, nullptr),
                BERTH_OK);
    }
    for (std::size_t m = 0; m < problem.memories.size(); ++m) {
      capacities_.push_back(problem.memories[m].capacity.value_or(-1));
      for (const Reserved& range : problem.memories[m].reserved) {
        reserved_.insert(reserved_.end(), {static_cast<std::int64_t>(m), range.lower, range.upper,
                                           range.start, range.end});
      }
    }
    for (const Placing& placing : problem.placing) {
      for (const Candidate& candidate : placing.candidates) costs_.push_back(candidate.cost);
      left_out_.push_back(placing.cost_left_out.value_or(-1));
      const Previous nowhere;
      const Previous& previous = placing.previous ? *placing.previous : nowhere;
      previous_.push_back(placing.previous ? static_cast<std::int64_t>(previous.memory) : -1);
      at_.push_back(previous.offset);
      moves_.push_back(previous.move_cost);
    }
    for (std::size_t g = 0; g < problem.together.size(); ++g) {
      for (const Member& member : problem.together[g]) {
        groups_[member.buffer] = g;
        distances_[member.buffer] = member.distance;
      }
    }
    for (const Apart& pair : problem.apart) {
      apart_.insert(apart_.end(), {pair.first, pair.second});
      different_.push_back(pair.different_memories ? 1 : 0);
    }
  }

  [[nodiscard]] const berth_problem* table() const { return table_.get(); }
  [[nodiscard]] berth_memories memories() const {
    berth_memories given{};
    given.struct_size = sizeof given;
    given.memories = capacities_.size();
    given.capacities = capacities_.data();
    given.reserved = reserved_.data();
    given.reserved_count = reserved_.size() / 5;
    given.costs = costs_.data();
    given.costs_left_out = left_out_.data();
    given.previous_memories = previous_.data();
    given.previous_offsets = at_.data();
    given.move_costs = moves_.data();
    given.groups = groups_.data();
    given.distances = distances_.data();
    given.apart = apart_.data();
    given.apart_count = different_.size();
    given.apart_memories = different_.data();
    return given;
  }

 private:
  std::unique_ptr<berth_problem, void (*)(berth_problem*)> table_;
  std::vector<std::int64_t> capacities_, reserved_, costs_, left_out_, previous_, at_, moves_;
  std::vector<std::size_t> groups_;
  std::vector<std::int64_t> distances_;
  std::vector<std::size_t> apart_;
  std::vector<std::int8_t> different_;
};

struct Answer {
  std::vector<std::int64_t> chosen, offsets;
  berth_memories_summary summary{};
  std::string error;
};

Answer RepackInC(const MemoryProblem& problem, const RepackOptions& wanted) {
  const std::unique_ptr<berth_options, void (*)(berth_options*)> options(berth_options_new(),
                                                                         berth_options_free);
  const auto set = [&](const char* name, const std::string& value) {
    EXPECT_EQ(berth_options_set(options.get(), name, value.c_str(), nullptr), BERTH_OK) << name;
  };
  if (wanted.most_moved) set("most_moved", std::to_string(*wanted.most_moved));
  set("exchange", wanted.exchange ? "on" : "off");
  set("place_nodes", std::to_string(wanted.place_nodes));
  const std::size_t count = problem.table.buffers.size();
  Answer answer{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count), {}, {}};
  answer.summary.struct_size = sizeof answer.summary;
  const Arrays arrays(problem);
  const berth_memories memories = arrays.memories();
  berth_error* error = nullptr;
  const berth_status status =
      berth_repack(arrays.table(), &memories, options.get(), answer.chosen.data(),
                   answer.offsets.data(), &answer.summary, &error);
  EXPECT_EQ(status == BERTH_OK, error == nullptr);
  answer.error = berth_error_message(error);
  berth_error_free(error);
  return answer;
}

// Equal to what C++ finds, in every number.
void Compare(std::uint64_t seed, int& refused, int& limited) {
  const MemoryProblem problem = RandomProblem(seed);
  SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + ToCpp(problem));
  RepackOptions options;
  if (seed % 2 == 0) options.most_moved = static_cast<Bytes>(seed / 2 % 8);
  if (seed % 5 == 0) options.exchange = false;
  if (seed % 7 == 0) options.place_nodes = 0;
  const Answer found = RepackInC(problem, options);
  Budget budget;
  const Result<PlanAnswer> expected = Repack(problem, options, budget);
  if (!expected) {
    ++refused;
    EXPECT_EQ(found.error, expected.error().message);
    return;
  }
  ASSERT_EQ(found.error, "");
  ASSERT_TRUE(expected->best.has_value());
  std::vector<std::int64_t> chosen(found.chosen.size(), -1);
  std::vector<std::int64_t> offsets = chosen;
  for (const Residency& residency : expected->best->residencies) {
    chosen[residency.tensor] = residency.memory;
    offsets[residency.tensor] = residency.offset;
  }
  EXPECT_EQ(found.chosen, chosen);
  EXPECT_EQ(found.offsets, offsets);
  const PlanCost& cost = expected->best->cost;
  EXPECT_EQ(found.summary.unplaced, cost.unplaced);
  EXPECT_EQ(found.summary.unplaced_bound, expected->cost_bound.unplaced);
  EXPECT_EQ(found.summary.cost, cost.cost);
  EXPECT_EQ(found.summary.cost_bound, expected->cost_bound.cost);
  EXPECT_EQ(found.summary.moved, cost.moved);
  EXPECT_EQ(static_cast<int>(found.summary.outcome), static_cast<int>(expected->outcome));
  EXPECT_EQ(found.summary.nodes, expected->nodes);
  if (!options.most_moved) return;
  EXPECT_LE(found.summary.moved, *options.most_moved);
  // With any number of moves the plan is another: the limit arrives.
  const Bytes most = *std::exchange(options.most_moved, std::nullopt);
  if (RepackInC(problem, options).summary.moved > most) ++limited;
}

TEST(RepackOfC, GivesWhatRepackDoes) {
  constexpr std::uint64_t kCases = 1000;
  int refused = 0;
  int limited = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(kCases); ++seed) {
    Compare(seed, refused, limited);
    if (HasFailure()) return;
  }
  const int cases = static_cast<int>(Seeds(kCases));
  EXPECT_LT(refused, cases / 2);
  EXPECT_GT(limited, cases / 50);
  RecordProperty("refused", refused);
  RecordProperty("limited", limited);
}

}  // namespace
}  // namespace berth::internal
