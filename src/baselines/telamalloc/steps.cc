#include "baselines/telamalloc/steps.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace berth::internal {
namespace {

void AllOf(const DecisionPoint& point, std::vector<std::size_t>& order) {
  order.resize(point.proposals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
}

// Always the block that can lie lowest, then those of the other heuristics.
class LowestFirst : public StepRule {
 public:
  void Rank(const DecisionPoint& point, std::vector<std::size_t>& order) override {
    AllOf(point, order);
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t k) { return point.proposals[k].By(Heuristic::kLowest); });
  }
};

// What is left without a model.
class RandomSteps : public StepRule {
 public:
  explicit RandomSteps(std::uint64_t seed) : random_(seed) {}
  void Rank(const DecisionPoint& point, std::vector<std::size_t>& order) override {
    AllOf(point, order);
    for (std::size_t k = order.size(); k > 1; --k) {
      const auto other = random_.Uniform(0, static_cast<std::int64_t>(k) - 1);
      std::swap(order[k - 1], order[static_cast<std::size_t>(other)]);
    }
  }

 private:
  Random random_;
};

}  // namespace

std::string_view ToString(StepFeature feature) {
  static constexpr std::array<std::string_view, kNumStepFeatures> kNames = {
      "longest",       "largest",           "largest_area",     "lowest_block", "size",
      "lifetime",      "contention",        "lowest",           "freedom",      "above_first",
      "relative_size", "relative_lifetime", "relative_freedom", "placed",       "same_phase"};
  return kNames[static_cast<std::size_t>(feature)];
}

void ComputeStepFeatures(const DecisionPoint& point, std::vector<float>& rows) {
  const std::span<const Proposal> proposals = point.proposals;
  rows.resize(proposals.size() * kNumStepFeatures);
  // Rounded once to 53 and once to 24 bits, the same on every machine.
  const auto share = [](std::int64_t part, std::int64_t of) {
    return static_cast<float>(static_cast<double>(part) /
                              static_cast<double>(std::max<std::int64_t>(of, 1)));
  };
  Bytes size = 0;
  Step lifetime = 0;
  Bytes freedom = 0;
  Bytes lowest = point.capacity;
  for (const Proposal& proposal : proposals) {
    size = std::max(size, proposal.size);
    lifetime = std::max(lifetime, proposal.lifetime);
    freedom = std::max(freedom, proposal.highest - proposal.lowest);
    lowest = std::min(lowest, proposal.lowest);
  }
  for (std::size_t k = 0; k < proposals.size(); ++k) {
    const Proposal& proposal = proposals[k];
    float* const row = rows.data() + k * kNumStepFeatures;
    const auto set = [&](StepFeature feature, float value) {
      row[static_cast<std::size_t>(feature)] = value;
    };
    const auto flag = [&](StepFeature feature, bool value) { set(feature, value ? 1.0F : 0.0F); };
    const Bytes free = proposal.highest - proposal.lowest;
    flag(StepFeature::kLongest, proposal.By(Heuristic::kLifetime));
    flag(StepFeature::kLargest, proposal.By(Heuristic::kSize));
    flag(StepFeature::kLargestArea, proposal.By(Heuristic::kArea));
    flag(StepFeature::kLowestBlock, proposal.By(Heuristic::kLowest));
    set(StepFeature::kSize, share(proposal.size, point.capacity));
    set(StepFeature::kLifetime, share(proposal.lifetime, point.time));
    set(StepFeature::kContention, share(proposal.contention, point.capacity));
    set(StepFeature::kLowest, share(proposal.lowest, point.capacity));
    set(StepFeature::kFreedom, share(free, point.capacity));
    set(StepFeature::kAboveFirst, share(proposal.lowest - lowest, point.capacity));
    set(StepFeature::kRelativeSize, share(proposal.size, size));
    set(StepFeature::kRelativeLifetime, share(proposal.lifetime, lifetime));
    set(StepFeature::kRelativeFreedom, share(free, freedom));
    set(StepFeature::kPlaced, share(point.blocks - point.unplaced, point.blocks));
    flag(StepFeature::kSamePhase, proposal.same_phase);
  }
}

ModelSteps::ModelSteps(const Forest& forest) : forest_(forest) {
  BERTH_CHECK(forest.features == kNumStepFeatures);
}

void ModelSteps::Rank(const DecisionPoint& point, std::vector<std::size_t>& order) {
  AllOf(point, order);
  if (order.size() < 2) return;
  ComputeStepFeatures(point, rows_);
  scores_.resize(order.size());
  Score(forest_, rows_, scores_);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return scores_[x] > scores_[y]; });
}

std::unique_ptr<StepRule> MakeStepRule(TelaMallocOptions::Order order, std::uint64_t seed) {
  using Order = TelaMallocOptions::Order;
  switch (order) {
    case Order::kPublished:
      return nullptr;
    case Order::kLowestFirst:
      return std::make_unique<LowestFirst>();
    case Order::kRandom:
      return std::make_unique<RandomSteps>(seed);
    case Order::kModel:
      return std::make_unique<ModelSteps>(ShippedStepModel());
  }
  return nullptr;
}

}  // namespace berth::internal
