// Two plans compared, in the C interface.

#include "berth/diff.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.h"
#include "berth/plan_io.h"
#include "c/call.h"
#include "c/options.h"

struct berth_comparison {
  berth::PlanFile before;
  berth::PlanFile after;
  berth::PlanDiff diff;
};

namespace berth::internal::c {
namespace {

const berth_comparison& ComparisonOf(const berth_comparison* comparison) {
  Require(comparison != nullptr, "comparison is NULL");
  return *comparison;
}

// A table is for the memories of `settings`, if it has any.
Result<PlanFile> ReadOne(std::string_view text, const char* name, const Settings& settings) {
  if (settings.memories.empty()) return ReadPlan(text, name);
  return ReadPlan(text, name, settings.memories, settings.cost_unit);
}

Result<std::unique_ptr<berth_comparison>> CompareFiles(std::string_view before,
                                                       const char* before_name,
                                                       std::string_view after,
                                                       const char* after_name,
                                                       const Settings& settings = {}) {
  PlanFile old_plan =
      BERTH_TRY(ReadOne(before, before_name == nullptr ? "before" : before_name, settings));
  PlanFile new_plan =
      BERTH_TRY(ReadOne(after, after_name == nullptr ? "after" : after_name, settings));
  PlanDiff diff = BERTH_TRY(Compare(old_plan, new_plan));
  return std::unique_ptr<berth_comparison>(
      new berth_comparison{std::move(old_plan), std::move(new_plan), std::move(diff)});
}

berth_diff SummaryOf(const berth_comparison& from) {
  const auto& [before, after, diff] = from;
  const bool several = !after.memories.empty();
  const auto whole = [several](Bytes bytes) { return several ? -1 : bytes; };
  return {0,
          whole(before.placement.height),
          whole(after.placement.height),
          whole(diff.before.load),
          whole(diff.after.load),
          before.traffic.avoidable(),
          after.traffic.avoidable(),
          diff.added.size(),
          diff.removed.size(),
          diff.grown,
          diff.shrunk,
          diff.moved,
          diff.retimed,
          diff.unchanged,
          diff.same_order,
          diff.same_cost_kind,
          diff.rehoused,
          before.cost.unplaced,
          after.cost.unplaced,
          several ? before.cost.cost : -1,
          several ? after.cost.cost : -1};
}

// A buffer in one of the plans, if it is there.
struct Side {
  bool there = false;
  const char* id = "";
  Step start = 0;
  Step end = 0;
  Bytes size = 0;
  Bytes offset = 0;
  const char* memory = "";
};

Side SideOf(const PlanFile& plan, std::size_t b) {
  const Buffer& buffer = plan.problem.buffers[b];
  const bool several = !plan.memories.empty();
  return {true,
          buffer.id.c_str(),
          buffer.start,
          buffer.end,
          buffer.size,
          plan.placement.offsets[b],
          several ? plan.memories[plan.memory_of[b]].name.c_str() : ""};
}

berth_change ChangeOf(const Side& before, const Side& after) {
  return {0,
          after.there ? after.id : before.id,
          before.there,
          after.there,
          before.start,
          after.start,
          before.end,
          after.end,
          before.size,
          after.size,
          before.offset,
          after.offset,
          before.memory,
          after.memory};
}

std::size_t CountOfChanges(const berth_comparison& from) {
  return from.diff.changed.size() + from.diff.added.size() + from.diff.removed.size();
}

berth_change ChangeAt(const berth_comparison& from, std::size_t index) {
  const PlanDiff& diff = from.diff;
  if (index < diff.changed.size()) {
    const BufferChange& change = diff.changed[index];
    return ChangeOf(SideOf(from.before, change.before), SideOf(from.after, change.after));
  }
  index -= diff.changed.size();
  if (index < diff.added.size()) return ChangeOf({}, SideOf(from.after, diff.added[index]));
  return ChangeOf(SideOf(from.before, diff.removed[index - diff.added.size()]), {});
}

berth_memory_change MemoryAt(const berth_comparison& from, std::size_t index) {
  const PlanDiff::MemoryChange& memory = from.diff.memories[index];
  const auto of = [](const PlanFile& plan, const std::optional<std::size_t>& m, auto value) {
    return m ? value(plan.memories[*m], plan.uses[*m]) : Bytes{-1};
  };
  const auto both = [&](auto value) {
    return std::pair(of(from.before, memory.before, value), of(from.after, memory.after, value));
  };
  const auto capacity =
      both([](const Memory& m, const MemoryUse&) -> Bytes { return m.capacity.value_or(-1); });
  const auto height = both([](const Memory&, const MemoryUse& use) { return use.height; });
  const auto peak = both([](const Memory&, const MemoryUse& use) { return use.peak; });
  return {0,
          memory.name.c_str(),
          memory.before.has_value(),
          memory.after.has_value(),
          capacity.first,
          capacity.second,
          height.first,
          height.second,
          peak.first,
          peak.second};
}

}  // namespace
}  // namespace berth::internal::c

namespace c = berth::internal::c;
using berth::Result;

extern "C" {

berth_status berth_compare_plans(const char* before, size_t before_length, const char* before_name,
                                 const char* after, size_t after_length, const char* after_name,
                                 berth_comparison** comparison, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(comparison != nullptr, "the place for the comparison is NULL");
    *comparison = BERTH_TRY(c::CompareFiles(c::ViewOf(before, before_length), before_name,
                                            c::ViewOf(after, after_length), after_name))
                      .release();
    return {};
  });
}

berth_status berth_compare_plans_in_memories(const char* before, size_t before_length,
                                             const char* before_name, const char* after,
                                             size_t after_length, const char* after_name,
                                             const berth_options* options,
                                             berth_comparison** comparison, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Require(comparison != nullptr, "the place for the comparison is NULL");
    *comparison = BERTH_TRY(c::CompareFiles(c::ViewOf(before, before_length), before_name,
                                            c::ViewOf(after, after_length), after_name,
                                            c::OptionsOf(options).settings))
                      .release();
    return {};
  });
}

void berth_comparison_free(berth_comparison* comparison) { delete comparison; }

berth_status berth_comparison_summary(const berth_comparison* comparison, berth_diff* out,
                                      berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    c::Fill(out, c::SummaryOf(c::ComparisonOf(comparison)));
    return {};
  });
}

size_t berth_comparison_change_count(const berth_comparison* comparison) {
  return comparison == nullptr ? 0 : c::CountOfChanges(*comparison);
}

berth_status berth_comparison_change(const berth_comparison* comparison, size_t index,
                                     berth_change* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_comparison& from = c::ComparisonOf(comparison);
    c::RequireIndex(index, c::CountOfChanges(from), "change");
    c::Fill(out, c::ChangeAt(from, index));
    return {};
  });
}

size_t berth_comparison_memory_count(const berth_comparison* comparison) {
  return comparison == nullptr ? 0 : comparison->diff.memories.size();
}

berth_status berth_comparison_memory(const berth_comparison* comparison, size_t index,
                                     berth_memory_change* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_comparison& from = c::ComparisonOf(comparison);
    c::RequireIndex(index, from.diff.memories.size(), "memory");
    c::Fill(out, c::MemoryAt(from, index));
    return {};
  });
}

size_t berth_comparison_transfer_count(const berth_comparison* comparison) {
  return comparison == nullptr ? 0 : comparison->diff.transfers.size();
}

berth_status berth_comparison_transfer(const berth_comparison* comparison, size_t index,
                                       berth_transfer* out, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_comparison& from = c::ComparisonOf(comparison);
    c::RequireIndex(index, from.diff.transfers.size(), "transfer");
    const berth::PlanDiff::Transfer& transfer = from.diff.transfers[index];
    c::Fill(out, {0, from.before.memories[transfer.from].name.c_str(),
                  from.after.memories[transfer.to].name.c_str(), transfer.buffers, transfer.bytes});
    return {};
  });
}

berth_status berth_comparison_to_page(const berth_comparison* comparison, berth_text** html,
                                      berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const berth_comparison& from = c::ComparisonOf(comparison);
    c::Give(html, berth::WritePage(from.before, from.after, from.diff));
    return {};
  });
}

berth_status berth_diff_plans(const char* before, size_t before_length, const char* before_name,
                              const char* after, size_t after_length, const char* after_name,
                              berth_diff* out, berth_text** page, berth_error** error) {
  return c::Call(error, [&]() -> Result<void> {
    const auto found = BERTH_TRY(c::CompareFiles(c::ViewOf(before, before_length), before_name,
                                                 c::ViewOf(after, after_length), after_name));
    c::RequireStruct(out);
    std::unique_ptr<berth_text> html;
    if (page != nullptr) {
      html.reset(new berth_text{berth::WritePage(found->before, found->after, found->diff)});
    }
    c::Fill(out, c::SummaryOf(*found));
    if (page != nullptr) *page = html.release();
    return {};
  });
}

}  // extern "C"
