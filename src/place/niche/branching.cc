#include "place/niche/branching.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/truncate.h"

namespace berth::internal::niche {
namespace {

// A candidate counts 1.75 or 2.5 times as much if it leaves no room on one side of its niche, or on
// both: logarithms, as Precedence().
constexpr std::array<std::int64_t, 3> kFit = {0, 52911, 86634};

}  // namespace

template <typename Level>
Branching<Level>::Branching(const Instance& instance, const Plan& plan, const Options& options)
    : plan_(plan),
      options_(options),
      logarithms_(plan.num_items()),
      value_(plan.num_items()),
      change_(plan.num_sections() + 1, 0) {
  const auto log = [](std::int64_t value) { return Log2(static_cast<std::uint64_t>(value)); };
  for (const ItemIndex i : plan.items()) {
    const std::int64_t width = plan.last_of(i).value() - plan.first_of(i).value();
    Bytes load = 1;
    for (SectionIndex s = plan.first_of(i); s < plan.last_of(i); ++s) {
      load = std::max(load, instance.section_load[s]);
    }
    logarithms_[i] = {log(width), log(plan.size(i)), log(load)};
  }
  Prefer(kPortfolio.front());
}

template <typename Level>
void Branching<Level>::Prefer(const Preferences& preferences) {
  preferences_ = preferences;
  for (const ItemIndex i : plan_.items()) {
    const Logarithms& log = logarithms_[i];
    const std::int64_t main = options_.widest_first ? log.width : log.size;
    const std::int64_t other = options_.widest_first ? log.size : log.width;
    value_[i] = (preferences.width_percent * main + preferences.size_percent * other +
                 preferences.load_percent * log.load) /
                100;
  }
}

template <typename Level>
bool Branching<Level>::Choose(SectionIndex first, SectionIndex last, bool any_niche,
                              const IndexedVector<SectionIndex, Weight>* weights) {
  candidates_.clear();
  best_ = {};
  Level lowest = Plan::kPlaced;
  const IndexedVector<SectionIndex, Level>& floors = plan_.floors();
  // Of whole buffers the lowest niche is always sure.
  const bool is_lowest_sure = !any_niche && plan_.is_whole();
  SectionIndex from = first;
  if (is_lowest_sure) {
    const Level least = plan_.LeastFloor(first, last);
    while (floors[from] != least) ++from;
  }
  for (const SectionIndex end = is_lowest_sure ? from.next() : last; from < end;) {
    const Level floor = floors[from];
    SectionIndex to = from.next();
    while (to < last && floors[to] == floor) ++to;
    const bool is_niche = floor < Plan::kPlaced &&
                          (from == first || floors[from.previous()] > floor) &&
                          (to == last || floors[to] > floor);
    if (is_niche && (any_niche || floor < lowest)) {
      const std::size_t begin = candidates_.size();
      if (FindCandidates(from, to)) {
        if (!any_niche) best_ = {};
        lowest = floor;
        ScoreSections(from, to, begin, weights);
      } else {
        Truncate(candidates_, begin);
      }
    }
    from = to;
  }
  if (best_.section == kNoSection) return false;
  // The candidates of the niche that are live in the section.
  std::size_t kept = 0;
  for (std::size_t k = best_.begin; k < best_.end; ++k) {
    const LaneIndex lane = candidates_[k];
    if (plan_.first(lane) <= best_.section && best_.section < plan_.last(lane)) {
      candidates_[kept++] = lane;
    }
  }
  Truncate(candidates_, kept);
  return true;
}

// Appends to candidates_ the lanes that can lie on the floor of the niche [first, last), and counts
// them in change_. False if something could still go below another piece of one of them.
template <typename Level>
bool Branching<Level>::FindCandidates(SectionIndex first, SectionIndex last) {
  for (SectionIndex s = first; s <= last; ++s) change_[s] = 0;
  const Level floor = plan_.floor(first);
  for (const LaneIndex k : IndexRange(plan_.starting(first), plan_.starting(last))) {
    if (plan_.lowest(k) != floor) continue;
    const ItemIndex i = plan_.item(k);
    if (!plan_.is_whole()) {
      for (const LaneIndex piece : plan_.lanes_of(i)) {
        for (SectionIndex s = plan_.first(piece); s < plan_.last(piece); ++s) {
          if (plan_.floor(s) != plan_.lowest(piece)) return false;
        }
      }
    }
    if (options_.identical_order && plan_.twin(i) != kNoItem && !plan_.is_placed(plan_.twin(i)))
      continue;
    candidates_.push_back(k);
    ++change_[plan_.first(k)];
    --change_[plan_.last(k)];
  }
  return true;
}

template <typename Level>
double Branching<Level>::PowerOf(double choices) const {
  double power = choices;
  for (int k = 1; k < preferences_.power_of_choices; ++k) power *= choices;
  return power;
}

template <typename Level>
void Branching<Level>::ScoreSections(SectionIndex first, SectionIndex last, std::size_t begin,
                                     const IndexedVector<SectionIndex, Weight>* weights) {
  std::int64_t candidates = 0;
  const double no_budget = preferences_.no_budget * static_cast<double>(plan_.capacity()) / 1000;
  for (SectionIndex s = first; s < last; ++s) {
    candidates += change_[s];
    const Level budget = options_.waste_budget ? plan_.budget(s) : 1;
    const auto choices = static_cast<double>(candidates + (budget > 0 ? 1 : 0));
    const double score = PowerOf(choices) * (static_cast<double>(budget) + no_budget);
    // Signed, as that takes one instruction to convert.
    const double weight =
        weights == nullptr ? 1 : static_cast<double>(static_cast<std::int64_t>((*weights)[s]));
    if (best_.section == kNoSection || score * best_.weight < best_.score * weight) {
      best_ = {s, first, last, begin, candidates_.size(), score, weight};
    }
  }
}

template <typename Level>
std::int64_t Branching<Level>::Fit(LaneIndex lane) const {
  if (!options_.best_fit) return 0;
  const std::int64_t fit = kFit[static_cast<std::size_t>(plan_.first(lane) == best_.first) +
                                static_cast<std::size_t>(plan_.last(lane) == best_.last)];
  return fit * preferences_.fit_percent / 100;
}

template class Branching<std::int32_t>;
template class Branching<std::int64_t>;

}  // namespace berth::internal::niche
