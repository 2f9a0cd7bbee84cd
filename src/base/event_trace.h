// base/event_trace.h -- allocations and frees in order, as a table of buffers.
//
// At step k the first k events have happened: what event 1 allocates and event 3 frees lives during
// the steps [1, 3). What is never freed lives to the end.
#ifndef BERTH_BASE_EVENT_TRACE_H_
#define BERTH_BASE_EVENT_TRACE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/unique_names.h"
#include "berth/problem.h"

namespace berth::internal {

class EventTrace {
 public:
  // The id of an earlier buffer may be that of a new one: the second buffer of "x" is "x #2", or the
  // next number that no other buffer has. False: `id` is allocated already.
  bool Allocate(std::string_view id, Bytes size, Bytes alignment) {
    Last& last = last_[std::string(id)];
    if (last.live) return false;
    Buffer buffer;
    buffer.id = names_.Take(std::string(id));
    buffer.start = ++step_;
    buffer.size = size;
    buffer.alignment = alignment;
    last.index = problem_.buffers.size();
    last.live = true;
    problem_.buffers.push_back(std::move(buffer));
    return true;
  }
  // False: `id` is not allocated.
  bool Free(std::string_view id) {
    const auto found = last_.find(std::string(id));
    if (found == last_.end() || !found->second.live) return false;
    found->second.live = false;
    problem_.buffers[found->second.index].end = ++step_;
    return true;
  }
  // The table, in the order of the allocations; the trace is then empty.
  [[nodiscard]] Problem Finish() {
    for (const auto& [id, last] : last_) {
      if (last.live) problem_.buffers[last.index].end = step_ + 1;
    }
    Problem problem = std::move(problem_);
    *this = EventTrace();
    return problem;
  }

 private:
  struct Last {
    std::size_t index = 0;
    bool live = false;
  };

  Step step_ = 0;
  std::unordered_map<std::string, Last> last_;
  UniqueNames names_{" #"};
  Problem problem_;
};

}  // namespace berth::internal

#endif  // BERTH_BASE_EVENT_TRACE_H_
