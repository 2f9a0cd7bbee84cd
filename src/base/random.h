// base/random.h -- random numbers that are the same on every platform.
//
// The standard library's distributions differ between implementations, so plans and generated
// problems must not use them. The generator is splitmix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014).
#ifndef BERTH_BASE_RANDOM_H_
#define BERTH_BASE_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace berth::internal {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Uniform in [lower, upper], both included; lower <= upper.
  std::int64_t Uniform(std::int64_t lower, std::int64_t upper) {
    const std::uint64_t range =
        static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower) + 1;
    if (range == 0) return static_cast<std::int64_t>(Next());
    const std::uint64_t limit = ~std::uint64_t{0} - ~std::uint64_t{0} % range;
    std::uint64_t draw = Next();
    while (draw >= limit) draw = Next();
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lower) + draw % range);
  }

  // Uniform in [0, 1).
  double Real() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

  bool Chance(double probability) { return Real() < probability; }

  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(Uniform(0, static_cast<std::int64_t>(i) - 1));
      std::swap(items[i - 1], items[j]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_RANDOM_H_
