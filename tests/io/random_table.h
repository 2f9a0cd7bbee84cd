// tests/io/random_table.h -- valid problems with every feature of a table.
#ifndef BERTH_TESTS_IO_RANDOM_TABLE_H_
#define BERTH_TESTS_IO_RANDOM_TABLE_H_

#include <cstdint>

#include "berth/problem.h"

namespace berth::internal {

// Up to eight buffers: ids with characters that upset parsers, gaps with and without windows, pins,
// hints, alignments, values at the limits.
[[nodiscard]] Problem RandomTable(std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_TESTS_IO_RANDOM_TABLE_H_
