#include "spill/peak_bound.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/arithmetic.h"
#include "base/check.h"
#include "base/side_by_side.h"
#include "base/within_memory.h"
#include "graph/loads.h"
#include "schedule/entry.h"

namespace berth::internal::spill {
namespace {

constexpr Bytes kMostWeight = 2;
constexpr std::array kWeights = {kMostWeight, Bytes{1}};
// Training steps need some hundred; what is not proved by then hardly is with many times as many.
constexpr std::int64_t kMostNodes = 100'000;
// Any more is as good.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

}  // namespace

Bytes PeakBound(const Graph& graph, const Counting& counting, const Model& model, Bytes capacity,
                std::size_t most_bytes, int threads, Budget& budget) {
  Bytes total = 0;
  for (const Stored& stored : model.storages.items()) total += stored.size;
  if (total <= capacity || total > kMaxBytes / kMostWeight) return 0;
  std::size_t loads = 0;
  Graph loaded = WithLoads(graph, counting, loads);
  for (Tensor& tensor : loaded.tensors) {
    tensor.output = false;  // A result has its copy, and may leave, once it has its last value.
    tensor.alignment = 1;
  }
  ScheduleOptions options;
  options.counting.unsized_as_zero = counting.unsized_as_zero;
  options.most_bytes = std::max(kLeastMostBytes, static_cast<std::size_t>(std::min<std::uint64_t>(
                                                     most_bytes / kWeights.size(), kMostBytes)));
  std::array<Bytes, kWeights.size()> bounds = {};
  const auto search = [&](std::size_t i, Budget& own) {
    Graph weighted = loaded;
    for (const Stored& stored : model.storages.items()) {
      weighted.tensors[stored.tensor].bytes = stored.size * (stored.moves_once() ? 1 : kWeights[i]);
    }
    if (own.Exhausted()) return AfterTask::kGoOn;
    own.SetNodeLimit(std::min(kMostNodes, own.node_limit()));
    const auto answer = schedule::ScheduleValid(weighted, options, own);
    BERTH_CHECK(answer.has_value());
    bounds[i] = answer->peak_bound - kWeights[i] * capacity;
    return AfterTask::kGoOn;
  };
  if (budget.node_limit() - budget.nodes_spent() >=
      kMostNodes * static_cast<std::int64_t>(kWeights.size())) {
    options.threads = std::max(threads / static_cast<int>(kWeights.size()), 1);
    SideBySide(kWeights.size(), kWeights.size(), budget).Run(threads, search);
  } else {  // Half of the nodes would prove less than all of them do of one weight.
    options.threads = threads;
    for (std::size_t i = 0; i < kWeights.size(); ++i) {
      Budget own(budget, 1);
      search(i, own);
    }
  }
  const Bytes bound = std::max(Bytes{0}, *std::max_element(bounds.begin(), bounds.end()));
  return RoundUp(bound, DivisorOf(model));
}

}  // namespace berth::internal::spill
