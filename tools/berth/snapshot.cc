#include "tools/berth/snapshot.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "berth/allocators.h"
#include "src/base/try.h"
#include "tools/berth/problem_choice.h"
#include "tools/berth/terminal.h"

namespace berth::cli {
namespace {

constexpr std::size_t kName = 60;
constexpr std::size_t kMostFrames = 6;  // Of a stack, in a text.

std::int64_t Count(std::size_t count) { return static_cast<std::int64_t>(count); }

// The lines of Python, if there are any: those of C++ between them say little.
std::vector<std::size_t> ShownFrames(const MemorySnapshot& snapshot, std::uint32_t stack) {
  std::vector<std::size_t> python;
  std::vector<std::size_t> all;
  const auto frames = snapshot.StackFrames(stack);
  all.reserve(frames.size());
  for (const std::uint32_t frame : frames) {
    all.push_back(frame);
    if (IsPython(snapshot.frames[frame])) python.push_back(frame);
  }
  return python.empty() ? all : python;
}

std::string Hexadecimal(std::uint64_t number) {
  std::string text;
  do {
    text += "0123456789abcdef"[number & 15u];
    number >>= 4u;
  } while (number > 0);
  text += "x0";
  std::reverse(text.begin(), text.end());
  return text;
}

std::vector<const ReservedRange*> MostFree(const SnapshotPool& pool) {
  std::vector<const ReservedRange*> ranges;
  ranges.reserve(pool.ranges.size());
  for (const ReservedRange& range : pool.ranges) {
    if (range.free > 0) ranges.push_back(&range);
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const auto* x, const auto* y) { return x->free > y->free; });
  return ranges;
}

struct FreeSums {
  Bytes all = 0;
  Bytes unused = 0;  // In ranges without any buffer.
  Bytes largest = 0;
  Bytes largest_between = 0;  // In ranges with buffers.
  std::size_t unused_ranges = 0;
};
FreeSums SumOf(const SnapshotPool& pool) {
  FreeSums sums;
  for (const ReservedRange& range : pool.ranges) {
    sums.all += range.free;
    sums.largest = std::max(sums.largest, range.largest_free);
    if (range.live > 0) {
      sums.largest_between = std::max(sums.largest_between, range.largest_free);
      continue;
    }
    sums.unused += range.free;
    ++sums.unused_ranges;
  }
  return sums;
}

Json StackJson(const MemorySnapshot& snapshot, std::uint32_t stack) {
  Json frames = Json::array();
  for (const std::uint32_t frame : snapshot.StackFrames(stack)) {
    frames.push_back(ToString(snapshot.frames[frame]));
  }
  return frames;
}

Json PoolJson(const SnapshotInput& input, std::size_t number) {
  const SnapshotPool& pool = input.use.pools[number];
  Json json;
  json["pool"] = number + 1;
  json["device"] = pool.device;
  json["stream"] = pool.stream;
  json["pool_id"] = {pool.id.first, pool.id.second};
  json["buffers"] = pool.addresses.size();
  json["buffers_before_recording"] = pool.before;
  json["buffers_at_end"] = pool.remaining;
  json["active_peak"] = pool.peak.load;
  json["active_peak_step"] = pool.peak.load_step;
  json["requested_peak"] = pool.requested_peak;
  json["reserved_peak"] = pool.most_reserved;
  json["tight_step"] = pool.tight_step;
  json["active_at_tight_step"] = pool.tight_active;
  json["at_peak"] = Json::array();
  for (const SiteUse& site : pool.at_peak) {
    json["at_peak"].push_back({{"site", input.use.sites[site.site]},
                               {"bytes", site.bytes},
                               {"buffers", site.buffers},
                               {"stack", StackJson(input.stacks, site.stack)}});
  }
  return json;
}

Json RangesJson(const SnapshotPool& pool, const Problem& problem) {
  const auto id = [&](const std::optional<std::size_t>& buffer) {
    return buffer ? Json(problem.buffers[*buffer].id) : Json(nullptr);
  };
  Json ranges = Json::array();
  for (const ReservedRange* range : MostFree(pool)) {
    ranges.push_back({{"address", range->address},
                      {"size", range->size},
                      {"free", range->free},
                      {"largest_free", range->largest_free},
                      {"buffers", range->live},
                      {"below", id(range->below)},
                      {"above", id(range->above)}});
  }
  return ranges;
}

BufferStacks StacksOf(const SnapshotInput& input) {
  const SnapshotPool& pool = input.chosen();
  BufferStacks stacks;
  std::unordered_map<std::uint32_t, std::size_t> stack_index;
  std::unordered_map<std::size_t, std::size_t> frame_index;
  stacks.of.reserve(pool.stacks.size());
  for (const std::uint32_t stack : pool.stacks) {
    if (stack == kNoStack) {
      stacks.of.emplace_back();
      continue;
    }
    const auto [found, added] = stack_index.emplace(stack, stacks.stacks.size());
    if (added) {
      auto& frames = stacks.stacks.emplace_back();
      for (const std::size_t frame : ShownFrames(input.stacks, stack)) {
        const auto [known, is_new] = frame_index.emplace(frame, stacks.frames.size());
        if (is_new) stacks.frames.push_back(ToString(input.stacks.frames[frame]));
        frames.push_back(known->second);
      }
    }
    stacks.of.emplace_back(found->second);
  }
  return stacks;
}

// A page is of one pool; what else there is, the most reserved first.
std::string OtherPools(const SnapshotInput& input) {
  constexpr std::size_t kMostPools = 8;
  const auto& pools = input.use.pools;
  if (pools.size() < 2) return "";
  std::string text = "This is pool " + std::to_string(input.pool + 1) + " of " +
                     FormatCount(Count(pools.size())) +
                     "; the allocator does not mix them, and --problem N chooses one. The others:";
  std::size_t named = 0;
  for (std::size_t p = 0; p < pools.size() && named < kMostPools; ++p) {
    if (p == input.pool) continue;
    text += (named++ == 0 ? " " : "; ") + std::to_string(p + 1) + ", " + input.use.NameOfPool(p) +
            ": " + FormatBytes(pools[p].peak.load) + " in use at most";
    if (pools[p].most_reserved > 0) {
      text += ", " + FormatBytes(pools[p].most_reserved) + " reserved";
    }
  }
  const std::size_t left = pools.size() - 1 - named;
  return text + (left > 0 ? "; and " + FormatCount(Count(left)) + " more." : ".");
}

std::vector<std::string> NotesOf(const SnapshotInput& input) {
  std::vector<std::string> notes = {
      "A PyTorch memory snapshot: " + input.use.NameOfPool(input.pool) +
          ". Steps are events: " + RecordingText(input) + ".",
      "Reserved at most: " + ReservedText(input.chosen(), input.chosen().peak.load) + "."};
  if (std::string others = OtherPools(input); !others.empty()) notes.push_back(std::move(others));
  if (const FreeSums sums = SumOf(input.chosen()); sums.all > 0) {
    notes.push_back("Reserved, but not in use at step " + FormatCount(input.chosen().tight_step) +
                    ", when most was reserved: " + FormatBytes(sums.all) + ", of which " +
                    FormatBytes(sums.unused) +
                    " in segments without any buffer; the largest piece is " +
                    FormatBytes(sums.largest) + ".");
  }
  notes.insert(notes.end(), input.use.notes.begin(), input.use.notes.end());
  return notes;
}

}  // namespace

const SnapshotDevice& SnapshotInput::device() const {
  return *std::find_if(use.devices.begin(), use.devices.end(),
                       [&](const auto& d) { return d.device == chosen().device; });
}

std::string SnapshotInput::hash() const {
  if (path == "-") return hash_of_stream;
  const auto file = FileView::Open(path);
  return file ? HashOf(file->bytes()) : "";
}

Result<SnapshotInput> LoadSnapshot(const std::string& path, const FileView& file,
                                   const std::string& choice) {
  const std::string name = path == "-" ? "standard input" : path;
  SnapshotInput input;
  input.stacks = BERTH_TRY(ReadSnapshot(file.bytes(), name));
  input.use = UseOf(input.stacks);
  input.stacks.events.clear();
  input.stacks.events.shrink_to_fit();
  input.path = path;
  if (path == "-") input.hash_of_stream = HashOf(file.bytes());
  const std::size_t pools = input.use.pools.size();
  if (pools == 0) {
    return Fail(ErrorCode::kParse, OneLine(name) +
                                       ": the snapshot has neither events nor segments; call "
                                       "torch.cuda.memory._record_memory_history() early, and "
                                       "_dump_snapshot() while the memory is in use");
  }
  if (choice.empty()) return input;
  std::vector<std::string> names;
  names.reserve(pools);
  for (std::size_t p = 0; p < pools; ++p) names.push_back(input.use.NameOfPool(p));
  input.pool = BERTH_TRY(ChooseProblem(choice, names, path));
  return input;
}

std::string RecordingText(const SnapshotInput& input) {
  const SnapshotDevice& device = input.device();
  const SnapshotPool& pool = input.chosen();
  if (device.events == 0) return "no events, only what was held in the end";
  std::string text = Plural(Count(device.events), "event");
  if (device.out_of_memory > 0) {
    text += ", out of memory " + (device.out_of_memory == 1
                                      ? std::string("once")
                                      : FormatCount(Count(device.out_of_memory)) + " times");
  }
  if (pool.before == 0) return text + "; nothing was allocated before the first one";
  text += "; " + Plural(Count(pool.before), "buffer") + " from before the first one";
  return text + (device.events_lost
                     ? ": events are lost, as the recording was full (max_entries) or began anew"
                     : ": recording began late, or was full (max_entries)");
}

std::string ReservedText(const SnapshotPool& pool, Bytes needed) {
  if (pool.most_reserved == 0) return "not known: the file has no segments";
  return FormatBytesExactly(pool.most_reserved) + " by PyTorch, " +
         FormatExcess(pool.most_reserved, needed) + " the buffers need";
}

std::string PeakText(const SnapshotInput& input, std::size_t most, bool stacks) {
  const SnapshotPool& pool = input.chosen();
  if (pool.at_peak.empty()) return "";
  using enum TextTable::Align;
  std::string text = "\n" + Paint(Tone::kStrong, "What the peak consists of") + " (" +
                     FormatBytes(pool.peak.load) + " at step " + FormatCount(pool.peak.load_step) +
                     ")\n";
  TextTable table({kLeft, kRight, kRight, kRight});
  table.Elide(0, kName);
  table.AddRow({"allocated by", "size", "share", "buffers"});
  const std::size_t rows = std::min(most, pool.at_peak.size());
  for (std::size_t s = 0; s < rows; ++s) {
    const SiteUse& site = pool.at_peak[s];
    table.AddRow({OneLine(input.use.sites[site.site]), FormatBytes(site.bytes),
                  FormatPercent(static_cast<double>(site.bytes) /
                                static_cast<double>(std::max<Bytes>(pool.peak.load, 1))),
                  FormatCount(Count(site.buffers))});
  }
  text += table.ToString();
  if (rows < pool.at_peak.size()) {
    text += "  and " + Plural(Count(pool.at_peak.size() - rows), "smaller site") +
            " (--json lists them all)\n";
  }
  if (!stacks) return text;
  constexpr std::size_t kMostStacks = 3;
  std::size_t shown = 0;
  for (std::size_t s = 0; s < rows && shown < kMostStacks; ++s) {
    const SiteUse& site = pool.at_peak[s];
    const auto frames = ShownFrames(input.stacks, site.stack);
    // The engine of the backward pass calls all of its nodes.
    if (frames.empty() || !IsPython(input.stacks.frames[frames.front()])) continue;
    ++shown;
    text += "\n  " + OneLine(input.use.sites[site.site]) + ", called from\n";
    const auto useful = UsefulFrame(input.stacks, site.stack);
    auto from = std::find(frames.begin(), frames.end(), useful.value_or(0));
    if (from != frames.end()) ++from;
    if (from == frames.end()) from = frames.begin();
    const auto left = static_cast<std::size_t>(frames.end() - from);
    for (std::size_t f = 0; f < std::min(left, kMostFrames); ++f, ++from) {
      text += "    " + OneLine(Elided(ToString(input.stacks.frames[*from]), 90)) + "\n";
    }
    if (left > kMostFrames) {
      text += "    and " + Plural(Count(left - kMostFrames), "outer call") + "\n";
    }
  }
  return text;
}

std::string PoolPrefix(const SnapshotInput& input) {
  const std::size_t pools = input.use.pools.size();
  if (pools == 1) return "";
  return "Pool " + FormatCount(Count(input.pool + 1)) + " of " + FormatCount(Count(pools)) + ": ";
}

std::string FreeText(const SnapshotInput& input, const Problem& problem, std::size_t most) {
  const SnapshotPool& pool = input.chosen();
  const auto ranges = MostFree(pool);
  if (ranges.empty()) return "";
  const FreeSums sums = SumOf(pool);
  std::string text = "\n" + Paint(Tone::kStrong, "Reserved, but not in use") + " (" +
                     FormatBytes(sums.all) + " at step " + FormatCount(pool.tight_step) +
                     ", when most was reserved)\n";
  if (sums.unused > 0) {
    text += "  In segments without any buffer: " + FormatBytes(sums.unused) +
            ", which torch.cuda.empty_cache() gives back.\n";
  }
  if (sums.all > sums.unused) {
    text += "  Between buffers: " + FormatBytes(sums.all - sums.unused) +
            ", of which the largest piece is " + FormatBytes(sums.largest_between) + ".\n";
  }
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kRight, kRight, kRight, kLeft});
  table.Elide(5, kName);
  table.AddRow({"segment", "size", "free", "largest", "buffers", "kept by"});
  const std::size_t rows = std::min(most, ranges.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const ReservedRange& range = *ranges[r];
    const auto neighbour = range.below ? range.below : range.above;
    table.AddRow({Hexadecimal(range.address), FormatBytes(range.size), FormatBytes(range.free),
                  FormatBytes(range.largest_free), FormatCount(Count(range.live)),
                  neighbour ? OneLine(problem.buffers[*neighbour].id) : ""});
  }
  text += table.ToString();
  if (rows < ranges.size()) {
    text += "  and " + Plural(Count(ranges.size() - rows), "other segment") +
            " (--json lists them all)\n";
  }
  return text;
}

std::string PoolsText(const SnapshotInput& input) {
  const auto& pools = input.use.pools;
  if (pools.size() < 2) return "";
  constexpr std::size_t kMostPools = 20;
  using enum TextTable::Align;
  TextTable table({kRight, kLeft, kRight, kRight, kRight, kRight});
  table.AddRow({"pool", "of", "buffers", "most active", "most reserved", "more"});
  for (std::size_t p = 0; p < std::min(kMostPools, pools.size()); ++p) {
    const SnapshotPool& pool = pools[p];
    table.AddRow(
        {std::to_string(p + 1), input.use.NameOfPool(p), FormatCount(Count(pool.addresses.size())),
         FormatBytes(pool.peak.load), FormatBytes(pool.most_reserved),
         pool.peak.load > 0 ? FormatPercent(Gap(pool.most_reserved, pool.peak.load)) : ""});
  }
  std::string text = "\n" + Paint(Tone::kStrong, "Pools") +
                     ", which the allocator does not mix (--problem N chooses one)\n" +
                     table.ToString();
  if (pools.size() > kMostPools) {
    text += "  and " + FormatCount(Count(pools.size() - kMostPools)) +
            " more (--json lists them all)\n";
  }
  return text;
}

std::optional<Bytes> SimulatedReserve(const Problem& problem) {
  const auto run = RunAllocator(problem, RuntimeAllocator::kPytorchCaching);
  return run ? std::optional(run->reserved) : std::nullopt;
}

Json ToJson(const SnapshotInput& input, const Problem& problem) {
  Json json;
  json["pool"] = input.pool + 1;
  json["devices"] = Json::array();
  for (const SnapshotDevice& device : input.use.devices) {
    json["devices"].push_back({{"device", device.device},
                               {"events", device.events},
                               {"allocations", device.allocations},
                               {"out_of_memory", device.out_of_memory},
                               {"active_peak", device.peak},
                               {"active_peak_step", device.peak_step},
                               {"reserved_peak", device.most_reserved},
                               {"partial", device.partial},
                               {"events_lost", device.events_lost}});
  }
  json["pools"] = Json::array();
  for (std::size_t p = 0; p < input.use.pools.size(); ++p) {
    json["pools"].push_back(PoolJson(input, p));
  }
  json["free"] = RangesJson(input.chosen(), problem);
  json["notes"] = input.use.notes;
  return json;
}

void AddToPage(const SnapshotInput& input, PageOptions& page) {
  page.notes = NotesOf(input);
  page.stacks = StacksOf(input);
  if (input.chosen().most_reserved > 0) {
    page.held = HeldBytes{"reserved by PyTorch", input.chosen().reserved};
  }
}

}  // namespace berth::cli
