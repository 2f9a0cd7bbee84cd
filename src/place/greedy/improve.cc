#include "place/greedy/improve.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/arithmetic.h"
#include "base/parallel.h"
#include "base/radix_sort.h"
#include "place/greedy/repair.h"
#include "place/greedy/shelves.h"

namespace berth::internal::greedy {
namespace {

// Steps without progress after which an attempt ends; doubled whenever all targets have failed.
constexpr std::int64_t kPatience = 500;
constexpr std::int64_t kMaxPatience = std::int64_t{1} << 40;

// On a large table the first steps are many, and a plan should come soon.
constexpr Pace kPace = {1.0 / 8, 1.0 / 2, 4, 8, 0, 1};
// Without the small buffers, steps are cheap and go far, after so much work for each buffer in which a
// plan should come soon, too.
constexpr Pace kFirstPaceBelowStrip = {1.0 / 8, 1.0 / 2, 4, 8, 1, 1};
constexpr Pace kPaceBelowStrip = {5.0 / 6, 5.0 / 6, 1, 64, 1, 8};
constexpr std::int64_t kWorkOfFirstPace = 16;
// The smallest difference of targets worth an attempt, as a share of the bound.
constexpr Bytes kFineness = 5000;

// A large part is repaired in levels. On the first one there are no small buffers, which
// have this share of the costs together; each next level has buffers of a quarter of the size, as long
// as that leaves out at least one in kLeftOut.
constexpr std::int64_t kShareOfSmall = 32;
constexpr int kSizeBitsOfLevel = 2;
constexpr std::size_t kMaxLevels = 6;
// First, what these do not have is left in a strip above all others.
constexpr std::size_t kLevelsBelowStrip = 3;
// To pack one buffer of it takes as long as so many looks.
constexpr std::int64_t kWorkOfStrip = 16;
constexpr std::size_t kLeftOut = 4;
// With a strip, targets have failed often enough at this patience.
constexpr std::int64_t kMostPatienceBelowStrip = 16 * kPatience;

// How sharp heat is: how many times the load is squared. Most buffers of a large part live far from its peaks,
// and have to make way for what lives in them: where the load is a tenth below the largest one, there is
// room.
constexpr int kSquares = 4;
constexpr int kSquaresInWindows = 7;

// How much of a problem a section is, 1 .. 2^15 + 1: load / largest, squared so often.
std::vector<std::int64_t> HeatUpTo(const Instance& instance, int squares) {
  Bytes largest = 1;
  for (const Bytes load : instance.section_load) largest = std::max(largest, load);
  // So that the product below fits.
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest))) - 40);
  std::vector<std::int64_t> heat(instance.num_sections() + 1, 0);
  for (const SectionIndex s : instance.sections()) {
    std::int64_t x =
        ((instance.section_load[s] >> shift) << 15) / std::max<Bytes>(largest >> shift, 1);
    for (int k = 0; k < squares; ++k) x = x * x >> 15;
    heat[s.position() + 1] = heat[s.position()] + 1 + x;
  }
  return heat;
}

// One part of the problem, in levels: large buffers alone, then with smaller ones, at last all.
class Levels {
 public:
  // As Part(). `several`: more than one. `offsets` is the plan, which is lowered towards `stop_at`, and
  // `lowered` as large, for use here. All others must outlive the levels.
  Levels(const Instance& instance, const std::vector<std::int64_t>& heat, const TimeWindow& window,
         std::vector<BufferIndex> buffers, std::uint64_t seed, bool several, Bytes stop_at,
         Effort& effort, std::vector<Bytes>& offsets, std::vector<Bytes>& lowered);

  // Until the offsets are low enough, or the effort is spent.
  void Improve();
  // One attempt to lower the plan. False once there is nothing left to try.
  bool Attempt();
  [[nodiscard]] Bytes height() const { return best_; }

 private:
  // The buffers that the levels in use leave out, packed by themselves, to lie above all others.
  struct Strip {
    std::vector<BufferIndex> buffers = {};
    SolidPacking packing = {};
  };
  [[nodiscard]] std::optional<Strip> PackStrip(std::size_t levels);
  [[nodiscard]] Part& last() { return *parts_[levels_ - 1]; }
  // All levels have these offsets, and the first is the next to be put below a target.
  void Restore(const std::vector<Bytes>& offsets);
  // As Part::Reach(), from the level on where the last attempt ended: the target must not be lower
  // than its own, unless that was reached or there is another plan.
  [[nodiscard]] bool Reach(Bytes target, std::int64_t patience, std::int64_t more);
  // The buffers of the levels in use are lowered next.
  void Begin();
  // The target of the next attempt.
  [[nodiscard]] Bytes NextTarget(const Pace& pace);
  // What was reached is the plan, if it is lower.
  void Keep();
  void PutAbove(const Strip& strip, Bytes base);

  const Instance& instance_;
  std::vector<std::unique_ptr<Part>> parts_;  // One for each level.
  std::size_t levels_ = 0;                    // So many are in use.
  std::size_t level_ = 0;
  std::optional<Strip> strip_;
  const Bytes enough_;
  Effort& effort_;
  std::vector<Bytes>& offsets_;
  std::vector<Bytes>& lowered_;  // Of the levels in use, the last ones without any that are out.

  Bytes best_ = 0;     // The height of the plan,
  Bytes height_ = 0;   // and of what is lowered now.
  Bytes stop_at_ = 0;  // That need not be lower.
  Bytes failed_ = 0;   // No target up to here is worth a try now.
  double way_ = 0;     // The next target is so far on the way to that.
  bool was_slow_ = false;
  std::int64_t patience_ = kPatience;
};

Bytes Fine(Bytes bound) { return std::max<Bytes>(1, bound / kFineness); }

// The sizes, in bits, of the buffers that only the levels after the first, the second, ... have.
std::vector<std::size_t> SizesOfLevels(const Part& all) {
  const auto sizes = all.Sizes();
  const std::size_t n = all.buffers().size();
  std::int64_t total = 0;
  for (const Part::OfSize& of_size : sizes) total += of_size.cost;
  std::size_t bits = 0;
  std::size_t left_out = sizes[0].buffers;
  for (std::int64_t cost = sizes[0].cost; bits + 1 < sizes.size(); ++bits) {
    cost += sizes[bits + 1].cost;
    if (cost > total / kShareOfSmall) break;
    left_out += sizes[bits + 1].buffers;
  }
  std::vector<std::size_t> levels;
  while (left_out >= n / kLeftOut && left_out < n && levels.size() + 1 < kMaxLevels) {
    levels.push_back(bits);
    for (int k = 0; k < kSizeBitsOfLevel && bits > 0; ++k) left_out -= sizes[bits--].buffers;
  }
  return levels;
}

Levels::Levels(const Instance& instance, const std::vector<std::int64_t>& heat,
               const TimeWindow& window, std::vector<BufferIndex> buffers, std::uint64_t seed,
               bool several, Bytes stop_at, Effort& effort, std::vector<Bytes>& offsets,
               std::vector<Bytes>& lowered)
    : instance_(instance), enough_(stop_at), effort_(effort), offsets_(offsets), lowered_(lowered) {
  auto all = std::make_unique<Part>(instance, heat, window, std::move(buffers), seed, effort);
  const auto sizes = several ? SizesOfLevels(*all) : std::vector<std::size_t>();
  for (const std::size_t bits : sizes) {
    std::vector<BufferIndex> large;
    for (const BufferIndex b : all->buffers()) {
      if (IsFixed(instance, window, b) || instance.size[b] >> bits != 0) large.push_back(b);
    }
    const std::uint64_t level_seed = seed ^ (std::uint64_t{parts_.size() + 1} << 32);
    parts_.push_back(
        std::make_unique<Part>(instance, heat, window, std::move(large), level_seed, effort));
  }
  parts_.push_back(std::move(all));
  levels_ = parts_.size();
  if (parts_.size() > kLevelsBelowStrip) {
    strip_ = PackStrip(kLevelsBelowStrip);
    if (strip_) levels_ = kLevelsBelowStrip;
  }
  Begin();
}

std::optional<Levels::Strip> Levels::PackStrip(std::size_t levels) {
  const std::vector<BufferIndex>& large = parts_[levels - 1]->buffers();
  std::vector<KeyAndItem> small;
  std::size_t k = 0;
  for (const BufferIndex b : parts_.back()->buffers()) {
    if (k < large.size() && large[k] == b) {
      ++k;
      continue;
    }
    // The longest first.
    small.push_back({instance_.first[b].value() - instance_.last[b].value(), b.value()});
  }
  SortByKey(small);
  effort_.Spend(kWorkOfStrip * std::ssize(small));
  Strip strip{ItemsOf<BufferIndex>(small)};
  auto packing = PackSolid(instance_, strip.buffers, [this] { return effort_.TimeIsUp(); });
  if (!packing) return std::nullopt;
  strip.packing = std::move(*packing);
  return strip;
}

void Levels::Restore(const std::vector<Bytes>& offsets) {
  for (std::size_t k = 0; k < levels_; ++k) parts_[k]->Restore(offsets);
  level_ = 0;
}

bool Levels::Reach(Bytes target, std::int64_t patience, std::int64_t more) {
  while (parts_[level_]->Reach(target, patience, more)) {
    if (level_ + 1 == levels_) return true;
    parts_[level_ + 1]->Take(*parts_[level_]);
    ++level_;
  }
  return false;
}

void Levels::PutAbove(const Strip& strip, Bytes base) {
  for (std::size_t k = 0; k < strip.buffers.size(); ++k) {
    const BufferIndex b = strip.buffers[k];
    offsets_[b.position()] = RoundUp(base + strip.packing.offsets[k], instance_.alignment[b]);
  }
}

void Levels::Begin() {
  parts_.back()->Restore(offsets_);
  best_ = parts_.back()->Height();
  parts_.back()->Store(lowered_);
  Restore(lowered_);
  height_ = last().Height();
  stop_at_ = enough_;
  if (strip_) {
    stop_at_ = std::max({enough_ - strip_->packing.height, last().HighestFixed(), Bytes{1}});
  }
  failed_ = stop_at_ - 1;
  way_ = 0;
  was_slow_ = false;
  patience_ = kPatience;
}

Bytes Levels::NextTarget(const Pace& pace) {
  way_ = std::clamp(2 * way_, pace.first_part, pace.most_part);
  const bool nearly = failed_ < stop_at_ && height_ - stop_at_ <= Fine(enough_);
  const auto step = static_cast<Bytes>(way_ * static_cast<double>(height_ - failed_));
  return nearly ? stop_at_ : std::max(stop_at_, height_ - std::max<Bytes>(step, 1));
}

void Levels::Keep() {
  height_ = last().Height();
  last().Store(lowered_);
  if (levels_ > 1) Restore(lowered_);
  const Bytes above = strip_ ? strip_->packing.height : 0;
  if (height_ + above >= best_) return;
  best_ = height_ + above;
  last().Store(offsets_);
  if (strip_) PutAbove(*strip_, height_);
}

bool Levels::Attempt() {
  const auto small_ones_join = [&] {
    if (!strip_) return false;
    strip_.reset();
    levels_ = parts_.size();
    Begin();
    return true;
  };
  if (height_ <= stop_at_) return small_ones_join();
  const std::int64_t end_of_first_pace = kWorkOfFirstPace * std::ssize(parts_.back()->buffers());
  const Pace& pace = !strip_                               ? kPace
                     : effort_.spent() < end_of_first_pace ? kFirstPaceBelowStrip
                                                           : kPaceBelowStrip;
  const Bytes target = NextTarget(pace);
  effort_.BeginAttempt(pace, std::ssize(last().buffers()));
  const bool reached = Reach(target, patience_, pace.steps_of_out);
  if (reached) {
    if (was_slow_) failed_ = stop_at_ - 1;
    was_slow_ = false;
    Keep();
  } else {
    failed_ = target;
    was_slow_ |= effort_.AttemptIsOver();
  }
  if (failed_ >= stop_at_ && height_ - failed_ <= Fine(enough_)) {
    if (patience_ >= kMostPatienceBelowStrip && small_ones_join()) return true;
    failed_ = stop_at_ - 1;
    patience_ = std::min(2 * patience_, kMaxPatience);
    if (!reached) Restore(lowered_);
  }
  return true;
}

void Levels::Improve() {
  while (!effort_.TimeIsUp() && Attempt()) {
  }
}

// The buffers of each part that stands higher than `enough`, in order of their first section.
std::vector<std::vector<BufferIndex>> HighParts(const Instance& instance, Bytes enough,
                                                const std::vector<Bytes>& offsets) {
  const std::vector<BufferIndex> order = ByFirstSection(instance);
  std::vector<std::vector<BufferIndex>> parts;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    SectionIndex last;
    Bytes height = 0;
    for (; end < order.size() && (end == begin || instance.first[order[end]] < last); ++end) {
      const BufferIndex b = order[end];
      last = std::max(last, instance.last[b]);
      height = std::max(height, offsets[b.position()] + instance.size[b]);
    }
    if (height > enough) {
      parts.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  return parts;
}

// A part of a large table around some of its peaks, and all that meets it there.
struct PartOfPeaks {
  TimeWindow window;
  std::vector<BufferIndex> buffers;
};

// What lives at a time lives for so many sections on average.
std::int32_t SectionsOfLive(const Instance& instance, const std::vector<BufferIndex>& buffers) {
  double sections = 0;
  double squares = 0;
  for (const BufferIndex b : buffers) {
    const double life = instance.last[b].value() - instance.first[b].value();
    sections += life;
    squares += life * life;
  }
  return static_cast<std::int32_t>(squares / sections);
}

// Windows around all buffers that stand higher than `enough`, with room on both sides. None of these
// crosses an end of a window. `buffers` in order of their first section.
std::vector<PartOfPeaks> Peaks(const Instance& instance, Bytes enough,
                               const std::vector<BufferIndex>& buffers,
                               const std::vector<Bytes>& offsets) {
  const std::int32_t beside = SectionsOfLive(instance, buffers);
  const std::int32_t sections = static_cast<std::int32_t>(instance.num_sections());
  std::vector<PartOfPeaks> peaks;
  for (const BufferIndex b : buffers) {
    if (offsets[b.position()] + instance.size[b] <= enough) continue;
    const SectionIndex begin(std::max(instance.first[b].value() - beside, 0));
    const SectionIndex end(std::min(instance.last[b].value() + beside, sections));
    if (peaks.empty() || peaks.back().window.end < begin) {
      peaks.push_back({{begin, end}, {}});
    } else {
      peaks.back().window.end = std::max(peaks.back().window.end, end);
    }
  }
  for (const BufferIndex b : buffers) {
    auto peak = std::upper_bound(
        peaks.begin(), peaks.end(), instance.first[b],
        [](SectionIndex first, const PartOfPeaks& each) { return first < each.window.end; });
    for (; peak != peaks.end() && peak->window.begin < instance.last[b]; ++peak) {
      peak->buffers.push_back(b);
    }
  }
  return peaks;
}

// Repairs the peaks of a large part in rounds. In a round each that is higher than half-way between the
// bound and the highest may spend so much, the highest ones first.
class PeakRepair {
 public:
  PeakRepair(const Instance& instance, const std::vector<std::int64_t>& heat, Bytes stop_at,
             std::vector<PartOfPeaks> peaks, std::uint64_t seed, const std::function<bool()>& stop,
             std::vector<Bytes>& offsets, std::vector<Bytes>& lowered)
      : stop_at_(stop_at),
        stop_([this, &stop] {
          if (!stopped_) stopped_ = stop && stop();
          return stopped_.load();
        }),
        efforts_(peaks.size()),
        levels_(peaks.size()),
        open_(peaks.size(), true) {
    for (std::size_t k = 0; k < peaks.size(); ++k) {
      efforts_[k] = std::make_unique<Effort>(kMostWork, stop_);
      levels_[k] =
          std::make_unique<Levels>(instance, heat, peaks[k].window, std::move(peaks[k].buffers),
                                   seed + k, true, stop_at, *efforts_[k], offsets, lowered);
    }
  }

  PeakRepair(const PeakRepair&) = delete;
  PeakRepair& operator=(const PeakRepair&) = delete;

  void Improve(std::int64_t max_work, int threads) {
    // One alone has no turn to wait for.
    for (std::int64_t work = levels_.size() > 1 ? kFirstRound : kMostWork;;) {
      std::vector<KeyAndItem> order;
      Bytes highest = 0;
      std::int64_t left = max_work;
      for (std::size_t k = 0; k < levels_.size(); ++k) {
        highest = std::max(highest, levels_[k]->height());
        left -= efforts_[k]->spent();
        if (open_[k]) order.push_back({-levels_[k]->height(), static_cast<std::int64_t>(k)});
      }
      const Bytes goal = stop_at_ + (highest - stop_at_) / 2;
      std::erase_if(order, [&](const KeyAndItem& each) { return -each.key <= goal; });
      if (order.empty() || left <= 0 || stop_()) return;
      SortByKey(order);
      const std::int64_t share = std::min(work, left / std::ssize(order) + 1);
      std::atomic<std::size_t> next{0};
      RunOnThreads(threads, order.size(), [&] {
        for (std::size_t k = next++; k < order.size(); k = next++) {
          const std::size_t peak = order[k].position();
          efforts_[peak]->Allow(share);
          while (levels_[peak]->height() > goal && !efforts_[peak]->TimeIsUp()) {
            if (levels_[peak]->Attempt()) continue;
            open_[peak] = false;
            break;
          }
        }
      });
      bool failed = false;
      for (const KeyAndItem& each : order) failed |= levels_[each.position()]->height() > goal;
      if (failed) work = std::min(2 * work, kMostWork);
    }
  }

 private:
  // Half a second. With a sixteenth of it, what is hard to lower fails too often at first.
  static constexpr std::int64_t kFirstRound = 1 << 25;
  static constexpr std::int64_t kMostWork = std::int64_t{1} << 60;
  const Bytes stop_at_;
  std::atomic<bool> stopped_{false};
  const std::function<bool()> stop_;  // Not asked again once it said yes.
  std::vector<std::unique_ptr<Effort>> efforts_;
  std::vector<std::unique_ptr<Levels>> levels_;
  std::vector<char> open_;
};

}  // namespace

Bytes ImprovePlan(const Instance& instance, Bytes stop_at, std::int64_t max_work,
                  std::uint64_t seed, int threads, const std::function<bool()>& stop,
                  std::vector<Bytes>& offsets, std::size_t buffers_of_levels) {
  for (const BufferIndex b : instance.buffers()) {
    // A buffer that is never live is in no other's way.
    if (!instance.pieces_of(b).empty() || instance.pin[b] != kNone) continue;
    if (offsets[b.position()] + instance.size[b] > stop_at) offsets[b.position()] = 0;
  }
  auto parts = HighParts(instance, stop_at, offsets);
  if (!parts.empty()) {
    const std::int64_t share = max_work / static_cast<std::int64_t>(parts.size());
    std::vector<Bytes> lowered = offsets;
    std::vector<std::int64_t> heat;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (parts[k].size() < buffers_of_levels) continue;
      if (heat.empty()) heat = HeatUpTo(instance, kSquaresInWindows);
      PeakRepair(instance, heat, stop_at, Peaks(instance, stop_at, parts[k], offsets), seed + k,
                 stop, offsets, lowered)
          .Improve(share, threads);
      parts[k].clear();
    }
    heat = HeatUpTo(instance, kSquares);
    const TimeWindow always{SectionIndex(0), SectionIndex(instance.num_sections())};
    std::atomic<std::size_t> next{0};
    // Parts share no buffers, so no two threads write the same offset.
    const auto work = [&] {
      for (std::size_t k = next++; k < parts.size(); k = next++) {
        if (parts[k].empty()) continue;
        Effort effort(share, stop);
        Levels(instance, heat, always, std::move(parts[k]), seed + k, false, stop_at, effort,
               offsets, lowered)
            .Improve();
      }
    };
    RunOnThreads(threads, parts.size(), work);
  }
  Bytes height = 0;
  for (const BufferIndex b : instance.buffers()) {
    height = std::max(height, offsets[b.position()] + instance.size[b]);
  }
  return height;
}

}  // namespace berth::internal::greedy
