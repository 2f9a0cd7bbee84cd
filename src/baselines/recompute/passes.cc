// What the forward pass makes and the backward pass makes again: the sequences of the methods that know
// two passes.

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "baselines/recompute/methods.h"

namespace berth::internal::baselines {
namespace {

class Maker {
 public:
  Maker(const Work& work, const Passes& passes, const std::vector<char>& dropped,
        const std::vector<std::size_t>& segment_of)
      : work_(work),
        passes_(passes),
        dropped_(dropped),
        segment_of_(segment_of),
        version_(work.stores.size(), kMakes) {}

  Sequence Make() {
    sequence_.resize(passes_.backward);
    std::iota(sequence_.begin(), sequence_.end(), std::size_t{0});
    for (std::size_t p = passes_.backward; p < work_.size(); ++p) {
      for (const Use& use : work_.uses[p]) Bring(use.store, use.finds);
      sequence_.push_back(p);
    }
    for (std::size_t s = 0; s < work_.stores.size(); ++s) {
      if (work_.stores[s].result) Bring(s, work_.stores[s].last);
    }
    return std::move(sequence_);
  }

 private:
  // Makes that version of a dropped store, unless it is there already.
  void Bring(std::size_t s, std::int32_t version) {
    if (dropped_[s] == 0 || version == kMakes || version_[s] == version) return;
    if (!segment_of_.empty()) {
      BringSegment(segment_of_[s]);
      return;
    }
    if (version_[s] > version) version_[s] = kMakes;  // From the beginning.
    const auto& writers = work_.stores[s].writers;
    while (version_[s] < version) Again(writers[static_cast<std::size_t>(version_[s] + 1)]);
  }

  void Again(std::size_t p) {
    for (const Use& use : work_.uses[p]) {
      if (Work::Happens(use, true)) Bring(use.store, use.finds);
    }
    Push(p);
  }

  void Push(std::size_t p) {
    sequence_.push_back(p);
    for (const Use& use : work_.uses[p]) {
      if (Work::Happens(use, true) && use.writes()) version_[use.store] = use.leaves;
    }
  }

  void BringSegment(std::size_t segment) {
    std::vector<std::size_t> again;
    for (std::size_t s = 0; s < work_.stores.size(); ++s) {
      if (dropped_[s] == 0 || segment_of_[s] != segment) continue;
      again.insert(again.end(), work_.stores[s].writers.begin(), work_.stores[s].writers.end());
      version_[s] = work_.stores[s].last;
    }
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    for (const std::size_t p : again) Push(p);  // All that they find is kept, or made before.
  }

  const Work& work_;
  const Passes& passes_;
  const std::vector<char>& dropped_;
  const std::vector<std::size_t>& segment_of_;
  std::vector<std::int32_t> version_;  // Of dropped stores, made again; kMakes: not yet.
  Sequence sequence_;
};

}  // namespace

Passes FindPasses(const Work& work, std::size_t backward) {
  Passes passes;
  passes.backward = backward;
  passes.may_drop.assign(work.stores.size(), 0);
  passes.needed.assign(work.stores.size(), 0);
  for (std::size_t s = 0; s < work.stores.size(); ++s) {
    const Store& store = work.stores[s];
    if (store.given || store.writers.front() >= backward) continue;
    passes.needed[s] = store.users.back() >= backward || store.result ? 1 : 0;
    const auto may_repeat = [&](std::size_t p) {
      return p < backward && work.may_repeat[p] != 0 &&
             std::all_of(work.uses[p].begin(), work.uses[p].end(), [&](const Use& use) {
               if (!use.writes()) return true;
               if (use.store == s) return !use.only_first;
               // What else it makes is the same once more, if that has no other versions.
               return use.only_first || (use.finds == kMakes && work.stores[use.store].last == 0);
             });
    };
    passes.may_drop[s] =
        std::all_of(store.writers.begin(), store.writers.end(), may_repeat) ? 1 : 0;
  }
  return passes;
}

Found MakeAgain(const Work& work, const Passes& passes, std::vector<char> dropped,
                const std::vector<std::size_t>& segment_of) {
  for (;;) {
    Sequence sequence = Maker(work, passes, dropped, segment_of).Make();
    const Trace trace = Run(work, sequence, /*linked=*/false);
    if (trace.valid()) return sequence;
    // Something that operator finds was written over: what it makes is kept instead.
    if (trace.failed >= sequence.size()) return std::nullopt;
    bool fewer = false;
    for (const Use& use : work.uses[sequence[trace.failed]]) {
      if (dropped[use.store] == 0) continue;
      dropped[use.store] = 0;
      fewer = true;
    }
    if (!fewer) return std::nullopt;
  }
}

}  // namespace berth::internal::baselines
