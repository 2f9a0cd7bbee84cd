// place/niche/branching.h -- where a partial plan branches, and which buffer looks best there.
#ifndef BERTH_PLACE_NICHE_BRANCHING_H_
#define BERTH_PLACE_NICHE_BRANCHING_H_

#include <array>
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

// What a run prefers. Tables that one of them never solves are often solved at once by another.
struct Preferences {
  // The value of a candidate: width^.. x size^.. x load^.., with the largest load that it meets.
  std::int64_t width_percent;
  std::int64_t size_percent;
  std::int64_t load_percent;
  std::int64_t fit_percent;  // How much it counts to leave no room beside it.
  // Of a section: how its choices count, and what one without any budget left counts, in thousandths of
  // the capacity.
  int power_of_choices;
  double no_budget;
  bool any_niche;  // Not only the lowest.
};

// The first is also that of the beam.
inline constexpr std::array<Preferences, 5> kPortfolio = {{
    {116, 15, 140, 100, 3, 10, false},
    {29, 22, 290, 285, 3, 7, false},
    {81, 26, 20, 100, 4, 18, true},
    {52, 28, 270, 169, 4, 10, false},
    {129, 3, 150, 78, 3, 26, true},
}};

template <typename Level>
class Branching {
 public:
  using Plan = PartialPlan<Level>;

  static constexpr SectionIndex kNoSection{-1};

  // `plan` is asked about, and must outlive this. Has the first preferences of the portfolio.
  Branching(const Instance& instance, const Plan& plan, const Options& options);

  // From now on has these preferences.
  void Prefer(const Preferences& preferences);

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
  struct Logarithms {  // As Log2().
    std::int64_t width;
    std::int64_t size;
    std::int64_t load;
  };
  struct Choice {
    SectionIndex section = kNoSection;
    SectionIndex first;  // Its niche.
    SectionIndex last;
    std::size_t begin = 0;  // candidates_: of the niche.
    std::size_t end = 0;
    double score = 0;  // Of choices and budget; the least for its weight is best.
    double weight = 1;
  };

  [[nodiscard]] bool FindCandidates(SectionIndex first, SectionIndex last);
  [[nodiscard]] double PowerOf(double choices) const;
  void ScoreSections(SectionIndex first, SectionIndex last, std::size_t begin,
                     const IndexedVector<SectionIndex, Weight>* weights);

  const Plan& plan_;
  const Options options_;
  Preferences preferences_{};
  IndexedVector<ItemIndex, Logarithms> logarithms_;
  IndexedVector<ItemIndex, std::int64_t> value_;
  Choice best_;
  std::vector<LaneIndex> candidates_;
  IndexedVector<SectionIndex, std::int32_t> change_;  // Of the number of candidates.
};

extern template class Branching<std::int32_t>;
extern template class Branching<std::int64_t>;

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_BRANCHING_H_
