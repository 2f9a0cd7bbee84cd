#include "memories/asking.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/prove.h"

namespace berth::internal::memories {
namespace {

// What a node of the guided search costs, in nodes of kAuto.
constexpr std::int64_t kGuidedWeight = 10;

}  // namespace

Asker::Asker(const MemoryProblem& problem, const Model& model, const PlaceOptions& options,
             bool cores, Budget& budget)
    : problem_(problem), model_(model), options_(options), cores_(cores), budget_(budget) {
  options_.progress = nullptr;
  options_.minimize = false;
  options_.minimize_if_infeasible = false;
}

Problem Asker::TableOf(std::size_t memory, const std::vector<std::size_t>& units,
                       const Assignment& assignment) const {
  const std::vector<Buffer>& all = model_.tables[memory].problem.buffers;
  Problem table;
  table.capacity = problem_.memories[memory].capacity;
  for (const std::size_t u : units) {
    Buffer& buffer = table.buffers.emplace_back(all[u]);
    const Mode& mode = model_.units[u].modes[static_cast<std::size_t>(assignment[u])];
    if (mode.pin) buffer.offset = mode.pin;
    if (!problem_.placing.empty()) {
      const std::size_t b = model_.units[u].buffers.front();
      const std::optional<Previous>& previous = problem_.placing[b].previous;
      if (previous && previous->memory == memory) {
        const Bytes hint = previous->offset - model_.tables[memory].places[b].distance;
        if (hint >= 0 && hint <= kMaxBytes) buffer.hint = hint;
      }
    }
  }
  table.buffers.insert(table.buffers.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(model_.units.size()), all.end());
  return table;
}

Asker::Answer Asker::Ask(const Problem& table, const Look& look, std::vector<Bytes>* offsets) {
  Budget part(budget_, 1.0);
  part.SetNodeLimit(std::min(look.nodes, part.node_limit()));
  options_.algorithm = look.algorithm;
  std::optional<std::vector<std::size_t>> core;
  const Result<PlanAnswer> answer =
      cores_ ? PlaceWithCore(table, options_, part, core) : Place(table, options_, part);
  if (!answer) return {};
  if (answer->outcome == Outcome::kInfeasible) {
    return {Fit::kNo, part.nodes_spent(), std::move(core)};
  }
  if (offsets != nullptr && answer->best) *offsets = PlacementOf(*answer->best).offsets;
  const bool fits = answer->fits() || (answer->best && !table.capacity);
  return {fits ? Fit::kYes : Fit::kUnknown, part.nodes_spent(), {}};
}

std::vector<std::size_t> Asker::PlaceMost(const Assigner& assigner, std::size_t memory,
                                          const std::vector<std::size_t>& units,
                                          std::span<const Look> looks, Wide best,
                                          std::int64_t most_work, Placed& plan) {
  const std::vector<Buffer>& buffers = model_.tables[memory].problem.buffers;
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t u : units) {
    const double steps = static_cast<double>(buffers[u].end - buffers[u].start);
    const double area = static_cast<double>(buffers[u].size) * steps;
    order.emplace_back(-assigner.Gain(u, plan.assignment[u]) / std::sqrt(area + 1), u);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> placed;
  std::vector<std::size_t> conflict;
  std::vector<Bytes> offsets;
  std::size_t at = 0;
  for (std::size_t run = order.size() / 2;
       at < order.size() && !budget_.Exhausted() && most_work > 0;) {
    run = std::clamp<std::size_t>(run, 1, order.size() - at);
    std::vector<std::size_t> wanted = placed;
    for (std::size_t k = at; k < at + run; ++k) wanted.push_back(order[k].second);
    std::vector<Bytes> found;
    const Problem table = TableOf(memory, wanted, plan.assignment);
    Answer answer;
    for (const Look& look : looks) {
      if (answer.fit != Fit::kUnknown) break;
      answer = Ask(table, look, &found);
      const std::int64_t weight = look.algorithm == Algorithm::kGuided ? kGuidedWeight : 1;
      most_work -= weight * (answer.nodes + 1) * static_cast<std::int64_t>(wanted.size());
    }
    if (answer.fit == Fit::kYes) {
      placed = std::move(wanted);
      offsets = std::move(found);
      at += run;
      run *= 2;
    } else if (run > 1) {
      run /= 2;
    } else {
      if (conflict.empty()) conflict = std::move(wanted);
      const std::size_t out = order[at++].second;
      plan.assignment[out] = assigner.BaseOf(out);
      if (assigner.Score(plan.assignment) >= best) break;
    }
  }
  for (; at < order.size(); ++at) {
    plan.assignment[order[at].second] = assigner.BaseOf(order[at].second);
  }
  for (std::size_t k = 0; k < placed.size(); ++k) plan.offsets[placed[k]] = offsets[k];
  return conflict;
}

std::vector<std::size_t> UnitsIn(const Model& model, std::size_t memory,
                                 const Assignment& assignment) {
  std::vector<std::size_t> units;
  for (std::size_t u = 0; u < assignment.size(); ++u) {
    if (assignment[u] == kOut) continue;
    const auto k = static_cast<std::size_t>(assignment[u]);
    if (model.units[u].modes[k].memory == memory) units.push_back(u);
  }
  return units;
}

}  // namespace berth::internal::memories
