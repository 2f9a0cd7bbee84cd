#include "tools/generate/on_chip.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace berth::internal {
namespace {

constexpr std::int64_t kFewestAccesses = 2;
constexpr std::int64_t kMostAccesses = 8;

// The bytes in use between two neighbouring starts or ends.
class Loads {
 public:
  explicit Loads(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) {
      steps_.push_back(buffer.start);
      steps_.push_back(buffer.end);
    }
    std::sort(steps_.begin(), steps_.end());
    steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
    loads_.assign(steps_.size(), 0);
  }

  // Adds the buffer where the load then stays within the capacity, and says whether it does.
  bool Add(const Buffer& buffer, Bytes capacity) {
    const std::size_t first = At(buffer.start);
    const std::size_t last = At(buffer.end);
    for (std::size_t s = first; s < last; ++s) {
      if (loads_[s] > capacity - buffer.size) return false;
    }
    for (std::size_t s = first; s < last; ++s) loads_[s] += buffer.size;
    return true;
  }

 private:
  [[nodiscard]] std::size_t At(Step step) const {
    return static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) -
                                    steps_.begin());
  }

  std::vector<Step> steps_;   // Increasing.
  std::vector<Bytes> loads_;  // From each of them to the next.
};

}  // namespace

Worth DrawWorth(const Problem& problem, std::uint64_t seed) {
  Worth worth;
  Random random(seed);
  std::vector<double> key;
  for (const Buffer& buffer : problem.buffers) {
    // No benefit is more than kMaxBytes.
    worth.benefit.push_back(std::min(buffer.size, kMaxBytes / kMostAccesses) *
                            random.Uniform(kFewestAccesses, kMostAccesses));
    worth.order.push_back(key.size());
    key.push_back(static_cast<double>(worth.benefit.back()) /
                  std::sqrt(static_cast<double>(buffer.size)));
  }
  std::stable_sort(worth.order.begin(), worth.order.end(),
                   [&](std::size_t a, std::size_t b) { return key[a] > key[b]; });
  return worth;
}

Problem KeepOnChip(const Problem& problem, Bytes capacity, std::uint64_t seed) {
  Loads loads(problem.buffers);
  std::vector<bool> kept(problem.buffers.size(), false);
  for (const std::size_t b : DrawWorth(problem, seed).order) {
    kept[b] = loads.Add(problem.buffers[b], capacity);
  }
  Problem on_chip;
  on_chip.capacity = capacity;
  for (std::size_t b = 0; b < kept.size(); ++b) {
    if (kept[b]) on_chip.buffers.push_back(problem.buffers[b]);
  }
  return on_chip;
}

}  // namespace berth::internal
