// tools/verify/csv_table.h -- a table of buffers in CSV, read without the planner's reader.
#ifndef BERTH_TOOLS_VERIFY_CSV_TABLE_H_
#define BERTH_TOOLS_VERIFY_CSV_TABLE_H_

#include <string_view>

#include "berth/problem.h"

namespace berth::verify {

// Which steps "3,7" in a table mean.
enum class Ends {
  kByColumnName,  // A column "end" is inclusive, "upper" is not.
  kHalfOpen,      // [3, 7)
  kInclusive,     // [3, 7]
  kExclusive,     // (3, 7)
};

// Reads the columns that say where buffers may lie: lifetimes, sizes, alignments, pins, gaps.
// Error: kParse, naming the line.
[[nodiscard]] Result<Problem> ReadCsvTable(std::string_view text, Ends ends = Ends::kByColumnName);

}  // namespace berth::verify

#endif  // BERTH_TOOLS_VERIFY_CSV_TABLE_H_
