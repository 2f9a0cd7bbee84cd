// io/plan_head.h -- what a plan's file says of it before its lists: pages and summaries say it too.
//
// Not installed; the project's own pages and summaries use it.
#ifndef BERTH_IO_PLAN_HEAD_H_
#define BERTH_IO_PLAN_HEAD_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "berth/plan_io.h"

namespace berth::internal {

inline constexpr std::string_view kPlanFormat = "berth-plan";
inline constexpr int kPlanFormatVersion = 2;

// All of a plan's file but its order and its residencies (docs/formats/plan.md).
[[nodiscard]] nlohmann::ordered_json PlanHead(const PlanSubject& subject, const PlanAnswer& answer,
                                              const Provenance& provenance);

}  // namespace berth::internal

#endif  // BERTH_IO_PLAN_HEAD_H_
