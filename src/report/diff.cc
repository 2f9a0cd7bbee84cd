#include "berth/diff.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/text.h"

namespace berth {
namespace {

void CompareMemories(const PlanFile& before, const PlanFile& after, PlanDiff& diff) {
  diff.same_cost_kind = before.memories.empty() ||
                        (before.cost_unit == after.cost_unit && before.prefetch == after.prefetch);
  const auto called = [](const PlanFile& plan,
                         const std::string& name) -> std::optional<std::size_t> {
    for (std::size_t m = 0; m < plan.memories.size(); ++m) {
      if (plan.memories[m].name == name) return m;
    }
    return std::nullopt;
  };
  for (std::size_t m = 0; m < after.memories.size(); ++m) {
    const std::string& name = after.memories[m].name;
    diff.memories.push_back({name, called(before, name), m});
  }
  for (std::size_t m = 0; m < before.memories.size(); ++m) {
    const std::string& name = before.memories[m].name;
    if (!called(after, name)) diff.memories.push_back({name, m, std::nullopt});
  }
  for (const BufferChange& change : diff.changed) {
    if (!change.rehoused) continue;
    const std::size_t from = before.memory_of[change.before];
    const std::size_t to = after.memory_of[change.after];
    auto found = std::find_if(
        diff.transfers.begin(), diff.transfers.end(),
        [&](const PlanDiff::Transfer& each) { return each.from == from && each.to == to; });
    if (found == diff.transfers.end()) {
      found = diff.transfers.insert(found, PlanDiff::Transfer{from, to});
    }
    ++found->buffers;
    found->bytes += after.problem.buffers[change.after].size;
  }
  std::stable_sort(diff.transfers.begin(), diff.transfers.end(),
                   [](const auto& x, const auto& y) { return x.bytes > y.bytes; });
}

// What became of each buffer.
void CompareBuffers(const PlanFile& before, const PlanFile& after, PlanDiff& diff) {
  const auto& old_buffers = before.problem.buffers;
  const auto& new_buffers = after.problem.buffers;
  std::unordered_map<std::string_view, std::size_t> by_id;  // Of the old plan; never iterated.
  by_id.reserve(old_buffers.size());
  for (std::size_t b = 0; b < old_buffers.size(); ++b) by_id.emplace(old_buffers[b].id, b);

  std::vector<bool> kept(old_buffers.size());
  for (std::size_t b = 0; b < new_buffers.size(); ++b) {
    const Buffer& now = new_buffers[b];
    const auto found = by_id.find(now.id);
    if (found == by_id.end()) {
      diff.added.push_back(b);
      continue;
    }
    kept[found->second] = true;
    const Buffer& then = old_buffers[found->second];
    BufferChange change{found->second, b};
    change.resized = then.size != now.size;
    change.rehoused = !before.memory_of.empty() && !after.memory_of.empty() &&
                      before.memories[before.memory_of[found->second]].name !=
                          after.memories[after.memory_of[b]].name;
    change.moved =
        change.rehoused || before.placement.offsets[found->second] != after.placement.offsets[b];
    change.retimed = then.start != now.start || then.end != now.end;
    if (!change.resized && !change.moved && !change.retimed) {
      ++diff.unchanged;
      continue;
    }
    diff.grown += now.size > then.size ? 1 : 0;
    diff.shrunk += now.size < then.size ? 1 : 0;
    diff.moved += change.moved ? 1 : 0;
    diff.retimed += change.retimed ? 1 : 0;
    diff.rehoused += change.rehoused ? 1 : 0;
    diff.changed.push_back(change);
  }
  for (std::size_t b = 0; b < old_buffers.size(); ++b) {
    if (!kept[b]) diff.removed.push_back(b);
  }

  const auto growth = [&](const BufferChange& change) {
    return new_buffers[change.after].size - old_buffers[change.before].size;
  };
  std::stable_sort(
      diff.changed.begin(), diff.changed.end(),
      [&](const BufferChange& x, const BufferChange& y) { return growth(x) > growth(y); });
  const auto largest_first = [](std::vector<std::size_t>& indices, const auto& buffers) {
    std::stable_sort(indices.begin(), indices.end(), [&](std::size_t x, std::size_t y) {
      return buffers[x].size > buffers[y].size;
    });
  };
  largest_first(diff.added, new_buffers);
  largest_first(diff.removed, old_buffers);
}

}  // namespace

Result<PlanDiff> Compare(const PlanFile& before, const PlanFile& after) {
  if (before.memories.empty() != after.memories.empty()) {
    const PlanFile& several = before.memories.empty() ? after : before;
    return Fail(ErrorCode::kInvalidPlan, internal::Printable(several.name) +
                                             " is a plan for several memories, and the other for "
                                             "one: they cannot be compared");
  }
  PlanDiff diff;
  CompareBuffers(before, after, diff);
  diff.before = MaxLiveLoad(before.problem);
  diff.after = MaxLiveLoad(after.problem);
  CompareMemories(before, after, diff);
  diff.same_order = before.order.empty() || after.order.empty() || before.order == after.order;
  return diff;
}

}  // namespace berth
