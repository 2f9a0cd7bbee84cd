// testing/oracle.h -- exact answers for tiny problems, by exhaustive search.
#ifndef BERTH_TESTING_ORACLE_H_
#define BERTH_TESTING_ORACLE_H_

#include <optional>

#include "berth/problem.h"

namespace berth::internal {

// A plan of at most `capacity` bytes (the problem's own capacity is ignored), or nothing if there
// is none. For up to about 6 buffers and sizes up to about 10 after division by their common
// divisor. `problem` must be valid.
[[nodiscard]] std::optional<Placement> OracleFits(const Problem& problem, Bytes capacity);

// A plan of the least height, or nothing if there is no plan at all: pins can overlap.
[[nodiscard]] std::optional<Placement> OraclePlace(const Problem& problem);
[[nodiscard]] std::optional<Bytes> OracleHeight(const Problem& problem);

}  // namespace berth::internal

#endif  // BERTH_TESTING_ORACLE_H_
