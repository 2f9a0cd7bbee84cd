// recompute/work.h -- what the searches may still do without a time limit.
#ifndef BERTH_RECOMPUTE_WORK_H_
#define BERTH_RECOMPUTE_WORK_H_

#include <cstdint>

namespace berth::internal::recompute {

// List elements looked at.
struct Work {
  std::int64_t left = 0;
  [[nodiscard]] bool spent() const { return left <= 0; }
};

}  // namespace berth::internal::recompute

#endif  // BERTH_RECOMPUTE_WORK_H_
