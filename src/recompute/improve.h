// recompute/improve.h -- sequences made to fit, and made cheaper, by adding, moving and removing
// executions.
#ifndef BERTH_RECOMPUTE_IMPROVE_H_
#define BERTH_RECOMPUTE_IMPROVE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "berth/budget.h"
#include "recompute/model.h"
#include "recompute/sequence.h"

namespace berth::internal::recompute {

// Executions measured: what searches count as work.
struct Work {
  std::int64_t left = 0;
  [[nodiscard]] bool spent() const { return left <= 0; }
};

class Improver {
 public:
  // With `fixed_order` first executions keep their order.
  Improver(const Model& model, Bytes capacity, bool fixed_order, std::uint64_t seed, Work& work,
           Budget& budget);

  // Adds executions where the sequence exceeds the capacity, the cheapest for the bytes that they free
  // first, until it fits. False if it does not.
  bool Repair(Sequence& sequence);
  // Takes out executions, the dearest first, as long as the sequence fits.
  void Prune(Sequence& sequence);
  // Adds, moves and takes out at random. `sequence` must be valid, and may exceed the capacity; it
  // becomes the best that fits, and `found` is called with each. Ends after `patience` trials without a
  // better one, or when the cost reaches `bound`.
  void Exchange(Sequence& sequence, std::int64_t bound, std::int64_t patience,
                const std::function<void(const Sequence&)>& found);

  // A sequence that is measured is a node of the budget.
  [[nodiscard]] Measure Of(const Sequence& sequence);

 private:
  // A stay of a storage between two uses in a row.
  struct Pause {
    Storage storage = 0;
    std::size_t from = 0;  // Positions in the sequence.
    std::size_t to = 0;
    std::int32_t version = 0;
  };
  // A storage just before some position.
  struct State {
    std::int32_t version = kMakes;
    std::size_t last = 0;   // Its last use before.
    bool stays = false;     // There is a use later on, too.
    bool seen = false;      // A touch later on.
    bool returned = false;  // Since its last touch.
  };
  // A storage that is to be made again, from link `next` of its chain on.
  struct Frame {
    Storage storage;
    std::int32_t version;
    std::int32_t next = 0;
    bool loads = false;  // It is copied back instead.
  };
  [[nodiscard]] bool Ended() { return work_.spent() || budget_.Exhausted(); }
  // The pauses around `position`.
  [[nodiscard]] std::vector<Pause> PausesAt(const Sequence& sequence, std::size_t position) const;
  // `sequence` with the storage of `pause` made again right before its second use. Inputs that are not
  // in memory at `around` anyway are made again, too, rather than kept through it.
  [[nodiscard]] std::optional<Sequence> WithReturn(const Sequence& sequence, const Pause& pause,
                                                   std::size_t around);
  [[nodiscard]] std::optional<Sequence> WithCopy(const Sequence& sequence, const Pause& pause);
  [[nodiscard]] std::optional<Sequence> WithBatch(const Sequence& sequence, const Pause& pause,
                                                  const std::vector<Op>& batch) const;
  [[nodiscard]] std::vector<State> StatesAt(const Sequence& sequence, std::size_t position) const;
  [[nodiscard]] bool ListReturn(const Pause& pause, std::size_t around, std::vector<State>& states,
                                std::vector<Op>& batch) const;
  [[nodiscard]] bool FindMissing(Op u, Storage made, const std::vector<State>& states,
                                 std::size_t around, std::optional<Frame>& missing) const;
  [[nodiscard]] std::vector<std::size_t> Repeats(const Sequence& sequence) const;
  [[nodiscard]] Sequence WithoutRepeats(const Sequence& sequence) const;
  // Two ways to change a sequence, with the arguments of Exchange(). Climb() begins with `current`.
  void Perturb(Sequence& sequence, std::int64_t bound, std::int64_t patience,
               const std::function<void(const Sequence&)>& found);
  void Climb(Sequence current, std::size_t length, std::int64_t bound, std::int64_t patience,
             Sequence& sequence, const std::function<void(const Sequence&)>& found);
  bool Move(Sequence& sequence);
  // `measure`: of the sequence, or of one like it.
  bool AddReturn(Sequence& sequence, const Measure& measure);
  // One random change. False if there was none. `measure`: of the sequence.
  bool Change(Sequence& sequence, const Measure& measure);
  [[nodiscard]] double FirstBytePrice() const;

  const Model& model_;
  const bool fixed_order_;
  Random random_;
  Work& work_;
  Budget& budget_;
  Measurer measurer_;
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_IMPROVE_H_
