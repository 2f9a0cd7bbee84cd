// Proofs of placements: what the search logs, the checker accepts; what is false, it refuses.
//
// Whatever the checker accepts must be true. So random problems are decided by the oracle, their
// proofs are changed at random, problem and claim included, and each change that is still accepted
// has to be true by the oracle again.

#include "tools/verify/proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "berth/place.h"
#include "berth/prove.h"
#include "testing/lines.h"
#include "testing/oracle.h"
#include "testing/random_problem.h"
#include "testing/seeds.h"
#include "tools/generate/generate.h"
#include "tools/verify/proof_text.h"

namespace berth::verify {
namespace {

using internal::Family;
using internal::Join;
using internal::Lines;
using internal::OracleFits;
using internal::OracleHeight;
using internal::ProblemKnobs;
using internal::Random;
using internal::RandomProblem;
using internal::Seeds;
using internal::Split;

bool StartsWith(const std::string& line, std::string_view word) {
  return line.substr(0, word.size()) == word;
}

// The proof of what Place() says; none where there is no verdict, or no proof.
std::optional<std::string> ProofOf(const Problem& problem, Algorithm algorithm = Algorithm::kAuto,
                                   std::int64_t nodes = 100'000) {
  Budget budget;
  budget.SetNodeLimit(nodes);
  const auto answer = Place(problem, {}, budget);
  if (!answer ||
      (answer->outcome != Outcome::kInfeasible && answer->outcome != Outcome::kOptimal)) {
    return std::nullopt;
  }
  Budget more;
  more.SetNodeLimit(nodes);
  ProofOptions options;
  options.algorithm = algorithm;
  const auto proof = ProvePlacement(problem, *answer, options, more);
  EXPECT_TRUE(proof.has_value());
  return proof ? proof->text : std::nullopt;
}

// With both searches there is a proof of each verdict on small problems, whatever their features.
TEST(ProofTest, EveryVerdictHasOne) {
  int with_windows = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    ProblemKnobs knobs = internal::AllKnobs();
    if (seed % 2 == 0) {
      knobs = ProblemKnobs{};
      knobs.min_buffers = 4;
      knobs.gap_chance = 0.5;
    }
    const Problem problem = RandomProblem(9'000 + seed, knobs);
    Budget budget;
    const auto answer = Place(problem, {}, budget);
    ASSERT_TRUE(answer.has_value());
    if (answer->outcome != Outcome::kInfeasible && answer->outcome != Outcome::kOptimal) continue;
    Budget more;
    more.SetNodeLimit(100'000);
    const auto proof = ProvePlacement(problem, *answer, {}, more);
    ASSERT_TRUE(proof.has_value() && proof->text) << "seed " << 9'000 + seed;
    const ProofReport report = CheckProof(*proof->text, &problem);
    ASSERT_TRUE(report.ok()) << "seed " << 9'000 + seed << ", line " << report.line << ": "
                             << report.fault;
    with_windows += proof->text->find("window ") != std::string::npos;
  }
  EXPECT_GT(with_windows, static_cast<int>(Seeds(1500)) / 15);
}

// Below the least height, which the oracle knows.
Problem JustInfeasible(Problem problem) {
  problem.capacity.reset();
  const auto height = OracleHeight(problem);
  if (height && *height > 0) problem.capacity = *height - 1;
  return problem;
}

bool HasClauses(const std::string& proof) { return proof.find("never ") != std::string::npos; }

bool HasBranches(const std::string& proof) { return proof.find(" branch ") != std::string::npos; }

ProblemKnobs TightKnobs() {
  ProblemKnobs knobs;
  knobs.min_buffers = 5;
  knobs.max_buffers = 6;
  knobs.horizon = 6;
  knobs.max_size = 6;
  return knobs;
}

TEST(ProofTest, WhatTheSearchLogsIsAccepted) {
  int proofs = 0;
  int branches = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(4000); ++seed) {
    ProblemKnobs knobs = seed % 2 == 0 ? internal::AllKnobs() : TightKnobs();
    if (seed % 4 == 1) {
      knobs.gap_chance = 0.4;
      knobs.window_chance = seed % 8 == 1 ? 0 : 0.5;
    }
    const Problem problem = JustInfeasible(RandomProblem(seed, knobs));
    for (const bool minimize : {false, true}) {
      Problem asked = problem;
      if (minimize) asked.capacity.reset();
      const auto proof = ProofOf(asked, seed % 3 == 0 ? Algorithm::kGuided : Algorithm::kNiche);
      if (!proof) continue;
      ++proofs;
      branches += HasBranches(*proof);
      const ProofReport report = CheckProof(*proof, &asked);
      ASSERT_TRUE(report.ok()) << "seed " << seed << ", line " << report.line << ": "
                               << report.fault << "\n"
                               << *proof;
      const auto fits = OracleFits(problem, report.refuted);
      ASSERT_FALSE(fits.has_value()) << "seed " << seed << ": false at " << report.refuted;
    }
  }
  EXPECT_GT(proofs, static_cast<int>(Seeds(4000)));
  EXPECT_GT(branches, static_cast<int>(Seeds(4000)) / 60);
}

// Larger ones, so that lemmas, skipped levels and remembered states occur.
TEST(ProofTest, FullTables) {
  int branches = 0;
  int clauses = 0;
  std::int64_t lemmas = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    internal::GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 12 + static_cast<std::int64_t>(seed % 12);
    parameters.steps = 12;
    parameters.capacity = 60;
    const auto generated = internal::Generate(Family::kFull, parameters);
    ASSERT_TRUE(generated.has_value()) << generated.error().message;
    Problem problem = generated->problem;
    problem.capacity = 60;
    for (const Algorithm algorithm : {Algorithm::kNiche, Algorithm::kGuided}) {
      const auto proof = ProofOf(problem, algorithm);
      if (!proof) continue;
      branches += HasBranches(*proof);
      clauses += HasClauses(*proof);
      const ProofReport report = CheckProof(*proof, &problem);
      ASSERT_TRUE(report.ok()) << "seed " << seed << ", line " << report.line << ": "
                               << report.fault;
      if (algorithm == Algorithm::kNiche) lemmas += report.lemmas;
    }
  }
  EXPECT_GT(branches, 5);
  EXPECT_GT(clauses, 5);
  EXPECT_GT(lemmas, 20);
}

// What a random change of the text may do to it.
std::string Changed(const std::string& text, Random& random) {
  Lines lines = Split(text);
  const auto any = [&](std::size_t size) {
    return static_cast<std::size_t>(random.Uniform(0, static_cast<std::int64_t>(size) - 1));
  };
  std::string& line = lines[any(lines.size())];
  switch (random.Uniform(0, 4)) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(any(lines.size())));
      break;
    case 1:
      line = lines[any(lines.size())];
      break;
    case 2:
      std::swap(line, lines[any(lines.size())]);
      break;
    default: {  // A number, a little or at all.
      std::vector<std::size_t> digits;
      for (std::size_t k = 0; k < line.size(); ++k) {
        if (line[k] >= '0' && line[k] <= '9') digits.push_back(k);
      }
      if (digits.empty()) break;
      char& digit = line[digits[any(digits.size())]];
      digit = static_cast<char>('0' + random.Uniform(0, 9));
    }
  }
  return Join(lines);
}

TEST(ProofTest, WhateverIsAcceptedIsTrue) {
  int refused = 0;
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    ProblemKnobs knobs = seed % 3 == 0 ? internal::AllKnobs() : TightKnobs();
    const auto proof = ProofOf(JustInfeasible(RandomProblem(seed, knobs)),
                               seed % 2 == 0 ? Algorithm::kGuided : Algorithm::kNiche);
    if (!proof) continue;
    Random random(seed);
    for (int k = 0; k < 40; ++k) {
      std::string changed = Changed(*proof, random);
      if (k % 4 == 3) changed = Changed(changed, random);
      if (changed == *proof) continue;
      const ProofReport report = CheckProof(changed);
      if (!report.ok()) {
        ++refused;
        ASSERT_GT(report.line, 0u);
        continue;
      }
      ++accepted;
      ProofLines lines(changed);
      const ProofHead head = ReadHead(lines);
      const auto fits = OracleFits(head.problem, report.refuted);
      ASSERT_FALSE(fits.has_value()) << "seed " << seed << ", change " << k << "\n" << changed;
    }
  }
  EXPECT_GT(refused, 10 * static_cast<int>(Seeds(1500)));
  EXPECT_GT(accepted, 0);  // Such as a smaller claim.
}

// The claim is false, the steps are those of a true one.
TEST(ProofTest, AFalseClaimIsRefused) {
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= Seeds(1500); ++seed) {
    const Problem problem = JustInfeasible(RandomProblem(seed, TightKnobs()));
    const auto proof = ProofOf(problem, seed % 2 == 0 ? Algorithm::kGuided : Algorithm::kNiche);
    if (!proof) continue;
    Lines lines = Split(*proof);
    ASSERT_TRUE(StartsWith(lines[1], "claim infeasible"));
    lines[1] = "claim infeasible " + std::to_string(*problem.capacity + 1);
    ++tried;
    EXPECT_FALSE(CheckProof(Join(lines)).ok()) << "seed " << seed;
  }
  EXPECT_GT(tried, static_cast<int>(Seeds(1500)) / 2);
}

// What is still accepted after a change that may have left it true.
void ExpectTrueIfAccepted(const Lines& lines, int& refused, const std::string& where) {
  const std::string text = Join(lines);
  const ProofReport report = CheckProof(text);
  if (!report.ok()) {
    ++refused;
    return;
  }
  ProofLines reader(text);
  const ProofHead head = ReadHead(reader);
  EXPECT_FALSE(OracleFits(head.problem, report.refuted).has_value()) << where;
}

// The same line with `add` more in the number after the `skip`-th occurrence of `mark`; nothing if it
// has none there.
std::optional<std::string> WithMore(const std::string& line, std::string_view mark, int skip,
                                    Bytes add) {
  std::size_t at = line.find(mark);
  for (; skip > 0 && at != std::string::npos; --skip) at = line.find(mark, at + 1);
  if (at == std::string::npos) return std::nullopt;
  at += mark.size();
  const std::size_t end = line.find_first_not_of("0123456789", at);
  const Bytes number = std::stoll(line.substr(at, end - at)) + add;
  if (number < 0) return std::nullopt;
  return line.substr(0, at) + std::to_string(number) + line.substr(std::min(end, line.size()));
}

// A tight table whose proof has branches and, mostly, lemmas.
Problem FullProblem(std::uint64_t seed) {
  internal::GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = 10 + static_cast<std::int64_t>(seed % 10);
  parameters.steps = 10;
  parameters.capacity = 40;
  Problem problem = internal::Generate(Family::kFull, parameters)->problem;
  problem.capacity = 40;
  return problem;
}

// Every child of every branch is needed: without any one of them the proof is refused, at the line
// where the branch is closed or before. So are a lemma without buffers and a section that is left out
// after `in`.
TEST(ProofTest, PlantedFalseStepsAreRefused) {
  int dropped = 0;
  int emptied = 0;
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto proof = ProofOf(FullProblem(seed), Algorithm::kNiche, 20'000);
    if (!proof || !HasBranches(*proof)) continue;
    const Lines lines = Split(*proof);
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const std::string& line = lines[k];
      Lines changed = lines;
      if (StartsWith(line, "on ") && line.find(" branch ") == std::string::npos && dropped < 3000) {
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(k));
        ++dropped;
        EXPECT_FALSE(CheckProof(Join(changed)).ok()) << "seed " << seed << " without " << line;
      }
      if (const std::size_t at = line.find(" in "); at != std::string::npos && left_out < 3000) {
        changed = lines;
        changed[k] = line.substr(0, at) + " in";
        ++left_out;
        EXPECT_FALSE(CheckProof(Join(changed)).ok()) << "seed " << seed << " at " << line;
      }
      if (StartsWith(line, "known ") && emptied < 3000) {
        changed = lines;
        changed[k] = line.substr(0, line.find(" buffers ")) + " buffers";
        ++emptied;
        EXPECT_FALSE(CheckProof(Join(changed)).ok()) << "seed " << seed << " at " << line;
      }
    }
  }
  EXPECT_GT(dropped, 100);
  EXPECT_GT(emptied, 10);
  EXPECT_GT(left_out, 10);
}

// Levels, grounds and lemmas that are others, but ones that there are. Some of these are true as well;
// on small problems, of which the oracle knows.
TEST(ProofTest, StepsThatSayMoreAreRefusedOrTrue) {
  int tried[3] = {};
  int refused[3] = {};
  for (std::uint64_t seed = 1; seed <= Seeds(400); ++seed) {
    const bool is_full = seed % 4 == 0;
    const Problem problem =
        is_full ? FullProblem(seed) : JustInfeasible(RandomProblem(seed, TightKnobs()));
    const auto proof = ProofOf(problem, Algorithm::kNiche, 20'000);
    if (!proof || !HasBranches(*proof)) continue;
    const Lines lines = Split(*proof);
    for (std::size_t k = 0; k < lines.size() && tried[0] + tried[1] + tried[2] < 20'000; ++k) {
      const auto plant = [&](int kind, const std::optional<std::string>& line) {
        if (!line || *line == lines[k]) return;
        Lines changed = lines;
        changed[k] = *line;
        ++tried[kind];
        if (is_full) {  // What it says is true, whatever its steps are.
          refused[kind] += CheckProof(Join(changed)).ok() ? 0 : 1;
        } else {
          ExpectTrueIfAccepted(changed, refused[kind],
                               "seed " + std::to_string(seed) + ": " + *line);
        }
      };
      for (const Bytes add : {Bytes{1}, Bytes{2}, Bytes{5}}) {
        if (const std::size_t at = lines[k].find("branch "); at != std::string::npos) {
          const std::size_t level = lines[k].find(' ', at + 7);
          plant(0, WithMore(lines[k], lines[k].substr(at, level + 1 - at), 0, add));
        }
      }
      if (StartsWith(lines[k], "known ")) {
        for (int entry = 0; entry < 3; ++entry) {
          for (const Bytes add : {Bytes{-1}, Bytes{1}, Bytes{7}}) {
            plant(1, WithMore(lines[k], ":", entry, add));
          }
        }
      }
      plant(2, WithMore(lines[k], " lemma ", 0, 1));
      plant(2, WithMore(lines[k], " lemma ", 0, -1));
    }
  }
  for (int kind = 0; kind < 3; ++kind) {
    EXPECT_GT(tried[kind], 50) << kind;
    EXPECT_GT(4 * refused[kind], tried[kind]) << kind;
  }
}

// Each of these claims is false and breaks one rule, so that a checker without it would accept.
TEST(ProofTest, FalseProofsThatBreakOneRule) {
  struct Case {
    Bytes claim;
    Lines buffers;
    std::string steps;
    std::string fault;
  };
  const std::vector<Case> cases = {
      // Buffer 0 cannot lie on the floor, but on buffer 1.
      {3,
       {"0 2 1", "1 2 2 align 4"},
       "steps 0 1\nproof\nso branch 0 4\non 0 high 1\ngap load 0\n",
       "buffer 0 can lie on buffer 1, below 4"},
      // Buffer 2 lies between the floor and the level.
      {3,
       {"0 2 1", "1 2 2 align 4", "0 1 1 at 1"},
       "steps 0 1\nproof\nso branch 0 2\non 0 high 1\ngap high 2\n",
       "buffer 2 can lie at 1"},
      // The same size and alignment, but not the same sections.
      {2,
       {"0 1 1", "0 2 1", "1 2 1 align 4"},
       "steps 0 1\nproof\nso branch 0 1\non 1 high 2\ngap load 0\n",
       "buffer 0 can lie on the floor of section 0, and was left out"},
      // A lemma on a higher ground, and one with more buffers.
      {3,
       {"0 1 1"},
       "steps 0\nknown 1 grounds 0:3 buffers 0\nso load 0\nproof\nso lemma 1\n",
       "section 0 has room below 3"},
      {4,
       {"0 1 2", "0 1 2"},
       "steps 0\nknown 1 grounds 0:2 buffers 0-1\nso load 0\n"
       "proof\nso branch 0 2\non 0 lemma 1\ngap load 0\n",
       "buffer 0 is not open"},
      // A lemma about a section that was left out.
      {2,
       {"0 1 1", "1 2 1"},
       "steps 0 1\nknown 1 grounds 0:0 1:2 buffers 1\nso load 1\n"
       "proof\nso branch 0 1 in 0\non 0 lemma 1\ngap lemma 1\n",
       "section 1 does not belong to this state"},
  };
  for (const Case& each : cases) {
    std::string text = "berth-proof 1\nclaim infeasible " + std::to_string(each.claim) +
                       "\nbuffers " + std::to_string(each.buffers.size()) + "\n";
    for (const std::string& buffer : each.buffers) text += "buffer " + buffer + "\n";
    text += each.steps + "end\n";
    EXPECT_EQ(CheckProof(text).fault, each.fault) << text;
    ProofLines lines(text);
    const ProofHead head = ReadHead(lines);
    EXPECT_TRUE(OracleFits(head.problem, each.claim).has_value()) << "true: " << text;
  }
}

// Clauses that do not follow: the end without the steps before it, a clause without what it follows
// from, and one that says more.
TEST(ProofTest, PlantedFalseClausesAreRefused) {
  int ends = 0;
  int tried = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    internal::GenerateParameters parameters;
    parameters.seed = seed;
    parameters.buffers = 10 + static_cast<std::int64_t>(seed % 10);
    parameters.steps = 10;
    parameters.capacity = 40;
    Problem problem = internal::Generate(Family::kFull, parameters)->problem;
    problem.capacity = 40;
    const auto proof = ProofOf(problem, Algorithm::kGuided, 20'000);
    if (!proof || !HasClauses(*proof)) continue;
    const Lines lines = Split(*proof);
    const auto first = static_cast<std::size_t>(std::find(lines.begin(), lines.end(), "clauses") -
                                                lines.begin() + 1);
    ASSERT_LT(first, lines.size());
    Lines changed(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(first));
    changed.emplace_back("never");
    changed.emplace_back("end");
    ++ends;
    const ProofReport report = CheckProof(Join(changed));
    EXPECT_EQ(report.fault, "the clause does not follow") << "seed " << seed;
    EXPECT_EQ(report.line, first + 1);
    for (std::size_t k = first; k < lines.size() && k < first + 200; ++k) {
      const std::size_t by = lines[k].find(" by ");
      if (by == std::string::npos) continue;
      changed = lines;
      changed[k] = lines[k].substr(0, by);
      ++tried;
      refused += CheckProof(Join(changed)).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(ends, 5);
  EXPECT_GT(tried, 50);
  EXPECT_GT(10 * refused, 9 * tried) << "Some follow without what they were learned from.";
}

// Any bytes: an answer, and a line of it.
TEST(ProofTest, BadInput) {
  Random random(1);
  const std::string proof = *ProofOf(JustInfeasible(RandomProblem(3, TightKnobs())));
  for (int k = 0; k < 20'000; ++k) {
    std::string text = proof;
    const auto at = [&] {
      return static_cast<std::size_t>(
          random.Uniform(0, static_cast<std::int64_t>(text.size()) - 1));
    };
    for (std::int64_t changes = random.Uniform(1, 4); changes > 0; --changes) {
      if (random.Uniform(0, 1) == 0) {
        text[at()] = static_cast<char>(random.Uniform(0, 255));
      } else {
        text.insert(at(), std::to_string(random.Uniform(-5, 1'000'000'000'000)));
      }
    }
    if (random.Uniform(0, 9) == 0) text.resize(at());
    if (text.empty()) continue;
    const ProofReport report = CheckProof(text);
    EXPECT_TRUE(report.ok() || report.line > 0);
  }
  EXPECT_FALSE(CheckProof("").ok());
  EXPECT_FALSE(CheckProof("\n").ok());
  EXPECT_EQ(CheckProof("berth-proof 2\n").line, 1u);
}

// Orders that go in a circle raise offsets by some bytes in each round, up to the capacity.
TEST(ProofTest, ACircleOfOrdersTakesNoMemory) {
  const std::string head =
      "berth-proof 1\nclaim infeasible 1000000000000000000\nbuffers 3\n"
      "buffer 0 1 1\nbuffer 0 1 2\nbuffer 0 1 3\nsteps 0\nclauses\n";
  const ProofReport report = CheckProof(head + "never 0^1 1^2 2^0\nend\n");
  EXPECT_EQ(report.fault, "the clause takes too long to check");
  EXPECT_EQ(report.line, 9u);
  // Where the circle does not reach far, it is followed to its end.
  const std::string low =
      "berth-proof 1\nclaim infeasible 5\nbuffers 3\n"
      "buffer 0 1 1\nbuffer 0 1 2\nbuffer 0 1 3\nsteps 0\nclauses\n";
  EXPECT_TRUE(CheckProof(low + "never 0^1 1^2 2^0\nnever\nend\n").ok());
}

std::string Repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t k = 0; k < times; ++k) all += text;
  return all;
}

TEST(ProofTest, RangesThatRepeatAreRefused) {
  std::string head = "berth-proof 1\nclaim infeasible 5\nbuffers 1\nbuffer 0 20000 2\nsteps";
  for (int s = 0; s < 20'000; ++s) head += " " + std::to_string(s);
  head += "\nproof\nso branch 0 2 in";
  EXPECT_EQ(CheckProof(head + Repeated(" 0-19999", 20'000) + "\n").fault,
            "sections are not in increasing order");
  EXPECT_EQ(CheckProof(head + " 3-5 1\n").fault, "sections are not in increasing order");
  EXPECT_EQ(CheckProof(head + " 0-4 4\n").fault, "sections are not in increasing order");
  EXPECT_EQ(CheckProof(head + " 0-4 5\non 0 load 0\n").fault, "nothing is open in section 0");
}

// Buffers at one step, one half pinned side by side, `distance` bytes apart.
std::string ManyPins(std::size_t many, std::size_t distance) {
  std::string text = "berth-proof 1\nclaim infeasible " + std::to_string(distance * many) +
                     "\nbuffers " + std::to_string(2 * many) + "\n";
  for (std::size_t k = 0; k < many; ++k) {
    text += "buffer 0 1 1 at " + std::to_string(distance * k) + "\n";
  }
  text += Repeated("buffer 0 1 1\n", many);
  return text + "steps 0\nproof\nso load 0\nend\n";
}

TEST(ProofTest, ManyPinsTakeLittle) {
  EXPECT_EQ(CheckProof(ManyPins(2'000, 1)).fault, "");
  EXPECT_EQ(CheckProof(ManyPins(2'000, 2)).fault, "the 4000 bytes in section 0 fit above 0");
  // Too much memory, and too much time.
  EXPECT_EQ(CheckProof(ManyPins(3'000, 2)).fault, "too many pinned buffers to check");
  EXPECT_EQ(CheckProof(ManyPins(20'000, 1)).fault, "too many pinned buffers to check");
}

TEST(ProofTest, TooManyBuffersInSectionsAreRefused) {
  std::string text = "berth-proof 1\nclaim infeasible 1\nbuffers 5000\n";
  text += Repeated("buffer 0 5000 1\n", 5000) + "steps";
  for (int s = 0; s < 5000; ++s) text += " " + std::to_string(s);
  text += "\nproof\nso load 0\nend\n";
  EXPECT_EQ(CheckProof(text).fault, "too many buffers in too many steps to check");
}

// Each line of the path changes all buffers.
TEST(ProofTest, TooManyChangesAlongAPathAreRefused) {
  constexpr int kMany = 6'500;
  std::string text = "berth-proof 1\nclaim infeasible 100000\nbuffers 6500\n";
  text += Repeated("buffer 0 1 1\n", kMany) + "steps 0\nproof\nso branch 0 1\non 0 load 0\n";
  for (int k = 1; k < kMany; ++k) {
    text += "gap branch 0 " + std::to_string(k + 1) + "\n";
  }
  EXPECT_FALSE(CheckProof(text).ok());
  text = text.substr(0, text.find("on 0"));
  for (int k = 1; k < kMany; ++k) {
    text += "on " + std::to_string(k) + " branch 0 " + std::to_string(k + 1) + "\n";
  }
  EXPECT_EQ(CheckProof(text).fault, "the branches are too deep to check");
}

// The proof is about the table, whatever its ids and hints.
TEST(ProofTest, AnotherTableIsRefused) {
  Problem problem = JustInfeasible(RandomProblem(3, TightKnobs()));
  const std::string proof = *ProofOf(problem);
  problem.buffers[0].id = "another";
  problem.buffers[1].hint = 0;
  EXPECT_TRUE(CheckProof(proof, &problem).ok());
  Problem other = problem;
  ++other.buffers[2].size;
  const ProofReport changed = CheckProof(proof, &other);
  EXPECT_EQ(changed.fault, "buffer 2 is not that of the table");
  EXPECT_EQ(Split(proof)[changed.line - 4], "buffers " + std::to_string(problem.buffers.size()));
  other = problem;
  other.buffers.pop_back();
  EXPECT_EQ(CheckProof(proof, &other).line, changed.line - 3);
  // The line of the plan, where it is the plan that is false.
  Problem free = problem;
  free.capacity.reset();
  Lines lines = Split(*ProofOf(free));
  const auto plan = std::find_if(lines.begin(), lines.end(),
                                 [](const std::string& line) { return StartsWith(line, "plan "); });
  ASSERT_NE(plan, lines.end());
  *plan = plan->substr(0, plan->rfind(' ')) + " 1000000";
  EXPECT_EQ(CheckProof(Join(lines)).line, static_cast<std::size_t>(plan - lines.begin()) + 1);
}

TEST(ProofTest, WhyThereIsNone) {
  internal::GenerateParameters parameters;
  parameters.seed = 6;
  parameters.buffers = 21;
  parameters.steps = 12;
  parameters.capacity = 1000;
  Problem problem = internal::Generate(Family::kFull, parameters)->problem;
  problem.capacity = 1000;
  Budget unlimited;
  const PlanAnswer answer = *Place(problem, {}, unlimited);
  ASSERT_EQ(answer.outcome, Outcome::kInfeasible);
  const auto missing = [&](const ProofOptions& options, Budget& budget) {
    const PlacementProof proof = *ProvePlacement(problem, answer, options, budget);
    EXPECT_EQ(proof.text.has_value(), !proof.missing.has_value());
    return proof.missing;
  };
  EXPECT_EQ(missing({}, unlimited), std::nullopt);
  Budget little;
  little.SetNodeLimit(1);
  EXPECT_EQ(missing({}, little), NoProof::kBudget);
  Budget cancelled;
  cancelled.Cancel();
  EXPECT_EQ(missing({}, cancelled), NoProof::kInterrupted);
  ProofOptions small;
  small.most_bytes = 2;
  EXPECT_EQ(missing(small, unlimited), NoProof::kMemory);
}

TEST(ProofTest, OnlyVerdictsHaveProofs) {
  const Problem problem = RandomProblem(3, TightKnobs());
  Budget budget;
  PlanAnswer answer = *Place(problem, {}, budget);
  answer.outcome = Outcome::kFeasible;
  EXPECT_FALSE(ProvePlacement(problem, answer, {}, budget).has_value());
}

}  // namespace
}  // namespace berth::verify
