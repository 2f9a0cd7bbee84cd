// io/plan_head.h -- what a plan's file says of it before its lists: pages and summaries say it too.
//
// Not installed; the project's own pages and summaries use it.
#ifndef BERTH_IO_PLAN_HEAD_H_
#define BERTH_IO_PLAN_HEAD_H_

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "berth/memories.h"
#include "berth/plan_io.h"

namespace berth::internal {

inline constexpr std::string_view kPlanFormat = "berth-plan";
inline constexpr int kPlanFormatVersion = 2;

// All of a plan's file but its order and its residencies (docs/formats/plan.md).
[[nodiscard]] nlohmann::ordered_json PlanHead(const PlanSubject& subject, const PlanAnswer& answer,
                                              const Provenance& provenance);

// As files of memories describe it (docs/formats/memories.md): what is not as by default.
[[nodiscard]] nlohmann::ordered_json MemoryJson(const Memory& memory);

[[nodiscard]] nlohmann::ordered_json TrafficJson(const Traffic& traffic);

// Of tensors without a known size, figures of a plan say nothing. Moves those at `keys` into an object
// of their own, "of_sized_tensors", and leaves null in their place.
void SetApartSized(nlohmann::ordered_json& json, std::initializer_list<const char*> keys);
// Whether the file of `answer` needs that.
[[nodiscard]] bool SizesAreMissing(const PlanAnswer& answer, const Provenance& provenance);

}  // namespace berth::internal

#endif  // BERTH_IO_PLAN_HEAD_H_
