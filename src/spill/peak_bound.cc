#include "spill/peak_bound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/arithmetic.h"
#include "base/check.h"
#include "graph/loads.h"
#include "schedule/entry.h"

namespace berth::internal::spill {
namespace {

constexpr Bytes kMostWeight = 2;
// Training steps need some hundred; what is not proved by then hardly is with many times as many.
constexpr std::int64_t kMostNodes = 100'000;
// Any more is as good.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

}  // namespace

Bytes PeakBound(const Graph& graph, const Counting& counting, const Model& model, Bytes capacity,
                std::size_t most_bytes, Budget& budget) {
  Bytes total = 0;
  for (const Stored& stored : model.storages.items()) total += stored.size;
  if (total <= capacity || total > kMaxBytes / kMostWeight) return 0;
  std::size_t loads = 0;
  Graph weighted = WithLoads(graph, counting, loads);
  for (Tensor& tensor : weighted.tensors) {
    tensor.output = false;  // A result has its copy, and may leave, once it has its last value.
    tensor.alignment = 1;
  }
  ScheduleOptions options;
  options.counting.unsized_as_zero = counting.unsized_as_zero;
  options.most_bytes = static_cast<std::size_t>(std::min<std::uint64_t>(most_bytes, kMostBytes));
  Bytes bound = 0;
  for (const Bytes weight : {kMostWeight, Bytes{1}}) {
    for (const Stored& stored : model.storages.items()) {
      weighted.tensors[stored.tensor].bytes = stored.size * (stored.moves_once() ? 1 : weight);
    }
    if (budget.Exhausted()) break;
    Budget part(budget, 0.5);
    part.SetNodeLimit(std::min(kMostNodes, part.node_limit()));
    const auto answer = schedule::ScheduleValid(weighted, options, part);
    BERTH_CHECK(answer.has_value());
    bound = std::max(bound, answer->peak_bound - weight * capacity);
  }
  return RoundUp(bound, DivisorOf(model));
}

}  // namespace berth::internal::spill
