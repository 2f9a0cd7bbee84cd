// schedule/walk.h -- one step through the downsets of an instance, shared by the searches.
#ifndef BERTH_SCHEDULE_WALK_H_
#define BERTH_SCHEDULE_WALK_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "schedule/instance.h"

namespace berth::internal::schedule {

// The values of a downset, in addition to its bits.
struct Standing {
  Bytes live = 0;  // f of the downset, in bytes.
  Bytes peak = 0;  // The highest step on the way to it, in bytes.
};

// `state` points to two sets of words() words each: the executed operators and the ready ones.
class Walker {
 public:
  // Steps up to `floor` bytes cost nothing: no order has a lower peak.
  Walker(const Instance& instance, Bytes floor, bool dominance)
      : instance_(instance),
        words_(instance.words()),
        floor_(floor),
        dominance_(dominance),
        may_dominate_(words_, 0) {
    for (Op v = 0; v < instance.num_ops; ++v) {
      Bytes most_freed = 0;
      for (const Op b : instance.consumes[v]) most_freed += instance.buffers[b].bytes;
      if (instance.created_alone[v] <= most_freed) SetBit(may_dominate_.data(), v);
    }
  }

  [[nodiscard]] std::size_t words() const { return words_; }
  [[nodiscard]] std::size_t state_words() const { return 2 * words_; }

  [[nodiscard]] Standing Start(Word* state) const {
    std::fill(state, state + state_words(), Word{0});
    for (Op v = 0; v < instance_.num_ops; ++v) {
      if (instance_.predecessors[v].empty()) SetBit(state + words_, v);
    }
    const Bytes live = LiveAtStart(instance_);
    return {live, std::max(live, floor_)};
  }

  [[nodiscard]] Bytes StepBytes(const Word* state, const Standing& at, Op op) const {
    return at.live + CreatedBytes(instance_, state, op);
  }

  // Runs `op`, which must be ready.
  void Run(Word* state, Standing& at, Op op) const {
    const Bytes step = StepBytes(state, at, op);
    at.peak = std::max(at.peak, step);
    at.live = step - FreedBytes(instance_, state, op);
    SetBit(state, op);
    Word* const ready = state + words_;
    ClearBit(ready, op);
    for (const Op s : instance_.successors[op]) {
      bool is_ready = true;
      for (const Op p : instance_.predecessors[s]) is_ready = is_ready && TestBit(state, p);
      if (is_ready) SetBit(ready, s);
    }
  }

  // Dominance: an operator that frees at least what it creates, and whose step does not exceed the
  // peak so far, runs at once. Let S be the state, v the operator and f(S + v) <= f(S). Take any
  // order from S on and move v to its front. Submodularity gives f(T + v) <= f(T) + f(S + v) - f(S)
  // <= f(T) for every T between S and the old position of v. The same holds for the steps, so only
  // the step of v itself can grow, and it does not raise the peak. Repeats until no such operator
  // is left; `ran`, if given, gets the operators run. Returns the number of operators examined; one
  // with many shared buffers counts several times.
  std::int64_t RunDominant(Word* state, Standing& at, std::vector<Op>* ran = nullptr) const {
    std::int64_t looked_at = 0;
    if (!dominance_) return looked_at;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t k = 0; k < words_; ++k) {
        for (Word rest = state[words_ + k] & may_dominate_[k]; rest != 0; rest &= rest - 1) {
          const Op v =
              static_cast<Op>(k * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
          looked_at += LooksAt(v);
          const Bytes created = CreatedBytes(instance_, state, v);
          if (at.live + created > at.peak) continue;
          if (created > FreedBytes(instance_, state, v)) continue;
          Run(state, at, v);
          if (ran != nullptr) ran->push_back(v);
          again = true;
        }
      }
    }
    return looked_at;
  }

  // Work of an operator that dominance examines, in the units of Spending::SpendWork().
  static constexpr std::int64_t kWorkOfLook = 10;

  [[nodiscard]] bool AtEnd(const Word* state) const {
    for (std::size_t k = 0; k < words_; ++k) {
      if (state[words_ + k] != 0) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint64_t Hash(const Word* state) const {
    std::uint64_t hash = 0x9e3779b97f4a7c15u;
    for (std::size_t k = 0; k < words_; ++k) {
      hash = (hash ^ state[k]) * 0xbf58476d1ce4e5b9u;
      hash ^= hash >> 29;
    }
    return hash;
  }

  [[nodiscard]] const Instance& instance() const { return instance_; }

 private:
  [[nodiscard]] std::int64_t LooksAt(Op op) const {
    constexpr std::size_t kBuffersOfLook = 8;
    const std::size_t buffers =
        instance_.created_shared[op].size() + instance_.freed_shared[op].size();
    return 1 + static_cast<std::int64_t>(buffers / kBuffersOfLook);
  }

  const Instance& instance_;
  std::size_t words_;
  Bytes floor_;
  bool dominance_;
  std::vector<Word> may_dominate_;  // Operators that can free as much as they create.
};

}  // namespace berth::internal::schedule

#endif  // BERTH_SCHEDULE_WALK_H_
