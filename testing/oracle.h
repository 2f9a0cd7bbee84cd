// testing/oracle.h -- the truth about tiny problems, by trying everything.
#ifndef BERTH_TESTING_ORACLE_H_
#define BERTH_TESTING_ORACLE_H_

#include <optional>

#include "berth/problem.h"

namespace berth::internal {

// A plan of at most `capacity` bytes (the problem's own capacity does not matter), or nothing if
// there is none. Meant for up to some 6 buffers and sizes up to some 10 after division by whatever
// divides them all. `problem` must be valid.
[[nodiscard]] std::optional<Placement> OracleFits(const Problem& problem, Bytes capacity);

// A plan of the least height, or nothing if there is no plan at all: pins can collide.
[[nodiscard]] std::optional<Placement> OraclePlace(const Problem& problem);
[[nodiscard]] std::optional<Bytes> OracleHeight(const Problem& problem);

}  // namespace berth::internal

#endif  // BERTH_TESTING_ORACLE_H_
