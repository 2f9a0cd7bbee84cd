// schedule/bits.h -- sets of operators as words of bits.
#ifndef BERTH_SCHEDULE_BITS_H_
#define BERTH_SCHEDULE_BITS_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::internal::schedule {

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
  for (std::size_t k = 0; k < words; ++k) {
    for (Word rest = set[k]; rest != 0; rest &= rest - 1) {
      visit(k * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
}

// Rows of bits, all of the same length.
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

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_BITS_H_
