// recompute/improve.h -- sequences made to fit, and made cheaper, by adding, moving and removing
// executions.
#ifndef BERTH_RECOMPUTE_IMPROVE_H_
#define BERTH_RECOMPUTE_IMPROVE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/random.h"
#include "berth/budget.h"
#include "recompute/model.h"
#include "recompute/sequence.h"
#include "recompute/timeline.h"
#include "recompute/work.h"

namespace berth::internal::recompute {

// How long the attempts of Exchange() are, and where the next one starts. After each kTurns that found nothing
// better the length is the next number of Luby's sequence: most are short, and each length has as much time as
// any other.
struct Effort {
  static constexpr std::size_t kLeast = 800;
  // One of so many attempts starts from a sequence without repeats.
  static constexpr std::size_t kTurns = 2;
  std::size_t history = kLeast;  // Trials back to what is compared with.
  std::int64_t number = 1;       // Of the next length in Luby's sequence.
  std::size_t turn = 0;          // Attempts since the latest better sequence.
  // To begin with that attempt. A good sequence for less memory differs much from a good one for more, but
  // little from what the order of that one leads to.
  [[nodiscard]] static Effort WithoutRepeats() { return {kLeast, 1, kTurns - 1}; }
};

class Improver {
 public:
  // With `fixed_order` first executions keep their order.
  Improver(const Model& model, Bytes capacity, bool fixed_order, std::uint64_t seed, Work& work,
           Budget& budget);

  // Adds executions where the sequence exceeds the capacity, the cheapest for the bytes that they free
  // first, until it fits. False if it does not, or costs more than `most` before it does.
  bool Repair(Sequence& sequence, std::int64_t most = kMostCost);
  // Takes out executions, the dearest first, as long as the sequence fits.
  void Prune(Sequence& sequence);
  // Moves executions of a sequence that fits, at no cost, so that the memory is full in fewer steps.
  void Calm(Sequence& sequence);
  // Adds, moves and takes out at random. `sequence` must be valid, and may exceed the capacity; it becomes the
  // best that fits, and `found` is called with it now and then. Starts over from it, and by turns from its first
  // executions or one of `orders`, for as long as what that leads to becomes better. Ends after `patience` trials
  // in vain, or when the cost reaches `bound`. `effort` is where an earlier call left off.
  void Exchange(Sequence& sequence, const std::vector<Sequence>& orders, std::int64_t bound,
                std::int64_t patience, Effort& effort,
                const std::function<void(const Sequence&)>& found);

 private:
  // A storage that is to be made again, from link `next` of its chain on.
  struct Frame {
    Storage storage;
    std::int32_t version;
    std::int32_t next = 0;
    bool loads = false;  // It is copied back instead.
  };
  // How a change to a sequence turned out.
  struct State {
    bool valid = false;
    std::int64_t cost = 0;
    double excess = 0;
    bool fits = false;
  };
  [[nodiscard]] bool Ended() { return work_.spent() || budget_.Exhausted(); }
  void Load(const Sequence& sequence);
  // Changes the sequence, and counts that.
  State Change(const std::vector<Edit>& edits);
  void UndoTo(std::size_t changes);
  void Count();
  [[nodiscard]] State Now() const;

  // The storage of `pause` made again right before its second use. Inputs that are not in memory at
  // `around` anyway are made again, too, rather than kept through it. Nothing if that cannot be, or if what
  // runs again costs more than `most`.
  [[nodiscard]] std::optional<std::vector<Edit>> Return(const Pause& pause, std::size_t around,
                                                        double most);
  [[nodiscard]] std::optional<std::vector<Edit>> Copy(const Pause& pause) const;
  [[nodiscard]] std::optional<std::vector<Edit>> Insert(std::size_t at,
                                                        const std::vector<Op>& batch) const;
  [[nodiscard]] Held& HeldNow(Storage s, std::size_t position);
  [[nodiscard]] bool ListReturn(const Pause& pause, std::size_t around, double most,
                                std::vector<Op>& batch);
  [[nodiscard]] bool FindMissing(Op u, Storage made, const Pause& pause, std::size_t around,
                                 std::optional<Frame>& missing);
  // What can be dropped around `position`.
  [[nodiscard]] std::vector<Pause> PausesAt(std::size_t position) const;
  [[nodiscard]] std::optional<Pause> SomePauseAt(std::size_t position);
  [[nodiscard]] std::size_t SomePosition();
  [[nodiscard]] std::size_t Peak();
  [[nodiscard]] std::vector<std::size_t> Repeats();

  bool RepairNow(std::int64_t most, double noise = 1);
  void PruneNow();
  // Until so many trials have failed, or so much work is done.
  struct Patience {
    std::int64_t trials = 0;
    std::int64_t work = 0;
  };
  template <typename Modify>
  bool Descend(Sequence& sequence, std::int64_t bound, const Patience& patience,
               const std::function<void(const Sequence&)>& found, Modify modify);
  // Four ways to change the sequence in turn; roughly how many trials were made. The first begins with `start`,
  // the others with `sequence`.
  std::int64_t Attempt(const Sequence& start, std::size_t history, std::int64_t bound,
                       Sequence& sequence, const std::function<void(const Sequence&)>& found);
  // These are the four, with the arguments of Exchange().
  void Perturb(Sequence& sequence, std::int64_t bound, const Patience& patience,
               const std::function<void(const Sequence&)>& found);
  void Climb(const Sequence& start, std::size_t length, std::int64_t bound, std::int64_t patience,
             Sequence& sequence, const std::function<void(const Sequence&)>& found);
  std::int64_t ClimbBelow(Sequence& sequence, std::size_t length, std::int64_t bound,
                          std::int64_t patience, const std::function<void(const Sequence&)>& found);
  [[nodiscard]] bool RemoveDownTo(std::int64_t most);
  std::int64_t LowerExcess(std::size_t length, std::int64_t most, std::int64_t patience);
  void Rebuild(Sequence& sequence, std::int64_t bound, const Patience& patience,
               const std::function<void(const Sequence&)>& found);
  void CalmFrom(const Sequence& start, std::size_t length, Sequence& sequence, double& least);
  [[nodiscard]] Sequence StartOf(std::size_t turn, const Sequence& sequence,
                                 const std::vector<Sequence>& orders) const;
  // Each makes one random change. False if there was none, or if what it adds costs more than `most`, or
  // `most_copied` if that is a copy.
  bool MoveSome();
  bool MoveAcrossPeak();
  bool ReturnSome(double most, double most_copied);
  [[nodiscard]] static double ChanceOfCopy(const StorageInfo& info, std::int32_t version);
  bool RemoveSome();
  bool RemoveOne();
  bool SwapSome(std::int64_t most);
  bool ChangeSome(double most);
  bool MoveInto(std::size_t from, std::size_t lower, std::size_t upper);
  [[nodiscard]] std::size_t SomeDistance(std::size_t most);
  [[nodiscard]] bool RangeOf(std::size_t from, std::size_t& lower, std::size_t& upper) const;
  [[nodiscard]] Sequence WithoutRepeats(const Sequence& sequence) const;
  [[nodiscard]] double FirstBytePrice() const;

  const Model& model_;
  const bool fixed_order_;
  Random random_;
  Work& work_;
  Budget& budget_;
  Timeline timeline_;
  std::int64_t counted_ = 0;  // Of the timeline's work.
  // By storage, as a list of what runs again goes on: what it will find, if it was asked in this list.
  std::vector<Held> held_;
  std::vector<std::uint32_t> held_in_;
  std::uint32_t list_ = 0;
  std::vector<char> listed_;  // By operator.
  std::vector<char> open_;    // By storage.
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_IMPROVE_H_
