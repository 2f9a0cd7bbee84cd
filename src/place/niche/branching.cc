#include "place/niche/branching.h"

#include <algorithm>
#include <array>

#include "place/strategy.h"

namespace berth::internal {
namespace {

// A candidate counts 1.75 or 2.5 times as much if it leaves no room on one side of its niche, or on
// both: logarithms, as Precedence().
constexpr std::array<std::int64_t, 3> kFit = {0, 52911, 86634};

// What a section without any budget left counts, in thousandths of the capacity.
constexpr double kNoBudget = 10;

}  // namespace

template <typename Level>
Branching<Level>::Branching(const Instance& instance, const Plan& plan, const NicheOptions& options)
    : plan_(plan), options_(options), change_(At(plan.num_sections()) + 1, 0) {
  value_.reserve(At(plan.num_items()));
  for (Item i = 0; i < plan.num_items(); ++i) {
    const std::int64_t width = plan.last_of(i) - plan.first_of(i);
    Bytes load = 1;
    for (Section s = plan.first_of(i); s < plan.last_of(i); ++s) {
      load = std::max(load, instance.section_load[SectionIndex(s)]);
    }
    const std::int64_t size = plan.size(i);
    value_.push_back(options.widest_first ? Precedence(width, size, load)
                                          : Precedence(size, width, 1));
  }
}

template <typename Level>
bool Branching<Level>::Choose(Section first, Section last, bool any_niche,
                              std::span<const Weight> weights) {
  candidates_.clear();
  best_ = {};
  Level lowest = Plan::kPlaced;
  const std::span<const Level> floors = plan_.floors();
  for (Section from = first; from < last;) {
    const Level floor = floors[At(from)];
    Section to = from + 1;
    while (to < last && floors[At(to)] == floor) ++to;
    const bool is_niche = floor < Plan::kPlaced &&
                          (from == first || floors[At(from) - 1] > floor) &&
                          (to == last || floors[At(to)] > floor);
    if (is_niche && (any_niche || floor < lowest)) {
      const std::size_t begin = candidates_.size();
      if (FindCandidates(from, to)) {
        if (!any_niche) best_ = {};
        lowest = floor;
        ScoreSections(from, to, begin, weights);
      } else {
        candidates_.resize(begin);
      }
    }
    from = to;
  }
  if (best_.section == kNoSection) return false;
  // The candidates of the niche that are live in the section.
  std::size_t kept = 0;
  for (std::size_t k = best_.begin; k < best_.end; ++k) {
    const Lane lane = candidates_[k];
    if (plan_.first(lane) <= best_.section && best_.section < plan_.last(lane)) {
      candidates_[kept++] = lane;
    }
  }
  candidates_.resize(kept);
  return true;
}

// Appends to candidates_ the lanes that can lie on the floor of the niche [first, last), and counts
// them in change_. False if something could still go below another piece of one of them.
template <typename Level>
bool Branching<Level>::FindCandidates(Section first, Section last) {
  std::fill(change_.begin() + first, change_.begin() + last + 1, 0);
  const Level floor = plan_.floor(first);
  for (Lane k = plan_.starting(first); k < plan_.starting(last); ++k) {
    if (plan_.lowest(k) != floor) continue;
    const Item i = plan_.item(k);
    if (!plan_.is_whole()) {
      for (const Lane piece : plan_.lanes_of(i)) {
        for (Section s = plan_.first(piece); s < plan_.last(piece); ++s) {
          if (plan_.floor(s) != plan_.lowest(piece)) return false;
        }
      }
    }
    if (options_.identical_order && plan_.twin(i) >= 0 && !plan_.is_placed(plan_.twin(i))) continue;
    candidates_.push_back(k);
    ++change_[At(plan_.first(k))];
    --change_[At(plan_.last(k))];
  }
  return true;
}

template <typename Level>
void Branching<Level>::ScoreSections(Section first, Section last, std::size_t begin,
                                     std::span<const Weight> weights) {
  std::int64_t candidates = 0;
  for (Section s = first; s < last; ++s) {
    candidates += change_[At(s)];
    const Level budget = options_.waste_budget ? plan_.budget(s) : 1;
    const auto choices = static_cast<double>(candidates + (budget > 0 ? 1 : 0));
    const double slack = 1000 * static_cast<double>(budget) / static_cast<double>(plan_.capacity());
    const double weight = weights.empty() ? 1 : static_cast<double>(weights[At(s)]);
    const double score = choices * choices * choices * (slack + kNoBudget) / weight;
    if (best_.section == kNoSection || score < best_.score) {
      best_ = {s, first, last, begin, candidates_.size(), score};
    }
  }
}

template <typename Level>
std::int64_t Branching<Level>::Fit(Lane lane) const {
  if (!options_.best_fit) return 0;
  return kFit[static_cast<std::size_t>(plan_.first(lane) == best_.first) +
              static_cast<std::size_t>(plan_.last(lane) == best_.last)];
}

template class Branching<std::int32_t>;
template class Branching<std::int64_t>;

}  // namespace berth::internal
