#include "testing/prefetch_oracle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "testing/graph_memories_oracle.h"

namespace berth::internal {
namespace {

constexpr std::size_t kMostPermuted = 4;

struct OracleStay {
  std::size_t memory = 0;
  Step start = 0;       // Of a target: the copy begins after the operator of start - 1.
  Step end = 0;         // Of a source: the copy has ended before the operator of `end`.
  bool beside = false;  // The first one, the original, stays.
};
using Way = std::vector<OracleStay>;

// What one operator does with a base.
struct Use {
  std::size_t buffer;
  Bytes read = 0;
  Bytes written = 0;
  std::int64_t accesses = 0;
};

std::int64_t Price(const Use& use, const Memory& memory) {
  const auto up = [](std::int64_t count, const Rate& rate) {
    return (count * rate.cost + rate.bytes - 1) / rate.bytes;
  };
  return up(use.read, memory.read) + up(use.written, memory.write) + use.accesses * memory.access;
}

class Oracle {
 public:
  Oracle(const Graph& graph, const Order& order, const Counting& counting,
         const GraphMemories& memories)
      : graph_(graph),
        order_(order),
        memories_(memories),
        buffers_(OracleTable(graph, order, counting, memories).table.buffers),
        steps_(static_cast<Step>(std::max<std::size_t>(1, order.size()))) {
    std::map<TensorIndex, std::size_t> buffer_of;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      TensorIndex t = 0;
      while (graph.tensors[t].name != buffers_[b].id) ++t;
      tensors_.push_back(t);
      buffer_of[t] = b;
    }
    for (const OperatorIndex v : order) uses_.push_back(UsesOf(graph.operators[v], buffer_of));
    load_.assign(memories.memories.size(),
                 std::vector<Bytes>(2 * static_cast<std::size_t>(steps_) + 2, 0));
  }

  std::optional<std::int64_t> Least() {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      ways_.emplace_back();
      Way way;
      FindWays(b, way);
    }
    chosen_.resize(buffers_.size());
    Choose(0);
    if (best_ == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return best_;
  }

 private:
  [[nodiscard]] TensorIndex Base(TensorIndex t) const {
    return graph_.tensors[t].alias_of.value_or(t);
  }

  [[nodiscard]] std::vector<Use> UsesOf(const Operator& op,
                                        const std::map<TensorIndex, std::size_t>& buffer_of) const {
    bool only_views = !op.outputs.empty() && op.mutates.empty();
    for (const TensorIndex t : op.outputs) only_views = only_views && graph_.tensors[t].alias_of;
    std::map<std::size_t, Use> uses;
    const auto add = [&](TensorIndex base, Bytes read, Bytes written) {
      const auto at = buffer_of.find(base);
      if (at == buffer_of.end()) return;
      Use& use = uses[at->second];
      use.buffer = at->second;
      use.read += read;
      use.written += written;
      ++use.accesses;
    };
    if (!only_views) {
      for (const TensorIndex t : std::set<TensorIndex>(op.inputs.begin(), op.inputs.end())) {
        add(Base(t), graph_.tensors[t].bytes, 0);
      }
      for (const TensorIndex t : op.outputs) {
        if (!graph_.tensors[t].alias_of) add(t, 0, graph_.tensors[t].bytes);
      }
      for (const TensorIndex base : op.mutates) {
        Bytes views = 0;
        for (const TensorIndex t : op.outputs) {
          if (graph_.tensors[t].alias_of == base) views += graph_.tensors[t].bytes;
        }
        const Bytes all = graph_.tensors[base].bytes;
        add(base, 0, views == 0 ? all : std::min(all, views));
      }
    }
    std::vector<Use> found;
    found.reserve(uses.size());
    for (const auto& [buffer, use] : uses) found.push_back(use);
    return found;
  }

  [[nodiscard]] bool IsWritten(std::size_t b, Step first, Step end) const {
    for (Step s = first; s < end; ++s) {
      for (const Use& use : uses_[static_cast<std::size_t>(s)]) {
        if (use.buffer == b && use.written > 0) return true;
      }
    }
    return false;
  }

  // All ways that buffer b can take, given its stays but for the end of the last one.
  void FindWays(std::size_t b, Way& way) {
    const Buffer& buffer = buffers_[b];
    const TensorIndex t = tensors_[b];
    const TensorKind kind = graph_.tensors[t].kind;
    const bool weight = kind == TensorKind::kParameter || kind == TensorKind::kConstant;
    for (std::size_t m = 0; m < memories_.memories.size(); ++m) {
      if (!memories_.allowed.empty() && !memories_.allowed[t].empty()) {
        const auto& allowed = memories_.allowed[t];
        if (std::find(allowed.begin(), allowed.end(), m) == allowed.end()) continue;
      }
      if (way.empty()) {
        way.push_back({m, buffer.start, buffer.end});
        ways_[b].push_back(way);
        if (weight && !IsWritten(b, 0, buffer.end)) FindStaged(b, 1, way);
        FindWays(b, way);
        way.pop_back();
        continue;
      }
      if (weight || m == way.back().memory) continue;
      const Step home = way.size() == 1 ? buffer.start : way[way.size() - 2].end;
      for (Step start = home + 1; start < buffer.end; ++start) {
        for (Step end = start; end < buffer.end && !IsWritten(b, start, end); ++end) {
          way.back().end = end;
          way.push_back({m, start, buffer.end});
          ways_[b].push_back(way);
          FindWays(b, way);
          way.pop_back();
          way.back().end = buffer.end;
        }
      }
    }
  }

  // The steps of [start, end) at which buffer b is used.
  [[nodiscard]] std::optional<Step> FirstUse(std::size_t b, Step start, Step end) const {
    for (Step s = start; s < end && static_cast<std::size_t>(s) < uses_.size(); ++s) {
      for (const Use& use : uses_[static_cast<std::size_t>(s)]) {
        if (use.buffer == b) return s;
      }
    }
    return std::nullopt;
  }

  // All ways with copies beside the original of a weight, from `from` on.
  void FindStaged(std::size_t b, Step from, Way& way) {
    const Buffer& buffer = buffers_[b];
    for (const std::size_t m : memories_.stage_in) {
      if (m == way.front().memory) continue;
      for (Step start = from; start < buffer.end; ++start) {
        for (Step end = start + 1; end <= buffer.end; ++end) {
          if (!FirstUse(b, start, end)) continue;
          way.push_back({m, start, end, true});
          ways_[b].push_back(way);
          FindStaged(b, end, way);
          way.pop_back();
        }
      }
    }
  }

  // In half steps: the operator of step s at 2 s + 1, between two of them at 2 s.
  static std::pair<std::size_t, std::size_t> Halves(const Way& way, std::size_t i) {
    const bool comes = i > 0;
    const bool goes = i + 1 < way.size() && !way[i + 1].beside;
    return {static_cast<std::size_t>(2 * way[i].start + (comes ? 0 : 1)),
            static_cast<std::size_t>(2 * way[i].end + (goes ? 1 : 0))};
  }

  void Choose(std::size_t b) {
    if (b == buffers_.size()) return Judge();
    for (const Way& way : ways_[b]) {
      bool fits = true;
      for (std::size_t i = 0; i < way.size(); ++i) {
        const auto [start, end] = Halves(way, i);
        const auto& capacity = memories_.memories[way[i].memory].capacity;
        for (std::size_t h = start; h < end; ++h) {
          load_[way[i].memory][h] += buffers_[b].size;
          fits = fits && (!capacity || load_[way[i].memory][h] <= *capacity);
        }
      }
      if (fits) {
        chosen_[b] = &way;
        Choose(b + 1);
      }
      for (std::size_t i = 0; i < way.size(); ++i) {
        const auto [start, end] = Halves(way, i);
        for (std::size_t h = start; h < end; ++h) load_[way[i].memory][h] -= buffers_[b].size;
      }
    }
  }

  struct Copy {
    Step start;
    Step end;
    std::int64_t takes;
  };

  void Judge() {
    std::vector<std::int64_t> times;
    for (std::size_t s = 0; s < order_.size(); ++s) {
      std::int64_t time = graph_.operators[order_[s]].cost.value_or(0);
      for (const Use& use : uses_[s]) {
        const Way& way = *chosen_[use.buffer];
        std::size_t i = 0;
        while (way[i].end <= static_cast<Step>(s)) ++i;
        for (std::size_t k = 1; k < way.size(); ++k) {
          if (way[k].beside && way[k].start <= static_cast<Step>(s) &&
              static_cast<Step>(s) < way[k].end) {
            i = k;
          }
        }
        time += Price(use, memories_.memories[way[i].memory]);
      }
      times.push_back(time);
    }
    std::vector<Copy> copies;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      const Way& way = *chosen_[b];
      for (std::size_t i = 1; i < way.size(); ++i) {
        const Bytes size = buffers_[b].size;
        const OracleStay& from = way[way[i].beside ? 0 : i - 1];
        const std::int64_t read = Price({b, size, 0, 1}, memories_.memories[from.memory]);
        const std::int64_t write = Price({b, 0, size, 1}, memories_.memories[way[i].memory]);
        const Step end = way[i].beside ? *FirstUse(b, way[i].start, way[i].end) : from.end;
        copies.push_back({way[i].start, end, memories_.copy_latency + std::max(read, write)});
      }
    }
    std::vector<std::size_t> turn(copies.size());
    for (std::size_t c = 0; c < turn.size(); ++c) turn[c] = c;
    if (copies.size() > kMostPermuted) {
      std::stable_sort(turn.begin(), turn.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(copies[a].start, copies[a].end) <
               std::pair(copies[b].start, copies[b].end);
      });
      return Try(times, copies, turn);
    }
    do {
      Try(times, copies, turn);
    } while (std::next_permutation(turn.begin(), turn.end()));
  }

  // Keeps the time of the run if it is the least and there are offsets.
  void Try(const std::vector<std::int64_t>& times, const std::vector<Copy>& copies,
           const std::vector<std::size_t>& turn) {
    std::vector<std::int64_t> ended(times.size() + 1, -1);  // Of the operator before each step.
    ended[0] = 0;
    std::vector<std::int64_t> arrived(copies.size(), -1);
    std::int64_t engine = 0;
    std::size_t next = 0;
    for (std::size_t s = 0; s < times.size(); ++s) {
      for (; next < turn.size() && copies[turn[next]].start <= static_cast<Step>(s); ++next) {
        const Copy& copy = copies[turn[next]];
        engine = std::max(engine, ended[static_cast<std::size_t>(copy.start)]) + copy.takes;
        arrived[turn[next]] = engine;
      }
      std::int64_t begin = ended[s];
      for (std::size_t c = 0; c < copies.size(); ++c) {
        if (copies[c].end > static_cast<Step>(s)) continue;
        if (arrived[c] < 0) return;  // Operator and copy wait for each other.
        begin = std::max(begin, arrived[c]);
      }
      ended[s + 1] = begin + times[s];
    }
    if (ended.back() < best_ && HasOffsets()) best_ = ended.back();
  }

  struct Rectangle {
    std::size_t memory;
    std::size_t start;
    std::size_t end;
    Bytes size;
    Bytes alignment;
    Bytes offset = -1;
  };

  [[nodiscard]] bool HasOffsets() const {
    std::vector<Rectangle> rectangles;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      for (std::size_t i = 0; i < chosen_[b]->size(); ++i) {
        const auto [start, end] = Halves(*chosen_[b], i);
        const std::size_t m = (*chosen_[b])[i].memory;
        if (!memories_.memories[m].capacity) continue;
        rectangles.push_back({m, start, end, buffers_[b].size, buffers_[b].alignment});
      }
    }
    return Place(rectangles, 0);
  }

  [[nodiscard]] bool Place(std::vector<Rectangle>& rectangles, std::size_t r) const {
    if (r == rectangles.size()) return true;
    Rectangle& mine = rectangles[r];
    const Memory& memory = memories_.memories[mine.memory];
    for (Bytes offset = 0; offset + mine.size <= *memory.capacity; ++offset) {
      if (offset % memory.alignment != 0 || offset % mine.alignment != 0) continue;
      bool free = true;
      for (std::size_t q = 0; q < r; ++q) {
        const Rectangle& other = rectangles[q];
        free = free &&
               (other.memory != mine.memory || other.end <= mine.start || mine.end <= other.start ||
                other.offset + other.size <= offset || offset + mine.size <= other.offset);
      }
      for (const Reserved& reserved : memory.reserved) {
        if (reserved.upper <= offset || offset + mine.size <= reserved.lower) continue;
        // Reserved at half steps from 2 start + 1 to before 2 end.
        for (std::size_t h = mine.start; h < mine.end; ++h) {
          const auto half = static_cast<Step>(h);
          const bool first = reserved.start <= 0 || half >= 2 * reserved.start + 1;
          free = free && !(first && (reserved.end >= steps_ || half < 2 * reserved.end));
        }
      }
      mine.offset = offset;
      if (free && Place(rectangles, r + 1)) return true;
    }
    return false;
  }

  const Graph& graph_;
  const Order& order_;
  const GraphMemories& memories_;
  const std::vector<Buffer> buffers_;
  const Step steps_;
  std::vector<TensorIndex> tensors_;      // Of each buffer.
  std::vector<std::vector<Use>> uses_;    // By step.
  std::vector<std::vector<Way>> ways_;    // By buffer.
  std::vector<const Way*> chosen_;        // By buffer.
  std::vector<std::vector<Bytes>> load_;  // By memory and half step.
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

std::optional<std::int64_t> OracleOfPrefetch(const Graph& graph, const Order& order,
                                             const Counting& counting,
                                             const GraphMemories& memories) {
  return Oracle(graph, order, counting, memories).Least();
}

}  // namespace berth::internal
