// tests/io/random_table.h -- valid problems with everything a table can hold.
#ifndef BERTH_TESTS_IO_RANDOM_TABLE_H_
#define BERTH_TESTS_IO_RANDOM_TABLE_H_

#include <cstdint>

#include "berth/problem.h"

namespace berth::internal {

// Up to eight buffers: ids of whatever upsets parsers, gaps with and without windows, pins, hints,
// alignments, values at the limits.
[[nodiscard]] Problem RandomTable(std::uint64_t seed);

}  // namespace berth::internal

#endif  // BERTH_TESTS_IO_RANDOM_TABLE_H_
