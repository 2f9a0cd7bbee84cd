// place/niche/branching.h -- where a partial plan branches, and which buffer looks best there.
#ifndef BERTH_PLACE_NICHE_BRANCHING_H_
#define BERTH_PLACE_NICHE_BRANCHING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/place.h"
#include "model/instance.h"
#include "place/niche/partial_plan.h"

namespace berth::internal {

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
  using Lane = typename Plan::Lane;
  using Item = typename Plan::Item;
  using Section = typename Plan::Section;

  static constexpr Section kNoSection = -1;

  // `plan` is asked about, and must outlive this.
  Branching(const Instance& instance, const Plan& plan, const NicheOptions& options);

  // Picks a section of a niche within [first, last): either one of candidates() lies on its floor,
  // or nothing does. It is the one with the fewest choices in the least budget where most has
  // failed, of the lowest niche or of any; without weights all count the same. False if there is
  // none that is sure to leave nothing out.
  [[nodiscard]] bool Choose(Section first, Section last, bool any_niche,
                            std::span<const Weight> weights);
  [[nodiscard]] Section section() const { return best_.section; }
  [[nodiscard]] std::span<const Lane> candidates() const { return candidates_; }  // By number.

  // How valuable an item is in general, and `lane` in the niche it was just chosen for: logarithms
  // to base 2, in units of 1/65536.
  [[nodiscard]] std::int64_t value(Item item) const {
    return value_[static_cast<std::size_t>(item)];
  }
  [[nodiscard]] std::int64_t Fit(Lane lane) const;

 private:
  struct Choice {
    Section section = kNoSection;
    Section first = 0;  // Its niche.
    Section last = 0;
    std::size_t begin = 0;  // candidates_: of the niche.
    std::size_t end = 0;
    double score = 0;
  };

  static std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] bool FindCandidates(Section first, Section last);
  void ScoreSections(Section first, Section last, std::size_t begin,
                     std::span<const Weight> weights);

  const Plan& plan_;
  const NicheOptions options_;
  std::vector<std::int64_t> value_;
  Choice best_;
  std::vector<Lane> candidates_;
  std::vector<std::int32_t> change_;
};

extern template class Branching<std::int32_t>;
extern template class Branching<std::int64_t>;

}  // namespace berth::internal

#endif  // BERTH_PLACE_NICHE_BRANCHING_H_
