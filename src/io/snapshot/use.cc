// What a snapshot says, as problems: which buffers lived when, and what was reserved for them.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/arithmetic.h"
#include "base/text.h"
#include "berth/snapshot.h"

namespace berth {
namespace internal::snapshot {
namespace {

constexpr Bytes kRounding = 512;
constexpr std::size_t kLongestSite = 200;  // Each buffer has the name of its site.
constexpr std::size_t kFreed = std::numeric_limits<std::size_t>::max();

// Addresses as they are could all have one place in a hash table, if a file chooses them so.
struct AddressHash {
  std::size_t operator()(std::uint64_t address) const {
    address = (address ^ address >> 32u) * 0x9e3779b97f4a7c15u;
    address = (address ^ address >> 29u) * 0xbf58476d1ce4e5b9u;
    return static_cast<std::size_t>(address ^ address >> 32u);
  }
};

// A buffer before it has a name.
struct Record {
  Step start = 0;
  Step end = 0;
  Bytes requested = 0;
  std::uint64_t address = 0;
  std::uint32_t stack = kNoStack;
};

// Memory taken from the device at a step (a positive size) or given back.
struct Taking {
  Step step = 0;
  std::uint64_t address = 0;
  Bytes size = 0;
  bool expandable = false;
};

struct PoolRecords {
  std::vector<Record> before;  // Live at step 0.
  std::vector<Record> during;
  std::vector<Taking> takings;
  std::vector<const SnapshotSegment*> segments;  // At the end.
};

using PoolKey = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;  // Device, stream, id.
using Pools = std::map<PoolKey, PoolRecords>;

struct Change {
  Step step;
  Bytes active;
  Bytes reserved;
};

// The events of one device.
class DeviceReader {
 public:
  DeviceReader(const MemorySnapshot& snapshot, std::int64_t device, std::size_t first,
               std::size_t last, std::vector<const SnapshotSegment*> segments, Pools& pools)
      : snapshot_(snapshot),
        device_(device),
        first_(first),
        last_(last),
        pools_(pools),
        segments_(std::move(segments)) {
    std::sort(segments_.begin(), segments_.end(),
              [](const auto* x, const auto* y) { return x->address < y->address; });
    private_pools_ = std::any_of(segments_.begin(), segments_.end(),
                                 [](const auto* segment) { return segment->pool != 0; });
  }

  void Read(SnapshotDevice& device) {
    device.device = device_;
    device.events = last_ - first_;
    for (std::size_t i = first_; i < last_; ++i) {
      const SnapshotEvent& event = snapshot_.events[i];
      const auto step = static_cast<Step>(i - first_ + 1);
      if (event.action == SnapshotAction::kAlloc) {
        ++device.allocations;
        Allocate(event, step);
      } else if (event.action == SnapshotAction::kFreeCompleted) {
        Free(event, step);
      } else if (event.action == SnapshotAction::kOutOfMemory) {
        ++device.out_of_memory;
      } else {
        Take(event, step);
      }
    }
    for (const SnapshotSegment* segment : segments_) {
      PoolRecords& pool = pools_[{device_, segment->stream, segment->pool}];
      pool.segments.push_back(segment);
      for (const SnapshotBlock& block : segment->blocks) {
        if (!block.active || open_.contains(block.address)) continue;
        const Bytes requested = block.requested > 0 ? block.requested : block.size;
        if (requested == 0) continue;
        pool.before.push_back({0, end(), requested, block.address, block.stack});
        if (block.stack != kNoStack) ++lost_;
      }
    }
  }

  [[nodiscard]] std::size_t reused() const { return reused_; }
  // Blocks whose stacks were recorded, but not their events.
  [[nodiscard]] std::size_t lost() const { return lost_; }

 private:
  struct Open {
    PoolRecords* pool;
    std::size_t record;  // In `during`; kFreed if the address is free.
  };

  [[nodiscard]] Step end() const { return static_cast<Step>(last_ - first_ + 1); }

  // Files of earlier versions do not name the pools of events; their segments do.
  [[nodiscard]] std::uint32_t PoolOf(const SnapshotEvent& event) const {
    if (snapshot_.pools_of_events || !private_pools_) return event.pool;
    const auto after = std::upper_bound(
        segments_.begin(), segments_.end(), event.address,
        [](std::uint64_t address, const auto* segment) { return address < segment->address; });
    if (after == segments_.begin()) return event.pool;
    const SnapshotSegment& segment = **(after - 1);
    return event.address - segment.address < static_cast<std::uint64_t>(segment.size) ? segment.pool
                                                                                      : event.pool;
  }

  PoolRecords& RecordsOf(const SnapshotEvent& event) {
    const PoolKey key{device_, event.stream, PoolOf(event)};
    if (last_pool_ == nullptr || key != last_key_) {
      last_key_ = key;
      last_pool_ = &pools_[key];
    }
    return *last_pool_;
  }

  void Allocate(const SnapshotEvent& event, Step step) {
    if (event.size == 0) return;
    PoolRecords& pool = RecordsOf(event);
    const auto [found, added] = open_.try_emplace(event.address, Open{&pool, kFreed});
    Open& open = found->second;
    if (!added && open.record != kFreed) {
      // Its end was not recorded.
      open.pool->during[open.record].end = step;
      ++reused_;
    }
    open = {&pool, pool.during.size()};
    pool.during.push_back({step, end(), event.size, event.address, event.stack});
  }

  void Free(const SnapshotEvent& event, Step step) {
    const auto [found, added] = open_.try_emplace(event.address, Open{nullptr, kFreed});
    Open& open = found->second;
    if (open.record != kFreed) {
      open.pool->during[open.record].end = step;
      open.record = kFreed;
    } else if (added && event.size > 0) {
      RecordsOf(event).before.push_back({0, step, event.size, event.address, kNoStack});
    }
  }

  void Take(const SnapshotEvent& event, Step step) {
    using enum SnapshotAction;
    const bool mapped = event.action == kSegmentMap || event.action == kSegmentUnmap;
    const bool taken = event.action == kSegmentAlloc || event.action == kSegmentMap;
    const bool given = event.action == kSegmentFree || event.action == kSegmentUnmap;
    if ((!taken && !given) || event.size == 0) return;
    RecordsOf(event).takings.push_back(
        {step, event.address, taken ? event.size : -event.size, mapped});
  }

  const MemorySnapshot& snapshot_;
  std::int64_t device_;
  std::size_t first_;
  std::size_t last_;
  Pools& pools_;
  std::vector<const SnapshotSegment*> segments_;  // Of the device, by address.
  bool private_pools_ = false;
  // The addresses of all events of buffers.
  std::unordered_map<std::uint64_t, Open, AddressHash> open_;
  PoolKey last_key_ = {};
  PoolRecords* last_pool_ = nullptr;
  std::size_t reused_ = 0;
  std::size_t lost_ = 0;
};

// Sets of addresses that the allocator holds.
class Ranges {
 public:
  void Add(std::uint64_t address, Bytes size, bool joins) {
    std::uint64_t begin = address;
    std::uint64_t end = address + static_cast<std::uint64_t>(size);
    Remove(begin, size);
    if (joins) {
      const auto above = ends_.find(end);
      if (above != ends_.end()) {
        end = above->second;
        ends_.erase(above);
      }
      const auto below = ends_.lower_bound(begin);
      if (below != ends_.begin() && std::prev(below)->second == begin) {
        begin = std::prev(below)->first;
      }
    }
    ends_[begin] = end;
  }
  void Remove(std::uint64_t address, Bytes size) {
    const std::uint64_t end = address + static_cast<std::uint64_t>(size);
    auto it = ends_.upper_bound(address);
    if (it != ends_.begin()) --it;
    while (it != ends_.end() && it->first < end) {
      const auto [range_begin, range_end] = *it;
      if (range_end <= address) {
        ++it;
        continue;
      }
      it = ends_.erase(it);
      if (range_begin < address) ends_[range_begin] = address;
      if (range_end > end) it = ends_.insert_or_assign(end, range_end).first;
    }
  }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& ends() const { return ends_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // By their beginnings.
};

// What the pool held at `step`: what it held at the end, with everything since undone.
Ranges RangesAt(const PoolRecords& records, Step step) {
  Ranges ranges;
  for (const SnapshotSegment* segment : records.segments) {
    ranges.Add(segment->address, segment->size, segment->expandable);
  }
  for (auto it = records.takings.rbegin(); it != records.takings.rend() && it->step > step; ++it) {
    if (it->size > 0) {
      ranges.Remove(it->address, it->size);
    } else {
      ranges.Add(it->address, -it->size, it->expandable);
    }
  }
  return ranges;
}

void FindRanges(const PoolRecords& records, SnapshotPool& pool) {
  std::vector<std::size_t> live;
  for (std::size_t b = 0; b < pool.problem.buffers.size(); ++b) {
    const Buffer& buffer = pool.problem.buffers[b];
    if (buffer.start <= pool.tight_step && pool.tight_step < buffer.end) live.push_back(b);
  }
  std::sort(live.begin(), live.end(),
            [&](std::size_t x, std::size_t y) { return pool.addresses[x] < pool.addresses[y]; });
  auto next = live.begin();
  const Ranges ranges = RangesAt(records, pool.tight_step);
  pool.ranges.reserve(ranges.ends().size());
  for (const auto& [begin, end] : ranges.ends()) {
    ReservedRange range;
    range.address = begin;
    range.size = static_cast<Bytes>(end - begin);
    std::uint64_t top = begin;
    std::optional<std::size_t> below;
    const auto leave = [&](std::uint64_t up_to, std::optional<std::size_t> above) {
      if (up_to <= top) return;
      const auto free = static_cast<Bytes>(up_to - top);
      range.free += free;
      if (free <= range.largest_free) return;
      range.largest_free = free;
      range.free_address = top;
      range.below = below;
      range.above = above;
    };
    while (next != live.end() && pool.addresses[*next] < begin) ++next;
    for (; next != live.end() && pool.addresses[*next] < end; ++next) {
      leave(pool.addresses[*next], *next);
      const auto size = static_cast<std::uint64_t>(pool.problem.buffers[*next].size);
      top = std::max(top, std::min(pool.addresses[*next] + size, end));
      below = *next;
      ++range.live;
    }
    leave(end, std::nullopt);
    pool.ranges.push_back(range);
  }
}

// Adds up changes step by step, in order; `see` gets each step's sums.
template <typename See>
void Sweep(std::vector<Change>& changes, Bytes reserved, See see) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& x, const Change& y) { return x.step < y.step; });
  Bytes active = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Step step = changes[i].step;
    for (; i < changes.size() && changes[i].step == step; ++i) {
      active += changes[i].active;
      reserved += changes[i].reserved;
    }
    see(step, active, reserved);
  }
}

// The buffers that are live at `step`, by their sites.
std::vector<SiteUse> SitesAt(const SnapshotPool& pool, Step step) {
  std::vector<SiteUse> sites;
  std::unordered_map<std::uint32_t, std::size_t> index;
  std::vector<Bytes> largest;
  for (std::size_t b = 0; b < pool.problem.buffers.size(); ++b) {
    const Buffer& buffer = pool.problem.buffers[b];
    if (buffer.start > step || step >= buffer.end) continue;
    const auto [found, added] = index.emplace(pool.sites[b], sites.size());
    if (added) {
      sites.push_back({pool.sites[b], 0, 0, kNoStack});
      largest.push_back(0);
    }
    SiteUse& site = sites[found->second];
    site.bytes += buffer.size;
    ++site.buffers;
    if (buffer.size <= largest[found->second]) continue;
    largest[found->second] = buffer.size;
    site.stack = pool.stacks[b];
  }
  std::stable_sort(sites.begin(), sites.end(),
                   [](const SiteUse& x, const SiteUse& y) { return x.bytes > y.bytes; });
  return sites;
}

class Builder {
 public:
  explicit Builder(const MemorySnapshot& snapshot)
      : snapshot_(snapshot), site_of_stack_(snapshot.stack_count(), kNoSite) {}
  [[nodiscard]] SnapshotUse Build();

 private:
  static constexpr std::uint32_t kNoSite = std::numeric_limits<std::uint32_t>::max();

  void ReadDevice(std::int64_t device, std::size_t first, std::size_t last);
  [[nodiscard]] std::uint32_t SiteOf(const Record& record);
  [[nodiscard]] std::uint32_t SiteNamed(const std::string& name);
  void AddBuffers(std::vector<Record>& records, SnapshotPool& pool);
  void AddPool(const PoolKey& key, PoolRecords& records);
  void FindReserved(const PoolRecords& records, SnapshotPool& pool);
  void FindPeaks(SnapshotPool& pool, std::vector<Change>& changes);
  void FindDevicePeaks();
  void Note(std::size_t count, const std::string& one, const std::string& many);

  const MemorySnapshot& snapshot_;
  SnapshotUse use_;
  std::vector<std::uint32_t> site_of_stack_;
  std::unordered_map<std::string, std::uint32_t> site_index_;
  struct SiteCount {
    std::size_t pool = 0;   // The number of the pool that was counted last,
    std::size_t count = 0;  // and its buffers so far.
  };
  std::vector<SiteCount> site_count_;
  std::size_t pools_ = 0;
  std::vector<Bytes> requested_;  // Of the current pool.
};

std::uint32_t Builder::SiteNamed(const std::string& name) {
  const auto [found, added] =
      site_index_.emplace(name, static_cast<std::uint32_t>(use_.sites.size()));
  if (added) use_.sites.push_back(name);
  return found->second;
}

std::uint32_t Builder::SiteOf(const Record& record) {
  if (record.stack == kNoStack) {
    return SiteNamed(record.start == 0 ? "before the recording" : "no stack");
  }
  std::uint32_t& site = site_of_stack_[record.stack];
  if (site != kNoSite) return site;
  const std::string name = ShortName(snapshot_.frames[*UsefulFrame(snapshot_, record.stack)]);
  site = SiteNamed(std::string(CutTo(name, kLongestSite)));
  return site;
}

void Builder::AddBuffers(std::vector<Record>& records, SnapshotPool& pool) {
  for (const Record& record : records) {
    const std::uint32_t site = SiteOf(record);
    if (site >= site_count_.size()) site_count_.resize(use_.sites.size());
    if (site_count_[site].pool != pools_) site_count_[site] = {pools_, 0};
    Buffer buffer;
    buffer.id = use_.sites[site] + " #" + std::to_string(++site_count_[site].count);
    buffer.start = record.start;
    buffer.end = record.end;
    buffer.size = RoundUp(record.requested, kRounding);
    buffer.alignment = kRounding;
    pool.problem.buffers.push_back(std::move(buffer));
    pool.addresses.push_back(record.address);
    pool.stacks.push_back(record.stack);
    pool.sites.push_back(site);
    requested_.push_back(record.requested);
  }
  std::vector<Record>().swap(records);
}

// The last entry of each step counts.
void Builder::FindReserved(const PoolRecords& records, SnapshotPool& pool) {
  Bytes change = 0;
  Bytes least = 0;
  for (const Taking& taking : records.takings) {
    change += taking.size;
    least = std::min(least, change);
  }
  Bytes at_end = 0;
  for (const SnapshotSegment* segment : records.segments) at_end += segment->size;
  Bytes reserved = snapshot_.has_segments ? at_end - change : -least;
  reserved = std::max(reserved, -least);
  pool.reserved.emplace_back(0, reserved);
  for (const Taking& taking : records.takings) {
    reserved += taking.size;
    if (pool.reserved.back().first == taking.step) {
      pool.reserved.back().second = reserved;
    } else {
      pool.reserved.emplace_back(taking.step, reserved);
    }
  }
  for (const auto& [step, bytes] : pool.reserved) {
    pool.most_reserved = std::max(pool.most_reserved, bytes);
  }
}

void Builder::FindPeaks(SnapshotPool& pool, std::vector<Change>& changes) {
  const auto& buffers = pool.problem.buffers;
  changes.reserve(2 * buffers.size() + pool.reserved.size());
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    changes.push_back({buffers[b].start, requested_[b], 0});
    changes.push_back({buffers[b].end, -requested_[b], 0});
  }
  Sweep(changes, 0, [&](Step, Bytes active, Bytes) {
    pool.requested_peak = std::max(pool.requested_peak, active);
  });
  changes.clear();
  for (const Buffer& buffer : buffers) {
    changes.push_back({buffer.start, buffer.size, 0});
    changes.push_back({buffer.end, -buffer.size, 0});
  }
  Bytes before = 0;
  for (const auto& [step, bytes] : pool.reserved) {
    changes.push_back({step, 0, bytes - before});
    before = bytes;
  }
  bool found = false;
  Sweep(changes, 0, [&](Step step, Bytes active, Bytes reserved) {
    if (active > pool.peak.load) {
      pool.peak.load = active;
      pool.peak.load_step = step;
    }
    if (reserved != pool.most_reserved || (found && active <= pool.tight_active)) return;
    found = true;
    pool.tight_active = active;
    pool.tight_step = step;
  });
  // Sizes are multiples of the alignment, so it wastes nothing.
  pool.peak.lower_bound = pool.peak.load;
  pool.peak.bound_step = pool.peak.load_step;
}

void Builder::AddPool(const PoolKey& key, PoolRecords& records) {
  SnapshotPool pool;
  pool.device = std::get<0>(key);
  pool.stream = std::get<1>(key);
  pool.id = snapshot_.pool_ids[std::get<2>(key)];
  ++pools_;
  requested_.clear();
  pool.before = records.before.size();
  const std::size_t count = records.before.size() + records.during.size();
  pool.problem.buffers.reserve(count);
  for (auto* column : {&pool.stacks, &pool.sites}) column->reserve(count);
  pool.addresses.reserve(count);
  requested_.reserve(count);
  AddBuffers(records.before, pool);
  AddBuffers(records.during, pool);
  FindReserved(records, pool);
  std::vector<Change> changes;
  FindPeaks(pool, changes);
  pool.at_peak = SitesAt(pool, pool.peak.load_step);
  if (snapshot_.has_segments) FindRanges(records, pool);
  if (pool.problem.buffers.empty() && pool.most_reserved == 0) return;
  use_.pools.push_back(std::move(pool));
}

// Of all pools of a device together.
void Builder::FindDevicePeaks() {
  auto next = use_.pools.begin();  // In the order of the devices.
  for (SnapshotDevice& device : use_.devices) {
    std::vector<Change> changes;
    const auto end = static_cast<Step>(device.events + 1);
    for (; next != use_.pools.end() && next->device == device.device; ++next) {
      SnapshotPool& pool = *next;
      device.partial = device.partial || pool.before > 0;
      for (const Buffer& buffer : pool.problem.buffers) {
        changes.push_back({buffer.start, buffer.size, 0});
        changes.push_back({buffer.end, -buffer.size, 0});
        if (buffer.end == end) ++pool.remaining;
      }
      Bytes before = 0;
      for (const auto& [step, bytes] : pool.reserved) {
        changes.push_back({step, 0, bytes - before});
        before = bytes;
      }
    }
    Sweep(changes, 0, [&](Step step, Bytes active, Bytes reserved) {
      device.most_reserved = std::max(device.most_reserved, reserved);
      if (active <= device.peak) return;
      device.peak = active;
      device.peak_step = step;
    });
  }
}

void Builder::Note(std::size_t count, const std::string& one, const std::string& many) {
  if (count == 0) return;
  use_.notes.push_back(count == 1 ? one : Grouped(static_cast<std::int64_t>(count)) + " " + many);
}

SnapshotUse Builder::Build() {
  Pools pools;
  std::size_t reused = 0;
  std::map<std::int64_t, std::vector<const SnapshotSegment*>> devices;
  for (const SnapshotSegment& segment : snapshot_.segments) {
    devices[segment.device].push_back(&segment);
  }
  const auto& ends = snapshot_.trace_ends;
  const auto first_of = [&](std::size_t d) { return d == 0 ? 0 : ends[d - 1]; };
  for (std::size_t d = 0; d < ends.size(); ++d) {
    if (ends[d] > first_of(d)) devices.try_emplace(static_cast<std::int64_t>(d));
  }
  for (auto& [number, segments] : devices) {
    const auto d = static_cast<std::uint64_t>(number);
    const bool traced = d < ends.size();
    const auto index = traced ? static_cast<std::size_t>(d) : 0;
    DeviceReader reader(snapshot_, number, traced ? first_of(index) : 0, traced ? ends[index] : 0,
                        std::move(segments), pools);
    reader.Read(use_.devices.emplace_back());
    use_.devices.back().events_lost = reader.lost() > 0 && use_.devices.back().events > 0;
    reused += reader.reused();
  }
  for (auto& [key, records] : pools) AddPool(key, records);
  FindDevicePeaks();
  std::stable_sort(use_.pools.begin(), use_.pools.end(), [](const auto& x, const auto& y) {
    return std::max(x.most_reserved, x.peak.load) > std::max(y.most_reserved, y.peak.load);
  });
  Note(reused, "An address is allocated again before it was freed; it counts as freed then.",
       "addresses are allocated again before they were freed; they count as freed then.");
  const auto excess = std::count_if(use_.pools.begin(), use_.pools.end(), [](const auto& pool) {
    return pool.peak.load > pool.most_reserved;
  });
  if (!snapshot_.has_segments) {
    use_.notes.emplace_back("The file has no \"segments\", so what was reserved is not known.");
  } else {
    Note(static_cast<std::size_t>(excess),
         "A pool has more bytes in use than reserved: the file misses segments or frees.",
         "pools have more bytes in use than reserved: the file misses segments or frees.");
  }
  return std::move(use_);
}

}  // namespace
}  // namespace internal::snapshot

std::string SnapshotUse::NameOfPool(std::size_t pool) const {
  const SnapshotPool& p = pools[pool];
  std::string name = "device " + std::to_string(p.device) + ", stream " + std::to_string(p.stream);
  if (p.id != SnapshotPoolId{0, 0}) {
    name +=
        ", private pool (" + std::to_string(p.id.first) + ", " + std::to_string(p.id.second) + ")";
  }
  return name;
}

SnapshotUse UseOf(const MemorySnapshot& snapshot) {
  return internal::snapshot::Builder(snapshot).Build();
}

}  // namespace berth
