// tools/lab/bench/replay.h -- the requests of a recorded step, asked again without the program that made them.
#ifndef BERTH_TOOLS_LAB_BENCH_REPLAY_H_
#define BERTH_TOOLS_LAB_BENCH_REPLAY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "berth/problem.h"
#include "berth/result.h"
#include "berth/runtime.h"

namespace berth::lab {

// What a step asks for and gives back, in the order of the recording.
struct RecordedStep {
  struct Request {
    Bytes size = 1;
    Bytes alignment = 1;
    bool planned = false;  // It has a row in the table.
  };
  struct Event {
    std::size_t request = 0;
    bool release =
        false;  // Of the block of this step or, where it lasts longer, of the one before.
  };
  std::vector<Request> requests;
  std::vector<Event> events;
};
// Of a table as berth_recorder_write() makes it: time is the number of requests so far, the id "r12" is request
// 12. The table lacks requests that are not planned: one before a planned request is asked for a byte here and
// given back at once, and one after the last row is not known.
// Errors: kInvalidProblem for an id that is no number of a request, two of the same, and a lifetime that no
// recording has. The subject is the buffer.
[[nodiscard]] Result<RecordedStep> ReadStep(const Problem& table);

struct Replayed {
  std::size_t requests = 0;            // Of a step, those that are not planned included.
  berth_arena_report report = {};      // Of all rounds.
  std::vector<double> arena_seconds;   // Of processor time, a step; one for each round.
  std::vector<double> system_seconds;  // The same by posix_memalign() and free().
};
// Repeats the step `rounds` times by the plan at `path`, a table with offsets, and as often by the allocator of the C
// library. No byte of a block is touched. Errors: those of ReadCsv(), ReadStep() and berth_arena_read(); no
// memory, kIo.
[[nodiscard]] Result<Replayed> Replay(const std::string& path, int rounds);

}  // namespace berth::lab

#endif  // BERTH_TOOLS_LAB_BENCH_REPLAY_H_
