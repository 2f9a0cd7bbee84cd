// io/plan_head.h -- what a plan's file says of it before its lists: pages and summaries say it too.
//
// Not installed; the project's own tools use it, so it is visible to them in a shared library.
#ifndef BERTH_IO_PLAN_HEAD_H_
#define BERTH_IO_PLAN_HEAD_H_

#include <nlohmann/json.hpp>

#include "berth/plan_io.h"

namespace berth::internal {

// All of a plan's file but its order and its residencies (docs/formats/plan.md).
[[nodiscard]] [[gnu::visibility("default")]] nlohmann::ordered_json PlanHead(
    const PlanSubject& subject, const PlanAnswer& answer, const Provenance& provenance);

}  // namespace berth::internal

#endif  // BERTH_IO_PLAN_HEAD_H_
