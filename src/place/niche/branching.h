// place/niche/branching.h -- where a partial plan branches, and which buffer looks best there.
#ifndef BERTH_PLACE_NICHE_BRANCHING_H_
#define BERTH_PLACE_NICHE_BRANCHING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/instance.h"
#include "place/niche/partial_plan.h"

namespace berth::internal::niche {

// Weights of sections: how much has failed there, in units of kFirstWeight.
using Weight = std::uint64_t;
inline constexpr Weight kFirstWeight = Weight{1} << 16;

// With more pieces and sections than this a node takes so long that waiting for the budget's next
// look at the clock would overrun it.
inline constexpr std::size_t kLarge = 2000;

template <typename Level>
class Branching {
 public:
  using Plan = PartialPlan<Level>;

  static constexpr SectionIndex kNoSection{-1};

  // `plan` is asked about, and must outlive this.
  Branching(const Instance& instance, const Plan& plan, const Options& options);

  // Picks a section of a niche within [first, last): either one of candidates() lies on its floor,
  // or nothing does. It is the one with the fewest choices in the least budget where most has
  // failed, of the lowest niche or of any; where `weights` is null all count the same. False if there is
  // none that is sure to leave nothing out.
  [[nodiscard]] bool Choose(SectionIndex first, SectionIndex last, bool any_niche,
                            const IndexedVector<SectionIndex, Weight>* weights);
  [[nodiscard]] SectionIndex section() const { return best_.section; }
  [[nodiscard]] std::span<const LaneIndex> candidates() const { return candidates_; }  // By number.

  // How valuable an item is in general, and `lane` in the niche it was just chosen for: logarithms
  // to base 2, in units of 1/65536.
  [[nodiscard]] std::int64_t value(ItemIndex item) const { return value_[item]; }
  [[nodiscard]] std::int64_t Fit(LaneIndex lane) const;

 private:
  struct Choice {
    SectionIndex section = kNoSection;
    SectionIndex first;  // Its niche.
    SectionIndex last;
    std::size_t begin = 0;  // candidates_: of the niche.
    std::size_t end = 0;
    double score = 0;
  };

  [[nodiscard]] bool FindCandidates(SectionIndex first, SectionIndex last);
  void ScoreSections(SectionIndex first, SectionIndex last, std::size_t begin,
                     const IndexedVector<SectionIndex, Weight>* weights);

  const Plan& plan_;
  const Options options_;
  IndexedVector<ItemIndex, std::int64_t> value_;
  Choice best_;
  std::vector<LaneIndex> candidates_;
  IndexedVector<SectionIndex, std::int32_t> change_;  // Of the number of candidates.
};

extern template class Branching<std::int32_t>;
extern template class Branching<std::int64_t>;

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_BRANCHING_H_
