// berth_place_in_memories(), berth_repack() and berth_find_displaced() give what PlaceInMemories(),
// Repack() and FindDisplaced() do, whatever the problem has.

#include "berth/memories.h"

#include <berth/berth.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "berth/budget.h"
#include "berth/displaced.h"
#include "berth/repack.h"
#include "testing/memories_oracle.h"
#include "testing/seeds.h"

namespace berth::internal {
namespace {

using Numbers = std::vector<std::int64_t>;

// Candidates in the order of the arrays: any offset, by memory, then single ones. More often than not with
// a previous place, which may be none. Some break a rule.
MemoryProblem RandomProblem(std::uint64_t seed) {
  MemoryProblem problem = RandomMemoryProblem(seed);
  Random random(seed);
  for (Memory& memory : problem.memories) {
    if (random.Chance(0.5)) memory.base = random.Uniform(0, 3) * (random.Chance(0.95) ? 12 : 1);
  }
  problem.placing.resize(problem.table.buffers.size());
  for (Placing& placing : problem.placing) {
    std::stable_partition(placing.candidates.begin(), placing.candidates.end(),
                          [](const Candidate& each) { return !each.offset; });
    if (placing.previous || !random.Chance(0.5)) continue;
    const auto last = static_cast<std::int64_t>(problem.memories.size()) - 1;
    placing.previous = Previous{static_cast<std::size_t>(random.Uniform(0, last)),
                                random.Uniform(0, 8), random.Uniform(0, 3)};
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
    for (const Buffer& buffer : problem.table.buffers) Add(buffer);
    for (const Memory& memory : problem.memories) Add(memory);
    for (std::size_t b = 0; b < problem.placing.size(); ++b) Add(problem, b);
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
    given.alignments = alignments_.data();
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
    given.names = names_.data();
    given.bases = bases_.data();
    given.read_costs = rates_[0].data();
    given.read_bytes = rates_[1].data();
    given.write_costs = rates_[2].data();
    given.write_bytes = rates_[3].data();
    given.access_costs = rates_[4].data();
    given.bytes_read = uses_[0].data();
    given.bytes_written = uses_[1].data();
    given.accesses = uses_[2].data();
    given.places = places_.data();
    given.place_count = places_.size() / 4;
    return given;
  }

 private:
  void Add(const Buffer& buffer) {
    std::size_t index = 0;
    EXPECT_EQ(berth_problem_add(table_.get(), buffer.id.c_str(), buffer.start, buffer.end,
                                buffer.size, buffer.alignment, &index, nullptr),
              BERTH_OK);
    for (const Gap& gap : buffer.gaps) {
      const Window window = gap.window.value_or(Window{-1, -1});
      EXPECT_EQ(berth_problem_add_gap(table_.get(), index, gap.start, gap.end, window.lower,
                                      window.upper, nullptr),
                BERTH_OK);
    }
    if (!buffer.offset) return;
    EXPECT_EQ(berth_problem_pin(table_.get(), index, *buffer.offset, nullptr), BERTH_OK);
  }

  void Add(const Memory& memory) {
    for (const Reserved& range : memory.reserved) {
      reserved_.insert(reserved_.end(), {static_cast<std::int64_t>(capacities_.size()), range.lower,
                                         range.upper, range.start, range.end});
    }
    capacities_.push_back(memory.capacity.value_or(-1));
    alignments_.push_back(memory.alignment);
    names_.push_back(memory.name.c_str());
    bases_.push_back(memory.base);
    const Numbers rates = {memory.read.cost, memory.read.bytes, memory.write.cost,
                           memory.write.bytes, memory.access};
    for (std::size_t i = 0; i < rates.size(); ++i) rates_[i].push_back(rates[i]);
  }

  void Add(const MemoryProblem& problem, std::size_t b) {
    const Placing& placing = problem.placing[b];
    Numbers row(problem.memories.size(), placing.candidates.empty() ? BERTH_BY_USES : -1);
    for (const Candidate& each : placing.candidates) {
      if (each.offset) {
        places_.insert(places_.end(),
                       {static_cast<std::int64_t>(b), static_cast<std::int64_t>(each.memory),
                        *each.offset, each.cost});
        continue;
      }
      // Either way to say what it costs.
      const bool by_uses = each.cost == CostOfUses(placing, problem.memories[each.memory]);
      row[each.memory] = by_uses ? BERTH_BY_USES : each.cost;
    }
    costs_.insert(costs_.end(), row.begin(), row.end());
    uses_[0].push_back(placing.bytes_read);
    uses_[1].push_back(placing.bytes_written);
    uses_[2].push_back(placing.accesses);
    left_out_.push_back(placing.cost_left_out.value_or(-1));
    const Previous previous = placing.previous.value_or(Previous());
    previous_.push_back(placing.previous ? static_cast<std::int64_t>(previous.memory) : -1);
    at_.push_back(previous.offset);
    moves_.push_back(previous.move_cost);
  }

  std::unique_ptr<berth_problem, void (*)(berth_problem*)> table_;
  Numbers capacities_, alignments_, reserved_, costs_, left_out_, previous_, at_, moves_, bases_;
  Numbers rates_[5], uses_[3], places_;
  std::vector<const char*> names_;
  std::vector<std::size_t> groups_;
  Numbers distances_;
  std::vector<std::size_t> apart_;
  std::vector<std::int8_t> different_;
};

using Options = std::unique_ptr<berth_options, void (*)(berth_options*)>;

struct Answer {
  Numbers chosen, offsets;
  berth_memories_summary summary{};
  std::string error;
};

// One of the two searches in C, with its options.
Answer SearchInC(const MemoryProblem& problem, decltype(&berth_repack) search,
                 const std::vector<std::pair<const char*, std::string>>& values) {
  const Options options(berth_options_new(), berth_options_free);
  for (const auto& [name, value] : values) {
    EXPECT_EQ(berth_options_set(options.get(), name, value.c_str(), nullptr), BERTH_OK) << name;
  }
  const std::size_t count = problem.table.buffers.size();
  Answer answer{Numbers(count), Numbers(count), {}, {}};
  answer.summary.struct_size = sizeof answer.summary;
  const Arrays arrays(problem);
  const berth_memories memories = arrays.memories();
  berth_error* error = nullptr;
  const berth_status status = search(arrays.table(), &memories, options.get(), answer.chosen.data(),
                                     answer.offsets.data(), &answer.summary, &error);
  EXPECT_EQ(status == BERTH_OK, error == nullptr);
  answer.error = berth_error_message(error);
  berth_error_free(error);
  return answer;
}

std::pair<Numbers, Numbers> PlacesOf(const MemoryPlan& plan, std::size_t count) {
  Numbers chosen(count, -1);
  Numbers offsets = chosen;
  for (const Residency& residency : plan.residencies) {
    chosen[residency.tensor] = residency.memory;
    offsets[residency.tensor] = residency.offset;
  }
  return {chosen, offsets};
}

// Equal in every number. False: both refuse the problem.
bool AreEqual(const Answer& found, const Result<PlanAnswer>& expected) {
  EXPECT_EQ(found.error, expected ? "" : expected.error().message);
  if (!expected || testing::Test::HasFailure()) return false;
  const auto [chosen, offsets] = PlacesOf(*expected->best, found.chosen.size());
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
  return true;
}

constexpr std::uint64_t kCases = 1000;

// Runs `compare` for the problem of each seed, and says how many it counts.
int CountCases(const std::function<bool(std::uint64_t, const MemoryProblem&)>& compare) {
  int counted = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(kCases) && !testing::Test::HasFailure(); ++seed) {
    const MemoryProblem problem = RandomProblem(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + ToCpp(problem));
    counted += compare(seed, problem) ? 1 : 0;
  }
  return counted;
}

TEST(MemoriesOfC, PlaceAsInCpp) {
  const int placed = CountCases([](std::uint64_t, const MemoryProblem& problem) {
    Budget budget;
    return AreEqual(SearchInC(problem, berth_place_in_memories, {}),
                    PlaceInMemories(problem, {}, budget));
  });
  EXPECT_GT(placed, static_cast<int>(Seeds(kCases)) / 2);
}

TEST(MemoriesOfC, RepackAsInCpp) {
  int limited = 0;
  const int repacked = CountCases([&](std::uint64_t seed, const MemoryProblem& problem) {
    RepackOptions options;
    if (seed % 2 == 0) options.most_moved = static_cast<Bytes>(seed / 2 % 8);
    if (seed % 5 == 0) options.exchange = false;
    if (seed % 7 == 0) options.place_nodes = 0;
    std::vector<std::pair<const char*, std::string>> values = {
        {"exchange", options.exchange ? "on" : "off"},
        {"place_nodes", std::to_string(options.place_nodes)}};
    const std::string most =
        options.most_moved ? std::to_string(*options.most_moved) : std::string("none");
    values.emplace_back("most_moved", most);
    Budget budget;
    const bool valid =
        AreEqual(SearchInC(problem, berth_repack, values), Repack(problem, options, budget));
    if (!valid || !options.most_moved) return valid;
    // With any number of moves the plan is another: the limit arrives.
    values.back().second = "none";
    if (SearchInC(problem, berth_repack, values).summary.moved > *options.most_moved) ++limited;
    return true;
  });
  EXPECT_GT(repacked, static_cast<int>(Seeds(kCases)) / 2);
  EXPECT_GE(limited, 1);
}

void ExpectEqual(const berth_displaced& found, const Displaced& expected,
                 const std::vector<Buffer>& buffers) {
  EXPECT_EQ(std::vector<std::size_t>(found.buffers, found.buffers + found.buffer_count),
            expected.buffers);
  EXPECT_EQ(found.start, buffers[expected.buffers.front()].start);
  EXPECT_EQ(found.end, buffers[expected.buffers.front()].end);
  EXPECT_EQ(found.memory, expected.memory.value_or(BERTH_NONE));
  EXPECT_EQ(found.cheaper, expected.cheaper);
  EXPECT_EQ(found.cost, expected.cost);
  EXPECT_EQ(found.least, expected.least);
  EXPECT_EQ(found.must != 0, expected.must);
  EXPECT_EQ(berth_obstacle_name(found.obstacle), ToString(expected.reason));
  EXPECT_EQ(found.has_step != 0, expected.step.has_value());
  EXPECT_EQ(found.step, expected.step.value_or(0));
  EXPECT_EQ(found.free, expected.free);
  EXPECT_EQ(found.needed, expected.needed);
  EXPECT_EQ(found.offset, expected.offset.value_or(-1));
  EXPECT_EQ(std::vector<std::size_t>(found.in_the_way, found.in_the_way + found.in_the_way_count),
            expected.in_the_way);
  EXPECT_EQ(found.saved, expected.saved.value_or(-1));
}

// How many entries there are; with one entry fewer asked for, the last one is missing.
std::size_t CompareDisplaced(const MemoryProblem& problem, const MemoryPlan& plan) {
  const auto expected = FindDisplaced(problem, plan, 1000);
  const Arrays arrays(problem);
  const berth_memories memories = arrays.memories();
  const auto [chosen, offsets] = PlacesOf(plan, problem.table.buffers.size());
  std::size_t last = expected->size();
  for (const std::size_t most : {std::size_t{1000}, std::max<std::size_t>(last, 1) - 1}) {
    berth_displacements* found = nullptr;
    EXPECT_EQ(berth_find_displaced(arrays.table(), &memories, chosen.data(), offsets.data(), most,
                                   &found, nullptr),
              BERTH_OK);
    EXPECT_EQ(berth_displacements_count(found), std::min(last, most));
    for (std::size_t i = 0; i < berth_displacements_count(found); ++i) {
      berth_displaced entry{};
      entry.struct_size = sizeof entry;
      EXPECT_EQ(berth_displacements_at(found, i, &entry, nullptr), BERTH_OK);
      ExpectEqual(entry, (*expected)[i], problem.table.buffers);
    }
    berth_displacements_free(found);
  }
  return last;
}

TEST(MemoriesOfC, ExplainAsInCpp) {
  std::size_t entries = 0;
  const int explained = CountCases([&](std::uint64_t seed, const MemoryProblem& problem) {
    Budget budget;
    // A plan with little care leaves more to explain.
    RepackOptions careless;
    careless.exchange = false;
    careless.place_nodes = 0;
    const auto answer =
        seed % 2 == 0 ? Repack(problem, careless, budget) : PlaceInMemories(problem, {}, budget);
    if (!answer) return false;
    entries += CompareDisplaced(problem, *answer->best);
    return true;
  });
  EXPECT_GT(explained, static_cast<int>(Seeds(kCases)) / 2);
  EXPECT_GT(entries, Seeds(kCases) / 10);
}

}  // namespace
}  // namespace berth::internal
