#include "place/niche/beam.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/bit_cast.h"
#include "base/numbers.h"

namespace berth::internal::niche {
namespace {

constexpr std::size_t kBuckets = 1000;
constexpr std::size_t kFirstWidth = 32;  // Plans in a bucket; 1.2 times as many in each new pass.
constexpr std::size_t kPoolBytes = std::size_t{256} << 20;
constexpr std::size_t kFewestPlans = 2 * kFirstWidth;

// A section that may waste a share w of the height that it has left is under the stress
// 1 / (w + kEase), for each unit of height. A power of two, so that no compiler rounds differently.
constexpr double kEase = 1.0 / 64;
// A section where an average share of all failures happened counts this much more.
constexpr double kFailureWeight = 0.5;
constexpr double kFade = 0.5;  // Of failures, from one pass to the next.

// What the parts of the guess count, stress as its logarithm to base 2.
constexpr double kBurden = 1;
constexpr double kRoughness = 0.5;
constexpr double kDetour = 0.02;
constexpr double kNoise = 0.15;

// Detours: the difference in value, at most kMostDetour; for giving up bytes kWasteDetour, and
// kWasteShare times the share of the capacity that it costs.
constexpr double kMostDetour = 3;
constexpr double kWasteDetour = 1;
constexpr double kWasteShare = 50;

constexpr double kValueUnit = 65'536;  // Of branching.h.

// log2 of `x`, at least 2^-1022, with straight lines between powers of two: the same on every
// machine.
double RoughLog2(double x) {
  const std::int64_t bits = BitCast<std::int64_t>(x) - (std::int64_t{1023} << 52);
  return static_cast<double>(bits) * 0x1p-52;
}

}  // namespace

template <typename Level>
Beam<Level>::Beam(const Instance& instance, Bytes grain, const Options& options, std::uint64_t seed,
                  std::size_t most_plans)
    : plan_(instance, grain, options),
      branching_(instance, plan_, options),
      random_(seed),
      uses_weights_(options.conflict_weights),
      is_large_(instance.pieces.size() + instance.num_sections() > kLarge),
      most_plans_(most_plans) {
  plan_.StopExplaining();
  if (most_plans_ == 0) {
    plan_.Save(root_);
    most_plans_ = std::max(kPoolBytes / root_.bytes(), kFewestPlans);
  }
  for (const ItemIndex i : plan_.items()) {
    const auto width = static_cast<double>(plan_.last_of(i).value() - plan_.first_of(i).value());
    burden_.push_back(width * std::sqrt(std::sqrt(width)) * static_cast<double>(plan_.size(i)));
    all_burden_ += burden_[i];
  }
  const std::size_t sections = plan_.num_sections();
  failures_.resize(sections);
  weight_.resize(sections);
  section_stress_.resize(sections);
}

template <typename Level>
void Beam<Level>::Start(Level capacity) {
  if (nodes_ > 0) plan_.Restore(root_);
  may_go_on_ = plan_.Reset(capacity);
  plan_.Save(root_);
  nodes_ = 0;
  width_ = 0;
  bucket_ = buckets_.size();
  open_.clear();
  next_ = 0;
  child_ = 0;
  failures_.assign(failures_.size(), 0);
}

template <typename Level>
void Beam<Level>::StartPass() {
  const bool is_first = width_ == 0 || pool_was_full_ || width_ >= most_plans_;
  width_ = is_first ? kFirstWidth : width_ + width_ / 5;
  pool_was_full_ = false;
  pass_nodes_ = 0;
  free_.clear();
  for (std::size_t k = pool_.size(); k > 0; --k) free_.push_back(k - 1);
  double failures = 0;
  for (const double f : failures_) failures += f;
  const double mean = failures / static_cast<double>(failures_.size());
  for (const SectionIndex s : plan_.sections()) {
    const double extra = failures > 0 && uses_weights_ ? kFailureWeight * failures_[s] / mean : 0;
    weight_[s] = kFirstWeight + static_cast<Weight>(extra * static_cast<double>(kFirstWeight));
    failures_[s] *= kFade;
  }
  buckets_.assign(kBuckets + 1, {});
  bucket_ = 0;
  plan_.Restore(root_);
  Node node;
  node.burden = all_burden_;
  Keep(buckets_.front(), node);
}

template <typename Level>
auto Beam<Level>::Run(std::int64_t node_limit, Budget& budget) -> End {
  const std::int64_t last_node = nodes_ + node_limit;
  while (may_go_on_) {
    if (next_ < open_.size()) {
      plan_.Restore(pool_[open_[next_].snapshot]);
      const End end = Expand(open_[next_], last_node, budget);
      if (end != End::kNothingToTry) return end;
      free_.push_back(open_[next_++].snapshot);
      child_ = 0;
      continue;
    }
    while (bucket_ < buckets_.size() && buckets_[bucket_].nodes.empty()) ++bucket_;
    if (bucket_ < buckets_.size()) {
      Close(buckets_[bucket_]);
    } else {
      // Where even the root has no children, no pass will get anywhere.
      if (width_ > 0 && pass_nodes_ == 0) may_go_on_ = false;
      if (may_go_on_) StartPass();
    }
  }
  return End::kNothingToTry;
}

// Its best nodes are those to be expanded.
template <typename Level>
void Beam<Level>::Close(Bucket& bucket) {
  Trim(bucket);
  open_ = std::move(bucket.nodes);
  bucket = {};
  next_ = 0;
  child_ = 0;
  std::sort(open_.begin(), open_.end(), IsBetter);
}

// Offers the children of the plan, which is that of `node`, from child_ on, until one of them is
// complete.
template <typename Level>
auto Beam<Level>::Expand(const Node& node, std::int64_t last_node, Budget& budget) -> End {
  if (!branching_.Choose({}, plan_.end_section(), true, &weight_)) return End::kNothingToTry;
  Measure();
  const std::span<const LaneIndex> candidates = branching_.candidates();
  const SectionIndex s = branching_.section();
  const Level level = plan_.budget(s) > 0 ? plan_.NextLevel(s) : Plan::kPlaced;
  const bool may_waste = level <= plan_.capacity() - plan_.unplaced(s);
  const auto value = [&](LaneIndex lane) {
    return branching_.value(plan_.item(lane)) + branching_.Fit(lane);
  };
  std::int64_t best = std::numeric_limits<std::int64_t>::min();
  for (const LaneIndex lane : candidates) best = std::max(best, value(lane));
  const std::size_t children = candidates.size() + (may_waste ? 1 : 0);
  for (; child_ < children; ++child_) {
    if (nodes_ >= last_node) return End::kOutOfNodes;
    if (!budget.SpendNode() || (is_large_ && budget.TimeIsUp())) return End::kOutOfBudget;
    ++nodes_;
    ++pass_nodes_;
    double burden = node.burden;
    double detours = node.detours;
    bool fits = false;
    if (child_ < candidates.size()) {
      const LaneIndex lane = candidates[child_];
      burden -= burden_[plan_.item(lane)];
      detours += std::min(static_cast<double>(best - value(lane)) / kValueUnit, kMostDetour);
      fits = plan_.Place(lane);
    } else {
      const auto wasted = static_cast<double>(level - plan_.floor(s));
      detours += kWasteDetour + kWasteShare * wasted / static_cast<double>(plan_.capacity());
      fits = plan_.Waste(s, level);
    }
    if (!fits) {
      failures_[plan_.failed_in()] += 1;
    } else if (Offer(burden, detours)) {
      return End::kFound;
    }
    plan_.Undo();
  }
  return End::kNothingToTry;
}

template <typename Level>
double Beam<Level>::Stress(SectionIndex s) const {
  const auto left = static_cast<double>(plan_.capacity() - plan_.floor(s));
  const auto budget = static_cast<double>(plan_.budget(s));
  return left * left / (budget + kEase * left) * static_cast<double>(weight_[s]);
}

// The sums over all sections, before children change some of them.
template <typename Level>
void Beam<Level>::Measure() {
  stress_ = 0;
  decided_ = 0;
  done_ = 0;
  floors_ = plan_.floors();
  for (const SectionIndex s : plan_.sections()) {
    if (plan_.unplaced(s) == 0) {
      floors_[s] = plan_.capacity();
      ++done_;
    }
    section_stress_[s] = plan_.unplaced(s) == 0 ? 0 : Stress(s);
    stress_ += section_stress_[s];
    decided_ += static_cast<double>(floors_[s]);
  }
}

// Keeps the plan if it is among the best of its bucket so far. True if it is complete.
template <typename Level>
bool Beam<Level>::Offer(double burden, double detours) {
  const std::size_t sections = plan_.num_sections();
  const auto capacity = static_cast<double>(plan_.capacity());
  double stress = stress_;
  double decided = decided_;
  std::size_t done = done_;
  for (SectionIndex s = plan_.touched_first(); s < plan_.touched_last(); ++s) {
    const bool is_done = plan_.unplaced(s) == 0;
    const auto was = static_cast<double>(floors_[s]);
    stress += (is_done ? 0 : Stress(s)) - section_stress_[s];
    decided += (is_done ? capacity : static_cast<double>(plan_.floor(s))) - was;
    if (is_done && floors_[s] != plan_.capacity()) ++done;
  }
  if (done == sections) return true;
  std::int32_t steps = 0;
  for (const SectionIndex s : IndexRange(SectionIndex(1), plan_.end_section())) {
    steps += plan_.floor(s) != plan_.floor(s.previous()) ? 1 : 0;
  }

  const double all = capacity * static_cast<double>(sections);
  const double left = std::max(all - decided, 1.0);  // Sums this large may be rounded.
  constexpr double kLeast = 0x1p-1000;
  Node node;
  node.burden = burden;
  node.detours = detours;
  node.rank = RoughLog2(std::max(stress / left, kLeast));
  node.rank += kBurden * burden / all_burden_ * all / left;
  node.rank += kRoughness * static_cast<double>(steps) / static_cast<double>(sections);
  node.rank += kDetour * detours;
  node.rank += kNoise * (2 * random_.Real() - 1);
  auto to = static_cast<std::size_t>(decided / all * static_cast<double>(kBuckets));
  to = std::min(std::max(to, bucket_ + 1), kBuckets);
  Bucket& bucket = buckets_[to];
  if (node.rank >= bucket.worst) return false;
  node.hash = Hash();
  if (!bucket.seen.insert(node.hash).second) return false;
  Keep(bucket, node);
  if (bucket.nodes.size() >= 2 * width_) Trim(bucket);
  return false;
}

template <typename Level>
void Beam<Level>::Keep(Bucket& bucket, Node node) {
  if (free_.empty() && pool_.size() >= most_plans_) {
    pool_was_full_ = true;
    Trim(bucket);
    if (free_.empty() || node.rank >= bucket.worst) return;
  }
  if (free_.empty()) {
    free_.push_back(pool_.size());
    pool_.emplace_back();
  }
  node.snapshot = free_.back();
  free_.pop_back();
  plan_.Save(pool_[node.snapshot]);
  bucket.nodes.push_back(node);
}

// Leaves the best of its nodes.
template <typename Level>
void Beam<Level>::Trim(Bucket& bucket) {
  std::vector<Node>& nodes = bucket.nodes;
  if (nodes.size() <= width_) return;
  const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(width_);
  std::nth_element(nodes.begin(), end, nodes.end(), IsBetter);
  bucket.worst = end->rank;
  for (auto node = end; node != nodes.end(); ++node) free_.push_back(node->snapshot);
  nodes.erase(end, nodes.end());
}

// Of what is left to do. Equal hashes are taken for equal plans: a mistake would cost a plan, not a
// proof.
template <typename Level>
std::uint64_t Beam<Level>::Hash() const {
  std::uint64_t hash = 0;
  for (const Word word : plan_.placed_lanes()) hash = Mixed(hash, word);
  for (const Level floor : plan_.floors()) hash = Mixed(hash, static_cast<std::uint64_t>(floor));
  return hash;
}

template class Beam<std::int32_t>;
template class Beam<std::int64_t>;

}  // namespace berth::internal::niche
