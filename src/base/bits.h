// base/bits.h -- sets of small numbers as words of bits.
//
// Searches that hash, compare or copy their sets whole work on plain words; BitSet is a set that
// owns its words.
#ifndef BERTH_BASE_BITS_H_
#define BERTH_BASE_BITS_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::internal {

using Word = std::uint64_t;
inline constexpr std::size_t kWordBits = 64;

[[nodiscard]] inline std::size_t WordsFor(std::size_t bits) {
  return (bits + kWordBits - 1) / kWordBits;
}
[[nodiscard]] inline bool TestBit(const Word* set, std::size_t bit) {
  return (set[bit / kWordBits] >> (bit % kWordBits) & 1) != 0;
}
inline void SetBit(Word* set, std::size_t bit) {
  set[bit / kWordBits] |= Word{1} << (bit % kWordBits);
}
inline void ClearBit(Word* set, std::size_t bit) {
  set[bit / kWordBits] &= ~(Word{1} << (bit % kWordBits));
}

// Calls visit(bit) for every bit of `set`, in increasing order.
template <typename Visit>
void ForEachBit(const Word* set, std::size_t words, Visit visit) {
  for (std::size_t w = 0; w < words; ++w) {
    for (Word rest = set[w]; rest != 0; rest &= rest - 1) {
      visit(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
}

// The bits of word `w` that stand for numbers in [first, last).
[[nodiscard]] inline Word BitsWithin(std::size_t w, std::size_t first, std::size_t last) {
  const std::size_t base = w * kWordBits;
  if (last <= base || first >= base + kWordBits) return 0;
  Word bits = ~Word{0};
  if (first > base) bits &= ~Word{0} << (first - base);
  if (last < base + kWordBits) bits &= ~Word{0} >> (base + kWordBits - last);
  return bits;
}

// A set of strong indices below a size that is given once.
template <typename I>
class BitSet {
 public:
  BitSet() = default;
  explicit BitSet(std::size_t size) : words_(WordsFor(size)) {}

  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  void Add(I index) { SetBit(words_.data(), index.position()); }
  void Add(const BitSet& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  [[nodiscard]] bool Has(I index) const { return TestBit(words_.data(), index.position()); }
  // Whether any index of [first, last) is in the set.
  [[nodiscard]] bool Meets(I first, I last) const {
    if (last <= first) return false;
    for (std::size_t w = WordOf(first); w <= (last.position() - 1) / kWordBits; ++w) {
      if ((words_[w] & BitsWithin(w, first.position(), last.position())) != 0) return true;
    }
    return false;
  }

  [[nodiscard]] static std::size_t WordOf(I index) { return index.position() / kWordBits; }
  [[nodiscard]] Word& word(std::size_t w) { return words_[w]; }
  [[nodiscard]] Word word(std::size_t w) const { return words_[w]; }

 private:
  std::vector<Word> words_;
};

// Rows of bits, all of one length.
class BitMatrix {
 public:
  BitMatrix() = default;
  BitMatrix(std::size_t rows, std::size_t bits)
      : words_(WordsFor(bits)), data_(rows * words_, Word{0}) {}

  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] Word* operator[](std::size_t row) { return data_.data() + row * words_; }
  [[nodiscard]] const Word* operator[](std::size_t row) const {
    return data_.data() + row * words_;
  }
  [[nodiscard]] bool Test(std::size_t row, std::size_t bit) const {
    return TestBit((*this)[row], bit);
  }
  void Set(std::size_t row, std::size_t bit) { SetBit((*this)[row], bit); }
  // Row `into` becomes its union with row `from`.
  void Merge(std::size_t into, std::size_t from) {
    Word* const a = (*this)[into];
    const Word* const b = (*this)[from];
    for (std::size_t k = 0; k < words_; ++k) a[k] |= b[k];
  }

 private:
  std::size_t words_ = 0;
  std::vector<Word> data_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_BITS_H_
