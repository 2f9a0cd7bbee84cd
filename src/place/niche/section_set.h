// place/niche/section_set.h -- sets of sections, as bits.
#ifndef BERTH_PLACE_NICHE_SECTION_SET_H_
#define BERTH_PLACE_NICHE_SECTION_SET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::internal {

using BitWord = std::uint64_t;

// The bits of word `w` that stand for numbers in [first, last).
[[nodiscard]] inline BitWord BitsWithin(std::size_t w, std::int64_t first, std::int64_t last) {
  const auto base = static_cast<std::int64_t>(w) * 64;
  if (last <= base || first >= base + 64) return 0;
  BitWord bits = ~BitWord{0};
  if (first > base) bits &= ~BitWord{0} << (first - base);
  if (last < base + 64) bits &= ~BitWord{0} >> (base + 64 - last);
  return bits;
}

class SectionSet {
 public:
  SectionSet() = default;
  explicit SectionSet(std::size_t num_sections) : words_((num_sections + 63) / 64) {}

  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  void Add(std::int32_t s) { words_[WordOf(s)] |= BitOf(s); }
  void Add(const SectionSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool Has(std::int32_t s) const { return (words_[WordOf(s)] & BitOf(s)) != 0; }
  // Whether any section of [first, last) is in the set.
  [[nodiscard]] bool Meets(std::int32_t first, std::int32_t last) const {
    if (first >= last) return false;
    for (std::size_t w = WordOf(first); w <= WordOf(last - 1); ++w) {
      if ((words_[w] & BitsWithin(w, first, last)) != 0) return true;
    }
    return false;
  }

  [[nodiscard]] static std::size_t WordOf(std::int32_t s) {
    return static_cast<std::size_t>(s) / 64;
  }
  [[nodiscard]] BitWord& word(std::size_t w) { return words_[w]; }
  [[nodiscard]] BitWord word(std::size_t w) const { return words_[w]; }

 private:
  static BitWord BitOf(std::int32_t s) {
    return BitWord{1} << (static_cast<std::uint32_t>(s) % 64);
  }
  std::vector<BitWord> words_;
};

}  // namespace berth::internal

#endif  // BERTH_PLACE_NICHE_SECTION_SET_H_
