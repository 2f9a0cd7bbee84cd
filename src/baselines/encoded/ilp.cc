#include "baselines/encoded/ilp.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::internal {
namespace {

using milp::Number;
using milp::Term;
using milp::VariableIndex;

// The constraint `difference` of a region, switched off while `off` is 1, or while `on` is 0.
struct Switched {
  Difference difference;
  std::optional<VariableIndex> off;
  VariableIndex on;
};

void AddSwitched(const Encoding& encoding, const Switched& switched, Grains capacity,
                 std::string name, IlpModel& ilp) {
  const auto from = static_cast<std::size_t>(switched.difference.from);
  const auto to = static_cast<std::size_t>(switched.difference.to);
  std::vector<Term> terms = {{ilp.positions[to], encoding.items[to].alignment},
                             {ilp.positions[from], -encoding.items[from].alignment}};
  Number least = switched.difference.least;
  if (switched.off) {
    terms.push_back({*switched.off, capacity});
  } else {
    terms.push_back({switched.on, -capacity});
    least -= capacity;
  }
  ilp.model.AddConstraint(std::move(name), least, std::move(terms), milp::kInfinity);
}

// The region of `pair` in which `offsets` lie.
std::size_t RegionOf(const Encoding::Pair& pair, const std::vector<Grains>& offsets) {
  const Grains difference =
      offsets[static_cast<std::size_t>(pair.j)] - offsets[static_cast<std::size_t>(pair.i)];
  std::size_t region = 0;
  while (region < pair.forbidden.size() && difference > pair.forbidden[region].lower) ++region;
  return region;
}

// The constraints of the regions that `values` choose, and which variable stands for each.
struct Chosen {
  std::vector<Difference> constraints;
  std::vector<VariableIndex> because;
};
Chosen ChosenRegions(const Encoding& encoding, const IlpModel& ilp,
                     const std::vector<Number>& values) {
  Chosen chosen;
  for (std::size_t p = 0; p < encoding.pairs.size(); ++p) {
    for (std::size_t region = 0; region < ilp.regions[p].size(); ++region) {
      const VariableIndex variable = ilp.regions[p][region];
      if (values[variable.position()] != 1) continue;
      AppendRegion(encoding.pairs[p], region, chosen.constraints);
      chosen.because.resize(chosen.constraints.size(), variable);
    }
  }
  return chosen;
}

Grains HeightOf(const Encoding& encoding, const std::vector<Grains>& offsets) {
  Grains height = 0;
  for (std::size_t x = 0; x < offsets.size(); ++x) {
    height = std::max(height, offsets[x] + encoding.items[x].size);
  }
  return height;
}

}  // namespace

IlpModel BuildIlp(const Problem& problem, const Encoding& encoding, Grains capacity,
                  std::optional<Grains> least_height) {
  IlpModel ilp;
  milp::Model& model = ilp.model;
  if (least_height) {
    ilp.height = model.AddVariable("height", *least_height, capacity);
    model.objective = {{*ilp.height, 1}};
  }
  for (std::size_t x = 0; x < encoding.items.size(); ++x) {
    const Encoding::Item& item = encoding.items[x];
    const Grains highest = encoding.HighestOffset(x, capacity);
    BERTH_CHECK(highest >= 0);
    const std::string& id = problem.buffers[x].id;
    const Grains lower = item.pin.value_or(0);
    ilp.positions.push_back(
        model.AddVariable("pos_" + id, lower / item.alignment, highest / item.alignment));
    if (ilp.height) {
      model.AddConstraint("below_" + id, item.size,
                          {{*ilp.height, 1}, {ilp.positions.back(), -item.alignment}},
                          milp::kInfinity);
    }
  }
  for (const Encoding::Pair& pair : encoding.pairs) {
    const std::string name = problem.buffers[static_cast<std::size_t>(pair.i)].id + "_" +
                             problem.buffers[static_cast<std::size_t>(pair.j)].id;
    std::vector<VariableIndex> regions;
    std::vector<Term> one;
    for (std::size_t r = 0; r < pair.num_regions(); ++r) {
      const std::string prefix = r == 0                        ? "above_"
                                 : r + 1 == pair.num_regions() ? "under_"
                                                               : "within" + std::to_string(r) + "_";
      regions.push_back(model.AddBinary(prefix + name));
      one.push_back({regions.back(), 1});
    }
    model.AddConstraint("one_" + name, 1, std::move(one), 1);
    for (std::size_t r = 0; r < pair.num_regions(); ++r) {
      std::vector<Difference> differences;
      AppendRegion(pair, r, differences);
      for (const Difference& difference : differences) {
        Switched switched{difference, std::nullopt, regions[r]};
        if (regions.size() == 2) switched.off = regions[1 - r];
        AddSwitched(encoding, switched, capacity,
                    "apart" + std::to_string(model.constraints.size()) + "_" + name, ilp);
      }
    }
    ilp.regions.push_back(std::move(regions));
  }
  return ilp;
}

std::vector<Number> IlpStart(const Encoding& encoding, const IlpModel& ilp,
                             const std::vector<Grains>& offsets) {
  std::vector<Number> start(ilp.model.variables.size(), 0);
  if (ilp.height) start[ilp.height->position()] = HeightOf(encoding, offsets);
  for (std::size_t x = 0; x < offsets.size(); ++x) {
    start[ilp.positions[x].position()] = offsets[x] / encoding.items[x].alignment;
  }
  for (std::size_t p = 0; p < encoding.pairs.size(); ++p) {
    start[ilp.regions[p][RegionOf(encoding.pairs[p], offsets)].position()] = 1;
  }
  return start;
}

Result<IlpAnswer> SolveIlp(const Encoding& encoding, Grains capacity, IlpModel ilp,
                           milp::Backend backend, std::uint64_t seed, Budget& budget) {
  using Verdict = Decision::Verdict;
  IlpAnswer answer;
  while (true) {
    auto solved = milp::Solve(ilp.model, backend, {seed}, budget);
    if (!solved) return tl::unexpected(solved.error());
    if (solved->bound) answer.bound = std::max(answer.bound.value_or(0), *solved->bound);
    const bool whole = !solved->values.empty();
    const std::vector<Number>& values = whole ? solved->values : solved->rejected;
    if (!values.empty()) {
      const Chosen chosen = ChosenRegions(encoding, ilp, values);
      std::vector<std::size_t> conflict;
      auto offsets = LeastOffsets(encoding, capacity, chosen.constraints, &conflict);
      if (offsets && IsPlan(encoding, capacity, *offsets)) {
        answer.decision = {Verdict::kFound, std::move(*offsets)};
        return answer;
      }
      BERTH_CHECK(!whole);
      if (offsets || conflict.empty()) break;
      std::vector<Term> terms;
      for (const std::size_t c : conflict) {
        const bool known = std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
          return term.variable == chosen.because[c];
        });
        if (!known) terms.push_back({chosen.because[c], 1});
      }
      const auto most = static_cast<Number>(terms.size()) - 1;
      ilp.model.AddConstraint("conflict" + std::to_string(ilp.model.constraints.size()),
                              -milp::kInfinity, std::move(terms), most);
      if (!budget.Exhausted()) continue;
      return answer;
    }
    if (solved->status == milp::Status::kInfeasible) {
      answer.decision.verdict = Verdict::kImpossible;
    } else if (!budget.Exhausted()) {
      break;
    }
    return answer;
  }
  answer.decision.verdict = Verdict::kInconclusive;
  return answer;
}

}  // namespace berth::internal
