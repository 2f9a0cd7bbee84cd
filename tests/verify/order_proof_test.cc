// Proofs of orders: what the search logs, the checker accepts; what is false, it refuses.
//
// Whatever the checker accepts must be true. So the least peaks of random graphs are known from the
// oracle, their proofs are changed at random, graph and claim included, and each change that is still
// accepted has to be true of the graph that it states, by enumerating all sets of operators.

#include "tools/verify/order_proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "berth/graph_io.h"
#include "berth/plan.h"
#include "berth/prove.h"
#include "berth/schedule.h"
#include "graph/topology.h"
#include "schedule/certificate.h"
#include "schedule/compile.h"
#include "schedule/instance.h"
#include "schedule/precedence.h"
#include "schedule/probe.h"
#include "schedule/state_log.h"
#include "schedule/window.h"
#include "testing/lines.h"
#include "testing/order_oracle.h"
#include "testing/random_graph.h"
#include "testing/seeds.h"
#include "tools/generate/graphs.h"
#include "tools/verify/graph_json.h"

namespace berth::verify {
namespace {

using internal::AllGraphKnobs;
using internal::GraphKnobs;
using internal::Join;
using internal::Lines;
using internal::OracleSchedule;
using internal::Random;
using internal::RandomGraph;
using internal::Seeds;
using internal::Split;

// Sizes are known, but may count as 0.
GraphKnobs Knobs(std::uint64_t seed) {
  GraphKnobs knobs = seed % 3 == 0 ? GraphKnobs{} : AllGraphKnobs();
  knobs.unplanned_chance = 0;
  knobs.min_operators = seed % 2 == 0 ? 6 : 1;
  knobs.far_chance = 0.7;
  if (seed % 5 == 0) knobs.output_chance = 0.3;
  return knobs;
}

struct Case {
  Graph graph;
  Counting counting;
  PlanAnswer answer;
  Bytes least = 0;  // By the oracle.
};

Case SolvedCase(std::uint64_t seed) {
  Case made;
  made.graph = RandomGraph(seed, Knobs(seed));
  made.counting = {seed % 7 == 0, seed % 4 == 0};
  ScheduleOptions options;
  options.counting = made.counting;
  Budget budget;
  made.answer = *Schedule(made.graph, options, budget);
  made.least = OracleSchedule(made.graph, made.counting).peak;
  return made;
}

enum class Rules { kAll, kConstraints, kStates };

std::optional<std::string> ProofOf(const Case& made, Rules rules = Rules::kAll) {
  OrderProofOptions options;
  options.counting = made.counting;
  options.constraints = rules != Rules::kStates;
  options.states = rules != Rules::kConstraints;
  Budget budget;
  budget.SetNodeLimit(1'000'000);
  const auto proof = ProveOrder(made.graph, made.answer, options, budget);
  EXPECT_TRUE(proof.has_value()) << proof.error().message;
  EXPECT_NE(proof->text.has_value(), proof->missing.has_value());
  return proof->text;
}

// How often each first word of a line comes.
void CountWords(const std::string& proof, std::map<std::string, int>& words) {
  for (const std::string& line : Split(proof)) ++words[line.substr(0, line.find(' '))];
}

// The same claim by states in one direction, below constraints or not, whatever ProveOrder() would choose.
std::optional<std::string> ProofByStates(const Case& made, bool backwards, bool constrained) {
  using namespace internal::schedule;  // NOLINT(google-build-using-namespace)
  const auto whole = ProofOf(made);
  if (!whole) return std::nullopt;
  std::string text = whole->substr(0, whole->find("proof\n", whole->find("\norder"))) + "proof\n";
  const Instance instance = InstanceOf(internal::Compile(made.graph, made.counting));
  const Bytes limit = made.least - 1;
  Budget budget;
  std::vector<Certificates::Constraint> edges;
  if (constrained) {
    Prober prober(instance, Precedence(instance), limit);
    (void)prober.Run(1'000'000, 1, budget);
    edges = prober.precedence().added();
    EXPECT_TRUE(Certificates(instance, edges, limit, budget).WriteConstraints(text));
  }
  for (Op v = 0; v < instance.num_ops; ++v) {
    for (const Op p : instance.predecessors[v]) edges.emplace_back(p, v);
  }
  const Instance all = MakeInstance(instance.num_ops, instance.base, edges, instance.buffers);
  const Instance reversed = Reversed(all);
  StateLog log(backwards ? reversed : all, limit, backwards);
  const std::vector<Op> order(made.answer.best->order.begin(), made.answer.best->order.end());
  for (const auto& from : log.Beginnings(order)) {
    if (log.Run(from, 10'000, std::size_t{1} << 30, budget) != StateLog::Verdict::kRefuted)
      continue;
    log.Write({}, text);
    return text + "end\n";
  }
  return std::nullopt;
}

// A claim that a window of the order proves by itself: the largest of a few, if any.
std::optional<std::string> ProofByWindow(const Case& made, std::uint64_t seed) {
  using namespace internal::schedule;  // NOLINT(google-build-using-namespace)
  const auto whole = ProofOf(made);
  const std::size_t n = made.graph.operators.size();
  if (!whole || n < 2) return std::nullopt;
  const Instance instance = InstanceOf(internal::Compile(made.graph, made.counting));
  const std::vector<Op> order(made.answer.best->order.begin(), made.answer.best->order.end());
  std::vector<Op> position(n);
  for (std::size_t k = 0; k < n; ++k) position[order[k]] = static_cast<Op>(k);
  Random random(seed);
  const auto last = static_cast<std::int64_t>(n) - 1;
  const auto begin = static_cast<std::size_t>(random.Uniform(0, last / 2));
  const auto end = static_cast<std::size_t>(random.Uniform(last / 2 + 1, last + 1));
  const std::vector<Op> names(order.begin() + static_cast<std::ptrdiff_t>(begin),
                              order.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<Op> sequence;
  for (Op v = 0; v < names.size(); ++v) sequence.push_back(v);
  const Instance part = Part(instance, order, position, begin, end);
  const bool backwards = random.Chance(0.5);
  const Instance reversed = Reversed(part);
  Budget budget;
  for (Bytes limit = made.least; limit >= std::max<Bytes>(0, made.least - 8); --limit) {
    StateLog log(backwards ? reversed : part, limit, backwards);
    for (const auto& from : log.Beginnings(sequence)) {
      if (log.Run(from, 10'000, std::size_t{1} << 30, budget) != StateLog::Verdict::kRefuted) {
        continue;
      }
      EXPECT_LT(limit, made.least);
      Lines lines = Split(whole->substr(0, whole->find("\nproof\n") + 1) + "proof\n");
      lines[1] = "claim infeasible " + std::to_string(limit);
      std::erase_if(lines, [](const std::string& line) { return line.rfind("order", 0) == 0; });
      std::string text = Join(lines);
      log.Write(names, text);
      return text + "end\n";
    }
  }
  return std::nullopt;
}

TEST(OrderProofTest, WindowsByThemselves) {
  int proofs = 0;
  int least = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(3000); ++seed) {
    SCOPED_TRACE(seed);
    const Case made = SolvedCase(seed);
    const auto proof = ProofByWindow(made, seed);
    if (!proof) continue;
    ++proofs;
    const OrderModel model = OrderModelOf(made.graph, made.counting);
    const OrderProofReport report = CheckOrderProof(*proof, &model);
    ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault << "\n" << *proof;
    ASSERT_LT(report.refuted, made.least);
    least += report.refuted + 1 == made.least ? 1 : 0;
  }
  EXPECT_GT(proofs, static_cast<int>(Seeds(3000)) / 3);
  EXPECT_GT(least, static_cast<int>(Seeds(3000)) / 5);
}

TEST(OrderProofTest, StatesInBothDirectionsAndBelowConstraints) {
  std::map<std::string, int> words;
  for (std::uint64_t seed = 1; seed <= Seeds(3000); ++seed) {
    SCOPED_TRACE(seed);
    const Case made = SolvedCase(seed);
    const OrderModel model = OrderModelOf(made.graph, made.counting);
    for (const bool backwards : {false, true}) {
      for (const bool constrained : {false, true}) {
        const auto proof = ProofByStates(made, backwards, constrained);
        if (!proof) continue;  // The start or the end is what does not fit.
        const OrderProofReport report = CheckOrderProof(*proof, &model);
        ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault << "\n" << *proof;
        EXPECT_EQ(report.refuted + 1, made.least);
        CountWords(*proof, words);
        for (const char* part : {" from ", "states run ", " is ", " at "}) {
          words[part] += proof->find(part, proof->find("proof\n")) != std::string::npos;
        }
        ++words["proofs"];
      }
    }
  }
  EXPECT_GT(words["proofs"], static_cast<int>(Seeds(3000)) * 2);
  for (const char* word : {"backwards", "late", "on", "before", " from ", " is ", "states run "}) {
    EXPECT_GT(words[word], static_cast<int>(Seeds(3000)) / 100) << word;
  }
}

TEST(OrderProofTest, EveryLeastPeakHasOne) {
  std::map<std::string, int> words;
  for (std::uint64_t seed = 1; seed <= Seeds(3000); ++seed) {
    SCOPED_TRACE(seed);
    const Case made = SolvedCase(seed);
    ASSERT_EQ(made.answer.outcome, Outcome::kOptimal);
    ASSERT_TRUE(RestsOnOrders(made.answer));
    const OrderModel model = OrderModelOf(made.graph, made.counting);
    for (const Rules rules : {Rules::kAll, Rules::kStates, Rules::kConstraints}) {
      const auto proof = ProofOf(made, rules);
      // Constraints alone do not always contradict each other.
      if (!proof && rules == Rules::kConstraints) continue;
      ASSERT_TRUE(proof);
      const OrderProofReport report = CheckOrderProof(*proof, &model);
      ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault << "\n" << *proof;
      EXPECT_TRUE(report.is_optimal);
      EXPECT_EQ(report.refuted + 1, made.least);
      EXPECT_EQ(report.operators, made.graph.operators.size());
      CountWords(*proof, words);
    }
  }
  for (const char* word : {"start", "finish", "cut", "states", "late", "on"}) {
    EXPECT_GT(words[word], static_cast<int>(Seeds(3000)) / 600) << word;
  }
}

// The same steps do not show more than they do.
TEST(OrderProofTest, OneByteMoreIsRefused) {
  for (std::uint64_t seed = 1; seed <= Seeds(2000); ++seed) {
    SCOPED_TRACE(seed);
    const Case made = SolvedCase(seed);
    const auto proof = ProofOf(made, seed % 2 == 0 ? Rules::kAll : Rules::kStates);
    ASSERT_TRUE(proof);
    Lines lines = Split(*proof);
    ASSERT_EQ(lines[1], "claim optimal " + std::to_string(made.least));
    lines[1] = "claim optimal " + std::to_string(made.least + 1);
    EXPECT_NE(CheckOrderProof(Join(lines)).fault.find("the order has a peak of"),
              std::string::npos);
    lines[1] = "claim infeasible " + std::to_string(made.least);
    std::erase_if(lines, [](const std::string& line) { return line.rfind("order", 0) == 0; });
    EXPECT_FALSE(CheckOrderProof(Join(lines)).ok());
  }
}

TEST(OrderProofTest, WhatDoesNotFitHasOne) {
  int proofs = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(500); ++seed) {
    SCOPED_TRACE(seed);
    Case made = SolvedCase(seed);
    if (made.least == 0) continue;
    PlanOptions options;
    options.schedule.counting = made.counting;
    options.capacity = made.least - 1;
    Budget budget;
    made.answer = *Plan(made.graph, options, budget);
    ASSERT_EQ(made.answer.outcome, Outcome::kInfeasible);
    if (!RestsOnOrders(made.answer)) continue;
    const auto proof = ProofOf(made);
    ASSERT_TRUE(proof);
    const OrderModel model = OrderModelOf(made.graph, made.counting);
    const OrderProofReport report = CheckOrderProof(*proof, &model);
    ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault;
    EXPECT_FALSE(report.is_optimal);
    EXPECT_EQ(report.refuted, made.least - 1);
    ++proofs;
  }
  EXPECT_GT(proofs, static_cast<int>(Seeds(500)) / 2);
}

TEST(OrderProofTest, AnswersWithoutOne) {
  Case made = SolvedCase(2);
  const auto refuses = [&](const PlanAnswer& answer) {
    Budget budget;
    const auto proof = ProveOrder(made.graph, answer, {made.counting}, budget);
    return !RestsOnOrders(answer) && !proof && proof.error().code == ErrorCode::kInvalidOptions;
  };
  PlanAnswer answer = made.answer;
  answer.outcome = Outcome::kFeasible;
  EXPECT_TRUE(refuses(answer));
  answer = made.answer;
  --answer.peak_bound;
  EXPECT_TRUE(refuses(answer));
  answer = made.answer;
  answer.spills = true;
  EXPECT_TRUE(refuses(answer));
  answer = made.answer;
  answer.outcome = Outcome::kInfeasible;
  answer.capacity = answer.peak_bound;
  EXPECT_TRUE(refuses(answer));
  // The figures agree with each other, but not with the order; then the order is none of the graph.
  for (const bool other_order : {false, true}) {
    answer = made.answer;
    --answer.peak_bound;
    --answer.best->memories.front().peak;
    if (other_order) answer.best->order.pop_back();
    Budget budget;
    const auto proof = ProveOrder(made.graph, answer, {made.counting}, budget);
    ASSERT_FALSE(proof.has_value());
    EXPECT_EQ(proof.error().code, ErrorCode::kInvalidOptions);
  }
  answer = made.answer;
  answer.outcome = Outcome::kInfeasible;
  // A bound that does not hold has no proof.
  answer.capacity = answer.peak_bound++;
  Budget budget;
  const auto none = ProveOrder(made.graph, answer, {made.counting}, budget);
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->text);
  EXPECT_EQ(none->missing, NoProof::kAlgorithm);
  Budget cancelled;
  cancelled.Cancel();
  const auto ended = ProveOrder(made.graph, answer, {made.counting}, cancelled);
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->missing, NoProof::kInterrupted);
}

// Where a proof takes 7,607 states below 106 constraints.
TEST(OrderProofTest, WhyThereIsNone) {
  internal::GraphParameters parameters;
  parameters.operators = 100;
  parameters.width = 24;
  Case made;
  made.graph = *internal::GenerateGraph(internal::GraphFamily::kIrregular, parameters);
  Budget search;
  made.answer = *Schedule(made.graph, {}, search);
  ASSERT_TRUE(RestsOnOrders(made.answer));
  const auto missing = [&](std::size_t most_bytes, std::int64_t nodes, Rules rules) {
    OrderProofOptions options;
    options.most_bytes = most_bytes;
    options.constraints = rules != Rules::kStates;
    options.states = rules != Rules::kConstraints;
    Budget budget;
    budget.SetNodeLimit(nodes);
    const auto proof = ProveOrder(made.graph, made.answer, options, budget);
    EXPECT_TRUE(proof.has_value());
    EXPECT_NE(proof->text.has_value(), proof->missing.has_value());
    EXPECT_LE(proof->nodes, nodes);
    return proof->missing;
  };
  constexpr std::size_t kMany = std::size_t{1} << 30;
  constexpr std::int64_t kNodes = 1'000'000;
  EXPECT_EQ(missing(kMany, kNodes, Rules::kAll), std::nullopt);
  for (const std::int64_t nodes : {0, 1, 10, 1'000, 5'000}) {
    EXPECT_EQ(missing(kMany, nodes, Rules::kAll), NoProof::kBudget) << nodes;
  }
  EXPECT_EQ(missing(kMany, kNodes, Rules::kConstraints), NoProof::kAlgorithm);
  EXPECT_EQ(missing(200'000, kNodes, Rules::kAll), NoProof::kMemory);
  EXPECT_EQ(missing(200'000, kNodes, Rules::kStates), NoProof::kMemory);
  EXPECT_EQ(missing(20'000, kNodes, Rules::kAll), NoProof::kSize);
}

// ---- Changes at random.

// The least peak of a model, whatever it is, by enumerating all sets of operators; a large number
// where they cannot all run.
Bytes LeastPeak(const OrderModel& model) {
  constexpr Bytes kNever = Bytes{1} << 62;
  const std::size_t n = model.operators;
  const auto has = [](std::size_t set, std::size_t v) { return (set >> v & 1) != 0; };
  std::vector<Bytes> peak(std::size_t{1} << n, kNever);
  const auto live = [&](std::size_t before, std::size_t after) {
    Bytes bytes = model.always;
    for (const OrderTensor& tensor : model.tensors) {
      const bool begun = tensor.maker == kNobody || has(after, tensor.maker);
      const bool made_now = tensor.maker != kNobody && !has(before, tensor.maker);
      const bool used = tensor.to_end || made_now ||
                        std::any_of(tensor.users.begin(), tensor.users.end(),
                                    [&](std::size_t k) { return !has(before, k); });
      if (begun && used) bytes += tensor.bytes;
    }
    return bytes;
  };
  peak[0] = live(0, 0);
  for (std::size_t set = 0; set < peak.size(); ++set) {
    for (std::size_t v = 0; v < n && peak[set] < kNever; ++v) {
      if (has(set, v)) continue;
      const auto& waits = model.waits[v];
      if (!std::all_of(waits.begin(), waits.end(), [&](std::size_t u) { return has(set, u); })) {
        continue;
      }
      const std::size_t next = set | std::size_t{1} << v;
      peak[next] = std::min(peak[next], std::max({peak[set], live(set, next), live(next, next)}));
    }
  }
  return peak.back();
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string Change(const std::string& proof) {
    Lines lines = Split(proof);
    for (std::int64_t k = random_.Uniform(1, 2); k > 0; --k) ChangeOne(lines);
    return Join(lines);
  }

 private:
  std::size_t Line(const Lines& lines) {
    // Mostly the steps.
    const auto proof = std::find(lines.begin(), lines.end(), "proof");
    const auto first = random_.Chance(0.7) ? proof - lines.begin() : 1;
    return static_cast<std::size_t>(random_.Uniform(
        std::min<std::int64_t>(first, std::ssize(lines) - 1), std::ssize(lines) - 1));
  }

  void ChangeOne(Lines& lines) {
    const std::size_t k = Line(lines);
    std::string& line = lines[k];
    switch (random_.Uniform(0, 4)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(k));
        return;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(k), lines[Line(lines)]);
        return;
      case 2: {  // A word less.
        const std::size_t space = line.rfind(' ');
        if (space != std::string::npos) line.resize(space);
        return;
      }
      case 3:
        std::swap(lines[k], lines[Line(lines)]);
        return;
      default: {
        std::vector<std::size_t> digits;
        for (std::size_t at = 0; at < line.size(); ++at) {
          if (line[at] >= '0' && line[at] <= '9') digits.push_back(at);
        }
        if (digits.empty()) return;
        const std::size_t at =
            digits[static_cast<std::size_t>(random_.Uniform(0, std::ssize(digits) - 1))];
        line[at] = static_cast<char>('0' + random_.Uniform(0, 9));
      }
    }
  }

  Random random_;
};

TEST(OrderProofTest, WhatIsAcceptedIsTrue) {
  std::int64_t accepted = 0;
  std::int64_t about_others = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    SCOPED_TRACE(seed);
    const Case made = SolvedCase(seed);
    const auto proof = seed % 5 == 0   ? ProofByWindow(made, seed)
                       : seed % 4 == 0 ? ProofOf(made)
                       : seed % 4 == 1 ? ProofOf(made, Rules::kConstraints)
                                       : ProofByStates(made, seed % 8 < 4, seed % 4 == 2);
    if (!proof) continue;
    Mutator mutator(seed);
    for (int round = 0; round < 60; ++round) {
      const std::string changed = mutator.Change(*proof);
      const OrderProofReport report = CheckOrderProof(changed);
      if (!report.ok()) continue;
      ProofLines lines(changed);
      const OrderHead head = ReadOrderHead(lines);
      if (head.model.operators > 12) continue;
      ++accepted;
      about_others += head.model == OrderModelOf(made.graph, made.counting) ? 0 : 1;
      const Bytes least = LeastPeak(head.model);
      ASSERT_GT(least, report.refuted) << changed;
      if (report.is_optimal) {
        ASSERT_EQ(least, report.refuted + 1) << changed;
      }
    }
  }
  EXPECT_GT(accepted, static_cast<std::int64_t>(Seeds(1500)));
  EXPECT_GT(about_others, static_cast<std::int64_t>(Seeds(1500)) / 4);
}

// ---- Larger graphs, where each rule has work to do.

Case Irregular(std::int64_t operators, std::int64_t width, std::uint64_t seed) {
  internal::GraphParameters parameters;
  parameters.operators = operators;
  parameters.width = width;
  parameters.seed = seed;
  Case made;
  made.graph = *internal::GenerateGraph(internal::GraphFamily::kIrregular, parameters);
  Budget budget;
  budget.SetNodeLimit(300'000);
  made.answer = *Schedule(made.graph, {}, budget);
  return made;
}

// Both kinds of proofs of one graph, and constraints below states.
TEST(OrderProofTest, ConstraintsAndStatesOfIrregularGraphs) {
  std::map<std::string, int> words;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const std::int64_t width : {8, 16}) {
      SCOPED_TRACE(std::to_string(seed) + " of width " + std::to_string(width));
      const Case made = Irregular(100, width, seed);
      if (!RestsOnOrders(made.answer)) continue;
      const OrderModel model = OrderModelOf(made.graph, {});
      for (const Rules rules : {Rules::kAll, Rules::kConstraints, Rules::kStates}) {
        const auto proof = ProofOf(made, rules);
        if (!proof) continue;
        ++words["proofs"];
        CountWords(*proof, words);
        const OrderProofReport report = CheckOrderProof(*proof, &model);
        ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault;
        EXPECT_EQ(report.refuted, made.answer.peak_bound - 1);
      }
    }
  }
  EXPECT_GT(words["proofs"], 30);
  EXPECT_GT(words["before"], 100);
  EXPECT_GT(words["on"], 1000);
}

// ---- False steps.

// Two pairs of operators, of which the first makes 8 bytes and the second 1, and one that needs both.
constexpr std::string_view kHead =
    "berth-order-proof 1\nclaim optimal 10\noperators 5\nwait 1 0\nwait 3 2\nwait 4 1 3\nalways 0\n"
    "tensors 5\ntensor 8 from 0 to 1\ntensor 1 from 1 to 4\ntensor 8 from 2 to 3\n"
    "tensor 1 from 3 to 4\ntensor 1 from 4 end\norder 0 1 2 3 4\nproof\n";

std::string FaultOf(const std::string& steps) {
  return CheckOrderProof(std::string(kHead) + steps).fault;
}

TEST(OrderProofTest, StepsByHand) {
  for (const char* steps :
       {"states\non 0 run 1\non 2\non 2 run 3\non 0\nend\n", "late 0 2\nstates\non 1\non 3\nend\n",
        "before 3 0 at 3 0>1:1 1:1\ncut 1\nend\n",
        "before 3 0 at 3 0>1:1 1:1\nstates\non 2 run 3\non 0\nend\n",
        "only 0 1 2 3 4\nlate 0 2\nstates\non 1\non 3\nend\n", "backwards\nstates\non 4\nend\n"}) {
    EXPECT_EQ(FaultOf(steps), "") << steps;
  }
}

TEST(OrderProofTest, FalseStepsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> planted = {
      {"states\non 0 run 1\non 2\nend\n", "a step is left out"},
      {"states\non 0\non 2\n", "operator 2 is no step within the limit"},
      {"states\non 0 run 1\non 2\non 0 run 1\n", "operator 0 had its turn"},
      {"states\non 0 run 3\n", "operator 3 is not ready"},
      {"states run 0\n", "operator 0 leaves more bytes live"},
      {"states\non 0 run 2\n", "operator 2 takes 16 bytes"},
      {"states\non 0 run 1 is 1\n", "no state has a number yet"},
      {"states\non 0 run 1 as 2\n", "2 is not from 1 to 1"},
      {"states\non 0 run 1 as 1\non 2\non 2 run 3 is 1\n", "that is another state"},
      {"states\non 5\n", "5 is not from 0 to 4"},
      {"states\non 0 run 1\non 2\non 2 run 3\non 0\non 0\nend\n", "expected the 'end'"},
      {"states\non 0 run 1\non 2\non 2 run 3\non 0\nend\nend\n", "more text after the end"},
      {"states from 0\n", "operator 2 may run before or after operator 0"},
      {"late 1\n", "tensor 0 may end at operator 1"},
      {"late 0 2\nstates from 0\n", "operator 0 is late"},
      {"late 0 2\nbackwards\n", "expected 'only', 'late' or 'states'"},
      {"late 0 2\ncut 1\n", "expected 'only', 'late' or 'states'"},
      {"backwards\nlate 4\n", "may end at operator 4"},
      {"only 0 1\nstates\non 0 run 1\n", "all operators have run within the limit"},
      {"only 0 1 2 3\nlate 0 2\nstates\non 1\non 3\n", "all operators have run within the limit"},
      {"only 0 1\nlate 2\n", "operator 2 is not one of those"},
      {"late 0 2\nonly 0 1\n", "'only' stands once, before 'late'"},
      {"only 0 1\nonly 0 1\n", "'only' stands once, before 'late'"},
      {"only 0 1\nstates\non 2\n", "operator 2 is no step within the limit"},
      {"only 0 1\nstates from 2\n", "operator 2 is late"},
      {"start\nend\n", "0 bytes are live there"},
      {"finish\nend\n", "1 bytes are live there"},
      {"cut 1\nend\n", "the flow shows 9 bytes"},
      {"cut 1 2>3:1 3:1\nend\n", "the flow shows 9 bytes"},
      {"before 3 0 at 3\n", "the flow shows 9 bytes"},
      {"before 3 0 at 3 1:1\n", "the flow shows 9 bytes"},
      {"before 3 0 at 3 0>1:1\n", "the flow shows 9 bytes"},
      {"before 0 3 at 3 0>1:1 1:1\n", "the flow shows 9 bytes"},
      {"before 3 0 at 3 0>1:9 1:1\n", "tensor 0 has not that many bytes left"},
      {"before 3 0 at 3 0>1:1 1:2\n", "tensor 1 has not that many bytes left"},
      {"before 3 0 at 3 2:1\n", "tensor 2 has not that many bytes left"},
      {"before 3 0 at 3 0>3:1\n", "tensor 0 does not end at operator 3"},
      {"before 3 0 at 3 0:1\n", "tensor 0 may end before the step"},
      {"before 3 0 at 3 1^2:1\n", "operator 1 does not wait for operator 2"},
      {"before 3 0 at 3 1^0:1\n", "operator 0 is not open at this step"},
      {"before 3 0 at 3 0>1:x\n", "'x' is not a whole number"},
      {"before 3 0 at 3 0-1:1\n", "'0-1' is not a whole number"},
      {"before 3 0 at 3 0>1\n", "expected a flow"},
      {"before 1 3 at 0\n", "the step is that of another operator"},
      {"before 0 1 at 1\n", "is known already"},
      {"before 0 0 at 0\n", "is known already"},
      {"before 3 0 at 3 0>1:1 1:1\nbefore 0 3 at 3\n", "is known already"},
      {"clauses\n", "'clauses' is no step"},
      {"", "the text ends before the proof does"},
  };
  for (const auto& [steps, fault] : planted) {
    EXPECT_NE(FaultOf(steps).find(fault), std::string::npos) << steps << FaultOf(steps);
  }
}

TEST(OrderProofTest, FalseClaimsAreRefused) {
  const std::string steps = "late 0 2\nstates\non 1\non 3\nend\n";
  const auto fault_with = [&](std::string_view old, std::string_view now) {
    std::string text = std::string(kHead) + steps;
    text.replace(text.find(old), old.size(), now);
    return CheckOrderProof(text).fault;
  };
  const std::vector<std::vector<std::string>> planted = {
      {"berth-order-proof 1", "berth-order-proof 2", "a version that is not known"},
      {"claim optimal 10", "claim optimal 11", "the order has a peak of 10 bytes"},
      {"claim optimal 10", "claim best 10", "neither 'optimal' nor 'infeasible'"},
      {"order 0 1 2 3 4", "order 0 2 1 3 4", "the order has a peak of 17 bytes"},
      {"order 0 1 2 3 4", "order 1 0 2 3 4", "operator 1 runs before 0"},
      {"order 0 1 2 3 4", "order 0 1 2 3", "operator 4 is missing"},
      {"order 0 1 2 3 4", "order 0 1 2 3 3", "operator 3 comes twice"},
      {"claim optimal 10", "claim infeasible 9", "expected the 'proof'"},
      {"claim optimal 10\n", "", "expected the 'claim'"},
      {"wait 4 1 3", "wait 4 3 1", "not in increasing order"},
      {"wait 4 1 3", "wait 4 4", "4 is not from 0 to 3"},
      {"wait 4 1 3", "wait 1 0", "has such a line already"},
      {"tensor 8 from 0 to 1", "tensor 8 from 0", "expected 'to'"},
      {"tensor 8 from 0 to 1", "tensor 1152921504606846976 from 0 to 1", "more than 2^60"},
      {"tensors 5", "tensors 4", "expected the 'order'"},
      {"operators 5", "operators 16777216", "more operators than the text"},
      {"operators 5", "operators 16777217", "16777217 is not from 0 to 16777216"},
  };
  for (const auto& each : planted) {
    const std::string fault = fault_with(each[0], each[1]);
    EXPECT_NE(fault.find(each[2]), std::string::npos) << each[1] << ": " << fault;
  }
  // One byte above what is proved, in a proof that would hold below.
  std::string text = std::string(kHead) + "states\non 0 run 1\non 2 run 3\non 4\n";
  text.replace(text.find("claim optimal 10"), 16, "claim infeasible 10");
  text.erase(text.find("order 0"), 16);
  EXPECT_NE(CheckOrderProof(text).fault.find("all operators have run within the limit"),
            std::string::npos)
      << CheckOrderProof(text).fault;
}

// ---- Graphs in JSON.

TEST(OrderProofTest, GraphsInJsonAreReadAsThePlannerReadsThem) {
  for (std::uint64_t seed = 1; seed <= Seeds(1000); ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = RandomGraph(seed, AllGraphKnobs());
    const Counting counting{seed % 2 == 0, seed % 3 == 0};
    const Bytes alignment = seed % 5 == 0 ? 6 : 1;
    const auto read = ReadGraph(WriteGraphJson(graph), alignment);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(OrderModelOf(*read, counting), OrderModelOf(Aligned(graph, alignment), counting));
  }
}

TEST(OrderProofTest, BadGraphsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "parse error"},
      {R"({"format_version": 2, "nodes": [], "tensors": []})", "and only 1 is known"},
      {R"({"nodes": [], "tensors": [{"id": {}, "kind": "input", "bytes": 1}]})",
       "a value of the type 'object' is not a whole number"},
      {R"({"nodes": [], "tensors": [{"kind": "input", "bytes": 1e9}]})", "1000000000.0 is not a"},
      // Only a reason takes the place of bytes.
      {R"({"nodes": [], "tensors": [{"kind": "input", "unplanned": ""}]})",
       "tensor 0: it has no 'bytes'"},
      {R"({"nodes": [], "tensors": [{"kind": "input", "bytes": 1152921504606846976},
                                    {"kind": "input", "bytes": 1}]})",
       "tensor 1: the sizes add up to more than 2^60"},
      {R"({"nodes": [{"after": 0}], "tensors": []})", "operator 0: 'after' is not a list"},
      {R"({"nodes": [], "tensors": [{"kind": "input", "bytes": 1},
                                    {"kind": "input", "bytes": 1, "id": 0}]})",
       "tensor 1: another tensor has the id 0"},
      {"[]", "no graph of Berth"},
      {R"({"nodes": 3, "tensors": []})", "'nodes' is not a list"},
      {R"({"nodes": [], "tensors": [3]})", "tensor 0: it is not an object"},
      {R"({"nodes": [], "tensors": [{"kind": "input"}]})", "tensor 0: it has no 'bytes'"},
      {R"({"nodes": [], "tensors": [{"kind": "input", "bytes": -1}]})", "-1 is not a whole"},
      {R"({"nodes": [], "tensors": [{"kind": "other", "bytes": 1}]})", "is no kind of tensor"},
      {R"({"nodes": [], "tensors": [{"kind": "output", "bytes": 1}]})", "is never made"},
      {R"({"nodes": [{"inputs": [1]}], "tensors": [{"kind": "input", "bytes": 1}]})",
       "operator 0: no tensor has the id 1"},
      {R"({"nodes": [{"inputs": [0]}, {"outputs": [0]}],
           "tensors": [{"kind": "activation", "bytes": 1}]})",
       "uses a tensor that is not made yet"},
      {R"({"nodes": [{"after": [0]}], "tensors": []})", "waits for one that is not earlier"},
  };
  for (const auto& [text, fault] : bad) {
    const auto read = ReadGraph(text, 1);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_NE(read.error().message.find(fault), std::string::npos) << read.error().message;
  }
}

TEST(OrderProofTest, DeepGraphsAreRefused) {
  constexpr std::size_t kDeep = 1'000'000;
  const auto deep = ReadGraph(R"({"nodes": [], "tensors": [{"kind": "input", "bytes": )" +
                                  std::string(kDeep, '[') + std::string(kDeep, ']') + "}]}",
                              1);
  ASSERT_FALSE(deep.has_value());
  EXPECT_NE(deep.error().message.find("'array' is not a whole number"), std::string::npos);
}

// Bytes count unless there are none, whatever else the file says of them.
TEST(OrderProofTest, AnEmptyReasonHidesNoBytes) {
  const auto graph = ReadGraph(
      R"({"nodes": [{"outputs": [0]}],
          "tensors": [{"kind": "output", "bytes": 10, "unplanned": ""}]})",
      1);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  EXPECT_EQ(graph->tensors.front().bytes, 10);
}

// Each of many parts ends at a user that is not earlier; to look for it among all users again would
// take some minutes.
TEST(OrderProofTest, ManyPartsOfATensorWithManyUsers) {
  constexpr std::size_t kUsers = 100'000;
  std::string text = "berth-order-proof 1\nclaim infeasible 1000000\noperators " +
                     std::to_string(kUsers + 2) + "\nwait " + std::to_string(kUsers + 1) +
                     " 0\nalways 0\ntensors 1\ntensor 1000000 from 1 to";
  for (std::size_t k = 2; k < kUsers + 2; ++k) text += " " + std::to_string(k);
  text += "\nproof\ncut 0";
  for (int part = 0; part < 1'000'000; ++part) text += " 0:1";
  EXPECT_EQ(CheckOrderProof(text + "\nend\n").fault,
            "the flow shows 0 bytes, which are within the limit");
}

// A training step that the project carries.
TEST(OrderProofTest, TrainingStep) {
  std::ifstream file(BERTH_SOURCE_DIR "/examples/training_alexnet_b32.json");
  ASSERT_TRUE(file);
  std::ostringstream text;
  text << file.rdbuf();
  Case made;
  made.graph = *ReadGraphJson(text.str(), "alexnet");
  Budget budget;
  made.answer = *Schedule(made.graph, {}, budget);
  const auto proof = ProofOf(made);
  ASSERT_TRUE(proof);
  const auto graph = ReadGraph(text.str(), 1);
  ASSERT_TRUE(graph.has_value()) << graph.error().message;
  const OrderModel model = OrderModelOf(*graph, {});
  const OrderProofReport report = CheckOrderProof(*proof, &model);
  ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault;
  EXPECT_EQ(report.refuted + 1, 152'698'884);
  EXPECT_EQ(report.flows, 1);
  EXPECT_LT(proof->size(), 5'000u);
  // The same proof of another graph.
  const auto fault_with = [&](const auto& change) {
    OrderModel other = model;
    change(other);
    return CheckOrderProof(*proof, &other).fault;
  };
  const std::string fault = "the proof is about another graph: ";
  EXPECT_EQ(fault_with([](OrderModel& other) { other.tensors.front().bytes = 7; }),
            fault + "tensor 0 has 7 bytes there");
  EXPECT_EQ(fault_with([](OrderModel& other) { other.tensors[1].maker = kNobody; }),
            fault + "tensor 1 has another maker or other users there");
  EXPECT_EQ(fault_with([](OrderModel& other) { other.tensors.resize(3); }),
            fault + "3 of its tensors count");
  EXPECT_EQ(fault_with([](OrderModel& other) { ++other.always; }),
            fault + std::to_string(model.always + 1) + " bytes are always live there");
  EXPECT_EQ(fault_with([](OrderModel& other) { other.waits[2].clear(); }),
            fault + "operator 2 waits for others there");
  EXPECT_EQ(fault_with([](OrderModel& other) { other.operators = 3; }),
            fault + "the graph has 3 operators");
}

// Where the memory is too small for sets of all operators, windows around the peak take their place.
TEST(OrderProofTest, WindowsOfALargeGraph) {
  std::map<std::string, int> words;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    const Case made = Irregular(2000, 10, seed);
    if (!RestsOnOrders(made.answer)) continue;
    const OrderModel model = OrderModelOf(made.graph, {});
    for (const bool constraints : {false, true}) {
      OrderProofOptions options;
      options.most_bytes = std::size_t{4} << 20;
      options.constraints = constraints;
      Budget budget;
      budget.SetNodeLimit(100'000);
      const auto proof = ProveOrder(made.graph, made.answer, options, budget);
      ASSERT_TRUE(proof.has_value());
      if (!proof->text) continue;
      const OrderProofReport report = CheckOrderProof(*proof->text, &model);
      ASSERT_TRUE(report.ok()) << report.line << ": " << report.fault;
      EXPECT_EQ(report.refuted + 1, made.answer.best->peak());
      CountWords(*proof->text, words);
    }
  }
  EXPECT_GE(words["berth-order-proof"], 3);
  EXPECT_GE(words["only"], 1);
}

}  // namespace
}  // namespace berth::verify
