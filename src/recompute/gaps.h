// recompute/gaps.h -- for one order: between which uses to keep each storage, and which to drop.
//
// Between two uses in a row a storage either stays in memory, or is dropped and made again, or copied
// back, before the second. Dropping a gap costs at least what the operators cost that make its version,
// and those that make what these read, where that has been written over. While an operator runs, what is
// kept besides what it touches must fit. So the best choice of gaps by bytes alone, memories/choose.h,
// is a bound on every plan in this order; inputs of what runs again are taken as given. At real prices
// it is also the guide to plans.
//
// An operator that brings back several storages costs once: they pay for it together (repeats.h). With a link
// they share its cost; what can only be copied pays its copies back, and together its copy out.
#ifndef BERTH_RECOMPUTE_GAPS_H_
#define BERTH_RECOMPUTE_GAPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/wide.h"
#include "berth/budget.h"
#include "memories/gap_selection.h"
#include "recompute/gap.h"
#include "recompute/lost.h"
#include "recompute/model.h"
#include "recompute/repeats.h"

namespace berth::internal::recompute {

// One order, with each operator once, and its gaps.
class Gaps {
 public:
  // `most_bytes`: memory for one choice, roughly.
  Gaps(const Model& model, const std::vector<Op>& order, Bytes capacity,
       std::size_t most_bytes = std::size_t{2} << 30);

  // By storage, then time. Only those that can be dropped and have steps in between.
  [[nodiscard]] const std::vector<Gap>& all() const { return gaps_; }
  // Bytes beside what cannot be dropped, by step. Negative: the order does not fit at all.
  [[nodiscard]] const std::vector<Bytes>& room() const { return room_; }
  [[nodiscard]] bool fits_at_all() const;

  struct Answer {
    std::vector<char> kept;  // By gap.
    std::int64_t bound = 0;  // With kProof: no sequence costs less, if `extra` is empty or 0.
  };
  // How far a choice is searched: some thousand states, so that it may cost some per cent more; until it
  // is nearly always the best; or for a proof.
  enum class Depth { kQuick, kUsual, kProof };
  // When the bytes of a gap count: always, or only once its price has begun (Repeats::after). Then what is
  // chosen may not fit. kProof takes it like that.
  enum class Count { kAlways, kWhenPaid };
  // The cheapest choice that fits by bytes, if each gap that is dropped pays `extra` (by gap, at least 0;
  // empty: nothing) besides what it must. fits_at_all() must hold.
  [[nodiscard]] Answer Choose(const std::vector<std::int64_t>& extra, Depth depth, Count count,
                              Budget& budget) const;
  // That a gap is missing at some step after this one, before it ends, or at none.
  struct Decision {
    std::size_t gap = 0;
    std::uint32_t step = 0;
    bool missing = false;
  };
  // What a branch of a proof takes for granted.
  struct Branch {
    std::vector<std::uint32_t> ends;  // By gap: in memory from this step on.
    MissingAfter missing_after;       // By gap.
  };
  // Of several decisions for one gap each leaves less open than the ones before.
  [[nodiscard]] Branch BranchOf(const std::vector<Decision>& decisions) const;
  // The choice with kProof in a branch; gaps that are known to be missing are dropped. Nothing if nothing
  // fits in it. `model` is that of the gaps, and has no link.
  [[nodiscard]] std::optional<Answer> ProveIn(const Branch& branch, const Model& model,
                                              Budget& budget) const;
  // The same in no time and without a bound: what is dear for its bytes and steps stays.
  // Ends early, with the rest dropped, once the time of `budget` is up.
  [[nodiscard]] std::vector<char> ChooseGreedily(const std::vector<std::int64_t>& extra,
                                                 const Budget* budget = nullptr) const;
  // Whether the price of some gap begins late.
  [[nodiscard]] bool IsAnyLate() const;
  // What a gap that is dropped pays at least on its own.
  [[nodiscard]] std::int64_t LeastOf(std::size_t gap) const { return repeats_.price[gap]; }
  // Whether no operator is paid for by several gaps together.
  [[nodiscard]] bool SharesNoOperator() const { return needs_.empty(); }
  // Whether nothing but a copy brings it back: what it must pay is then all that it pays.
  [[nodiscard]] bool IsOnlyCopied(std::size_t gap) const;
  // The operators that gaps need, by gap; none with a link.
  [[nodiscard]] const std::vector<Need>& needs() const { return needs_; }
  // Otherwise: whether what `gap` must pay if it is dropped has a part in this operator.
  [[nodiscard]] bool Covers(std::size_t gap, Op v) const;

 private:
  [[nodiscard]] std::vector<std::size_t> FullSteps() const;
  [[nodiscard]] std::vector<memories::PricedGap> PricedGaps(const Repeats& repeats,
                                                            const std::vector<std::int64_t>& extra,
                                                            Count count) const;
  [[nodiscard]] std::size_t SectionFrom(std::size_t step) const;
  [[nodiscard]] std::vector<Bytes> RoomOfSections(const std::vector<Bytes>& room) const;
  // Within the effort of a proof.
  [[nodiscard]] memories::GapSelection::Answer ChooseFor(const memories::GapSelection& selection,
                                                         Depth depth, Budget& budget) const;
  // Those of the gaps that may have to be dropped.
  [[nodiscard]] std::vector<std::size_t> LikelyGaps() const;
  void FindNeeds(const Model& model, const std::vector<Op>& order);
  void Stay(std::size_t g, std::uint32_t from);
  void AddNeeds(const Model& model, const LostMakers& makers, std::size_t g,
                const std::vector<std::uint32_t>& step_of);
  void ShareCopiesOut(const Model& model);
  [[nodiscard]] Repeats PricesByShares(const Model& model) const;
  [[nodiscard]] static std::vector<std::int64_t> PricesOf(const Model& model, Storage s,
                                                          const std::vector<std::int64_t>& counts,
                                                          const std::vector<Wide>& shares);

  std::size_t steps_;
  std::size_t most_bytes_;
  std::vector<Bytes> size_;  // By gap.
  std::vector<Gap> gaps_;
  std::vector<std::uint32_t> ends_;  // By gap: from this step on nothing could bring it back.
  std::vector<Bytes> room_;
  std::vector<std::size_t> full_;  // The steps at which not everything fits.
  std::vector<Need> needs_;        // By gap; none with a link.
  Repeats repeats_;
  std::vector<char> only_copied_;  // By gap; empty without a link.
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_GAPS_H_
