// io/plan_json.h -- what writing plans and reading them share (docs/formats/plan.md).
#ifndef BERTH_IO_PLAN_JSON_H_
#define BERTH_IO_PLAN_JSON_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "berth/plan_io.h"
#include "berth/result.h"

namespace berth::internal {

class Source;

// Until version 1 there was a format of its own for plans with spills.
inline constexpr std::string_view kOldSpillPlanFormat = "berth-spill-plan";
inline constexpr int kOldPlanFormatVersion = 1;

// The list of operators that `json` is, or has at "order", as ReadOrder() reads it; not validated.
[[nodiscard]] Result<Order> OrderFrom(const Source& source, const nlohmann::json& json,
                                      const Graph& graph);

}  // namespace berth::internal

#endif  // BERTH_IO_PLAN_JSON_H_
