// tools/verify/proof_state.h -- what a proof is about at one of its steps, and what follows at once.
//
// A state has a ground for each of some sections, and some buffers that are open. It claims nothing;
// the proof claims that the open buffers cannot be stacked there: each at an offset that alignment,
// pins and the capacity allow, its live bytes in every section on or above the ground, no two sharing
// a byte in any section.
#ifndef BERTH_TOOLS_VERIFY_PROOF_STATE_H_
#define BERTH_TOOLS_VERIFY_PROOF_STATE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "berth/problem.h"

namespace berth::verify {

// The bytes [lower, upper) of a buffer that are live in a section.
struct LivePart {
  std::size_t other;  // The section or the buffer, whichever list it is in.
  Bytes lower;
  Bytes upper;
};

// From the first to the last, both included.
using Range = std::pair<std::size_t, std::size_t>;

class ProofState {
 public:
  static constexpr Bytes kNowhere = std::numeric_limits<Bytes>::max() / 4;

  // Sections are steps of `problem`. Throws FalseStep where the two are too large together.
  ProofState(const Problem& problem, const std::vector<Step>& steps, Bytes capacity);

  [[nodiscard]] std::size_t sections() const { return of_section_.size(); }
  [[nodiscard]] std::size_t buffers() const { return of_buffer_.size(); }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  [[nodiscard]] Bytes grain() const { return grain_; }  // All levels are multiples of it.
  [[nodiscard]] bool has_windows() const { return has_windows_; }
  [[nodiscard]] Bytes size(std::size_t b) const { return problem_.buffers[b].size; }
  // Equal for buffers that can take each other's place.
  [[nodiscard]] std::size_t twin_class(std::size_t b) const { return twin_class_[b]; }
  [[nodiscard]] const std::vector<LivePart>& of_section(std::size_t s) const {
    return of_section_[s];
  }
  [[nodiscard]] const std::vector<LivePart>& of_buffer(std::size_t b) const {
    return of_buffer_[b];
  }

  [[nodiscard]] bool is_active(std::size_t s) const { return active_[s] != 0; }
  [[nodiscard]] bool is_open(std::size_t b) const { return open_[b] != 0; }
  [[nodiscard]] Bytes ground(std::size_t s) const { return ground_[s]; }
  [[nodiscard]] Bytes load(std::size_t s) const { return load_[s]; }  // Open bytes.
  // No open buffer can lie lower than this.
  [[nodiscard]] Bytes lowest(std::size_t b) const { return lowest_[b]; }
  // The least level of open bytes in a section; kNowhere if there are none.
  [[nodiscard]] Bytes Floor(std::size_t s) const;

  // Every section active on ground 0, every buffer open.
  void Begin();
  // These sections alone, on these grounds, and these buffers. Nothing can be undone before it.
  void Begin(const std::vector<std::pair<std::size_t, Bytes>>& grounds,
             const std::vector<Range>& open);
  // Forgets the other sections, and buffers that are live in none of these, which are active.
  void Restrict(const std::vector<std::size_t>& sections);
  // Puts an open buffer at its lowest offset. Where nothing open can lie lower, nothing can lie below
  // its top any more.
  void Place(std::size_t b);
  // Everything open in the section lies at `level` or above.
  void Raise(std::size_t s, Bytes level);

  [[nodiscard]] std::size_t changes() const { return journal_.size(); }
  void UndoTo(std::size_t changes);

 private:
  enum class Field : std::uint8_t { kActive, kOpen, kGround, kLoad, kLowest };
  struct Change {
    Field field;
    std::size_t index;
    Bytes old;
  };
  struct Blocked {
    Bytes after;  // Offsets above this and
    Bytes until;  // below this meet a pinned buffer.
  };

  void FindSections(const std::vector<Step>& steps);
  void FindBlocked();
  [[nodiscard]] static std::vector<Blocked> Merged(std::vector<Blocked> all);
  [[nodiscard]] int CompareTwins(std::size_t a, std::size_t b) const;
  void FindTwins();
  void FindGrain();
  [[nodiscard]] Bytes Lift(std::size_t b, Bytes offset) const;
  [[nodiscard]] Bytes LowestOf(std::size_t b) const;
  [[nodiscard]] Bytes& At(Field field, std::size_t index);
  void Set(Field field, std::size_t index, Bytes value);

  const Problem& problem_;
  Bytes capacity_;
  Bytes grain_ = 1;
  bool has_windows_ = false;
  std::vector<std::vector<LivePart>> of_section_;
  std::vector<std::vector<LivePart>> of_buffer_;
  std::vector<std::vector<Blocked>> blocked_;  // In increasing order, disjoint.
  std::vector<std::size_t> twin_class_;

  std::vector<Bytes> active_, open_, ground_, load_, lowest_;
  std::vector<Change> journal_;
};

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_PROOF_STATE_H_
