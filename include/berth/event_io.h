// berth/event_io.h -- traces of allocations as CSV (docs/formats/events.md).
#ifndef BERTH_EVENT_IO_H_
#define BERTH_EVENT_IO_H_

#include <string_view>

#include "berth/result.h"
#include "berth/table_io.h"

namespace [[gnu::visibility("default")]] berth {

// True if the first line of `text` is the header of a trace: it has a column `event`.
[[nodiscard]] bool LooksLikeEvents(std::string_view text);

// Reads a trace: a row for each time that a buffer is allocated or freed, in order. `name` is what
// errors call the file. At step k the first k rows have happened; what is never freed lives to the
// end. The result is valid; `lines` are those of the allocations.
// Columns, in any order: event, id (or address), size, and optionally alignment; others are ignored.
// Errors: kParse "NAME:LINE:COLUMN: ...", also for a buffer that is freed but not allocated, or
// allocated twice; kInvalidProblem.
// Cost: linear.
[[nodiscard]] Result<Table> ReadEvents(std::string_view text, std::string_view name);

}  // namespace berth

#endif  // BERTH_EVENT_IO_H_
