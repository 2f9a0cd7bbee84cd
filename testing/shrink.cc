// Greedy descent: each step proposes simpler problems and takes the first that still fails; this
// repeats until nothing simpler fails. Every step drops something or moves a number towards its
// simplest value, so it terminates.
#include "testing/shrink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "testing/live.h"

namespace berth::internal {
namespace {

class Shrinker {
 public:
  Shrinker(const Problem& problem, const FailsOn& fails, int max_calls)
      : best_(problem), fails_(fails), calls_left_(max_calls) {}

  Problem Run() {
    do {
      progress_ = false;
      DropBuffers();
      DropFeatures();
      RankSteps();
      ScaleBytes();
      LowerNumbers();
      MoveLifetimes();
      MoveGaps();
      RenameBuffers();
    } while (progress_ && calls_left_ > 0);
    return best_;
  }

 private:
  bool Try(const Problem& candidate) {
    if (candidate == best_ || calls_left_ <= 0 || !Validate(candidate)) return false;
    --calls_left_;
    if (!fails_(candidate)) return false;
    best_ = candidate;
    progress_ = true;
    return true;
  }

  // Changes a copy by `change`, which may decline by returning false, and tries it.
  template <typename Change>
  bool TryChange(Change change) {
    Problem candidate = best_;
    return change(candidate) && Try(candidate);
  }

  void DropBuffers() {
    for (std::size_t length = best_.buffers.size(); length > 0; length /= 2) {
      for (std::size_t from = 0; from < best_.buffers.size();) {
        const bool dropped = TryChange([&](Problem& problem) {
          const auto first = problem.buffers.begin() + static_cast<std::ptrdiff_t>(from);
          const std::size_t count = std::min(length, problem.buffers.size() - from);
          problem.buffers.erase(first, first + static_cast<std::ptrdiff_t>(count));
          return true;
        });
        if (!dropped) from += length;
      }
    }
  }

  void DropFeatures() {
    TryChange([](Problem& problem) {
      problem.capacity.reset();
      return true;
    });
    for (std::size_t i = 0; i < best_.buffers.size(); ++i) {
      const auto drop = [&](auto change) {
        TryChange([&](Problem& problem) {
          change(problem.buffers[i]);
          return true;
        });
      };
      drop([](Buffer& buffer) { buffer.gaps.clear(); });
      drop([](Buffer& buffer) { buffer.offset.reset(); });
      drop([](Buffer& buffer) { buffer.hint.reset(); });
      drop([](Buffer& buffer) { buffer.alignment = 1; });
      for (std::size_t k = best_.buffers[i].gaps.size(); k-- > 0;) {
        drop([&](Buffer& buffer) {
          buffer.gaps.erase(buffer.gaps.begin() + static_cast<std::ptrdiff_t>(k));
        });
      }
      for (std::size_t k = 0; k < best_.buffers[i].gaps.size(); ++k) {
        drop([&](Buffer& buffer) { buffer.gaps[k].window.reset(); });
      }
    }
  }

  // Replaces steps by the ranks of the breakpoints: the same problem with the simplest steps.
  void RankSteps() {
    TryChange([](Problem& problem) {
      const std::vector<Step> breakpoints = Breakpoints(problem);
      const auto rank = [&](Step& step) {
        step = std::lower_bound(breakpoints.begin(), breakpoints.end(), step) - breakpoints.begin();
      };
      for (Buffer& buffer : problem.buffers) {
        rank(buffer.start);
        rank(buffer.end);
        for (Gap& gap : buffer.gaps) {
          rank(gap.start);
          rank(gap.end);
        }
      }
      return true;
    });
  }

  // Moves each lifetime as a whole towards step 0.
  void MoveLifetimes() {
    const auto move = [&](std::size_t i, Step by) {
      return by != 0 && TryChange([&](Problem& problem) {
               Buffer& buffer = problem.buffers[i];
               buffer.start += by;
               buffer.end += by;
               for (Gap& gap : buffer.gaps) {
                 gap.start += by;
                 gap.end += by;
               }
               return true;
             });
    };
    for (std::size_t i = 0; i < best_.buffers.size(); ++i) {
      for (;;) {
        const Step start = best_.buffers[i].start;
        if (start == 0) break;
        if (!move(i, -start) && !move(i, -start / 2) && !move(i, start > 0 ? -1 : 1)) break;
      }
    }
  }

  // Moves each gap towards the beginning of its lifetime, or the gap before it.
  void MoveGaps() {
    for (std::size_t i = 0; i < best_.buffers.size(); ++i) {
      for (std::size_t k = 0; k < best_.buffers[i].gaps.size(); ++k) {
        TryChange([&](Problem& problem) {
          Buffer& buffer = problem.buffers[i];
          Gap& gap = buffer.gaps[k];
          const Step length = gap.end - gap.start;
          gap.start = k == 0 ? buffer.start : buffer.gaps[k - 1].end;
          gap.end = gap.start + length;
          return true;
        });
      }
    }
  }

  static void ForEachBytes(Problem& problem, const std::function<void(Bytes&)>& visit) {
    if (problem.capacity) visit(*problem.capacity);
    for (Buffer& buffer : problem.buffers) {
      visit(buffer.size);
      visit(buffer.alignment);
      if (buffer.offset) visit(*buffer.offset);
      if (buffer.hint) visit(*buffer.hint);
      for (Gap& gap : buffer.gaps) {
        if (!gap.window) continue;
        visit(gap.window->lower);
        visit(gap.window->upper);
      }
    }
  }

  // Sizes that only fail together with the capacity must decrease together with it.
  void ScaleBytes() {
    for (const Bytes divisor : {1000, 10, 2}) {
      while (TryChange([&](Problem& problem) {
        ForEachBytes(problem, [&](Bytes& bytes) { bytes = bytes > 1 ? bytes / divisor : bytes; });
        for (Buffer& buffer : problem.buffers) {
          buffer.size = std::max<Bytes>(buffer.size, 1);
          buffer.alignment = std::max<Bytes>(buffer.alignment, 1);
        }
        return true;
      })) {
      }
    }
    for (std::size_t i = 0; best_.capacity && i < best_.buffers.size();) {
      const Bytes size = best_.buffers[i].size;
      const bool dropped = TryChange([&](Problem& problem) {
        problem.buffers.erase(problem.buffers.begin() + static_cast<std::ptrdiff_t>(i));
        *problem.capacity -= size;
        return true;
      });
      if (dropped) continue;
      for (Bytes less = size - 1; less > 0;) {
        const bool lowered = TryChange([&](Problem& problem) {
          problem.buffers[i].size -= less;
          *problem.capacity -= less;
          return true;
        });
        less = lowered ? std::min(less, best_.buffers[i].size - 1) : less / 2;
      }
      ++i;
    }
  }

  // `number` finds the number in a problem; it moves towards `plainest` by large changes, then by
  // ones.
  template <typename Number>
  void Lower(Number number, std::int64_t plainest) {
    const auto set = [&](std::int64_t value) {
      return TryChange([&](Problem& problem) {
        number(problem) = value;
        return true;
      });
    };
    for (;;) {
      const std::int64_t value = number(best_);
      if (value == plainest) return;
      const std::int64_t toward = value > plainest ? -1 : 1;
      if (set(plainest) || set(plainest + (value - plainest) / 2) || set(value + toward)) continue;
      return;
    }
  }

  void LowerNumbers() {
    if (best_.capacity) Lower([](Problem& p) -> Bytes& { return *p.capacity; }, 0);
    for (std::size_t i = 0; i < best_.buffers.size(); ++i) {
      const auto lower = [&](auto field, std::int64_t plainest) {
        Lower([&](Problem& p) -> std::int64_t& { return field(p.buffers[i]); }, plainest);
      };
      const Buffer buffer = best_.buffers[i];
      lower([](Buffer& b) -> Bytes& { return b.size; }, 1);
      lower([](Buffer& b) -> Bytes& { return b.alignment; }, 1);
      if (buffer.offset) lower([](Buffer& b) -> Bytes& { return *b.offset; }, 0);
      if (buffer.hint) lower([](Buffer& b) -> Bytes& { return *b.hint; }, 0);
      lower([](Buffer& b) -> Step& { return b.end; }, best_.buffers[i].start + 1);
      lower([](Buffer& b) -> Step& { return b.start; }, best_.buffers[i].end - 1);
      for (std::size_t k = 0; k < buffer.gaps.size(); ++k) {
        const Gap& gap = buffer.gaps[k];
        lower([&](Buffer& b) -> Step& { return b.gaps[k].end; }, gap.start + 1);
        if (!gap.window) continue;
        lower([&](Buffer& b) -> Bytes& { return b.gaps[k].window->lower; }, 0);
        lower([&](Buffer& b) -> Bytes& { return b.gaps[k].window->upper; }, 1);
      }
    }
  }

  void RenameBuffers() {
    TryChange([](Problem& problem) {
      for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
        problem.buffers[i].id =
            i < 26 ? std::string(1, static_cast<char>('a' + i)) : "b" + std::to_string(i);
      }
      return true;
    });
  }

  Problem best_;
  const FailsOn& fails_;
  int calls_left_;
  bool progress_ = false;
};

std::string ToCpp(const std::optional<Bytes>& bytes) {
  return bytes ? std::to_string(*bytes) : "std::nullopt";
}

std::string Quoted(const std::string& text, const char* quote_inside) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? quote_inside : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Problem Shrink(const Problem& problem, const FailsOn& fails, int max_calls) {
  return Shrinker(problem, fails, max_calls).Run();
}

std::string ToCpp(const Problem& problem) {
  std::string text = "Problem problem;\n";
  if (problem.capacity) text += "problem.capacity = " + std::to_string(*problem.capacity) + ";\n";
  text += "problem.buffers = {\n";
  text += "    // id, start, end, size, alignment, offset, hint, gaps\n";
  for (const Buffer& buffer : problem.buffers) {
    std::string gaps;
    for (const Gap& gap : buffer.gaps) {
      if (!gaps.empty()) gaps += ", ";
      gaps += "Gap{" + std::to_string(gap.start) + ", " + std::to_string(gap.end) + ", ";
      gaps += gap.window ? "Window{" + std::to_string(gap.window->lower) + ", " +
                               std::to_string(gap.window->upper) + "}}"
                         : "std::nullopt}";
    }
    text += "    {" + Quoted(buffer.id, "\\\"") + ", " + std::to_string(buffer.start) + ", " +
            std::to_string(buffer.end) + ", " + std::to_string(buffer.size) + ", " +
            std::to_string(buffer.alignment) + ", " + ToCpp(buffer.offset) + ", " +
            ToCpp(buffer.hint) + ", {" + gaps + "}},\n";
  }
  return text + "};\n";
}

std::string ToTable(const Problem& problem) {
  const auto optional = [](const std::optional<Bytes>& bytes) {
    return bytes ? std::to_string(*bytes) : std::string();
  };
  std::string text = "id,lower,upper,size,alignment,offset,hint,gaps\n";
  for (const Buffer& buffer : problem.buffers) {
    std::string gaps;
    for (const Gap& gap : buffer.gaps) {
      if (!gaps.empty()) gaps += " ";
      gaps += std::to_string(gap.start) + "-" + std::to_string(gap.end);
      if (gap.window) {
        gaps += "@" + std::to_string(gap.window->lower) + ":" + std::to_string(gap.window->upper);
      }
    }
    text += Quoted(buffer.id, "\"\"") + "," + std::to_string(buffer.start) + "," +
            std::to_string(buffer.end) + "," + std::to_string(buffer.size) + "," +
            std::to_string(buffer.alignment) + "," + optional(buffer.offset) + "," +
            optional(buffer.hint) + "," + gaps + "\n";
  }
  return text;
}

}  // namespace berth::internal
