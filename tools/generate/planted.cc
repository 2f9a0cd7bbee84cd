// A perfect packing, made by cutting.
//
// The rectangle of all steps and all units below the peak is cut repeatedly: of two random pieces,
// the larger is cut. Every piece becomes a buffer at its offset in the rectangle, so the load is
// the peak at every step and the plan is known.
//
//   straight cut     pinwheel          hollow, without and with a window
//   +---+-----+      +------+--+       +--+---+--+     +--+---+--+
//   |   |     |      |      |  |       |  | 2 |  |     |  | 2 |  |
//   | 1 |  2  |      +--+---+  |       |1 +---+ 1|     |1 +---+ 1|    1 is one buffer with a gap
//   |   |     |      |  |   |  |       |  |   |  |     |  |   |  |
//   +---+-----+      |  +---+--+       +--+---+--+     |  +---+  |
//                    |  |      |        (all of the    |  | 3 |  |
//                    +--+------+         middle is 2)  +--+---+--+
//
// Straight cuts alone give only guillotine packings, which are easy; a pinwheel is the smallest
// packing that is not one.
#include <algorithm>
#include <utility>

#include "tools/generate/families.h"

namespace berth::internal {
namespace {

constexpr double kPinwheelChance = 0.2;

struct Piece {
  Step start;
  Step end;
  Bytes lower;  // In units.
  Bytes upper;
  std::vector<Gap> gaps;  // Windows in units. If not empty, the piece is not cut further.

  [[nodiscard]] Step width() const { return end - start; }
  [[nodiscard]] Bytes height() const { return upper - lower; }
  // Only used for comparison, and the same on every machine.
  [[nodiscard]] double area() const {
    return static_cast<double>(width()) * static_cast<double>(height());
  }
};

class Cutter {
 public:
  Cutter(const Setting& setting, Random& random) : setting_(setting), random_(random) {
    Keep({0, setting.steps, 0, setting.peak_units, {}});
  }

  // False if nothing is left to cut.
  bool CutUntil(std::size_t count) {
    while (size() < count) {
      if (cuttable_.empty()) return false;
      const std::size_t wanted = count - size();
      const Piece piece = TakeLarge();
      const bool hollow = random_.Chance(setting_.gaps_percent / 100.0);
      if (hollow && piece.width() >= 3) {
        Hollow(piece, wanted);
      } else if (wanted >= 4 && piece.width() >= 3 && piece.height() >= 3 &&
                 random_.Chance(kPinwheelChance)) {
        Pinwheel(piece);
      } else {
        Straight(piece);
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<Piece> TakePieces() {
    std::vector<Piece> pieces = std::move(finished_);
    pieces.insert(pieces.end(), std::make_move_iterator(cuttable_.begin()),
                  std::make_move_iterator(cuttable_.end()));
    random_.Shuffle(pieces);
    return pieces;
  }

 private:
  [[nodiscard]] std::size_t size() const { return cuttable_.size() + finished_.size(); }

  void Keep(Piece piece) {
    const bool finished = !piece.gaps.empty() || (piece.width() == 1 && piece.height() == 1);
    (finished ? finished_ : cuttable_).push_back(std::move(piece));
  }

  Piece TakeLarge() {
    const auto last = static_cast<std::int64_t>(cuttable_.size()) - 1;
    const auto one = static_cast<std::size_t>(random_.Uniform(0, last));
    const auto two = static_cast<std::size_t>(random_.Uniform(0, last));
    std::swap(cuttable_[cuttable_[one].area() < cuttable_[two].area() ? two : one],
              cuttable_.back());
    Piece piece = std::move(cuttable_.back());
    cuttable_.pop_back();
    return piece;
  }

  void Straight(const Piece& piece) {
    const bool across_time = piece.height() == 1 || (piece.width() > 1 && random_.Chance(0.5));
    if (across_time) {
      const Step at = random_.Uniform(piece.start + 1, piece.end - 1);
      Keep({piece.start, at, piece.lower, piece.upper, {}});
      Keep({at, piece.end, piece.lower, piece.upper, {}});
    } else {
      const Bytes at = random_.Uniform(piece.lower + 1, piece.upper - 1);
      Keep({piece.start, piece.end, piece.lower, at, {}});
      Keep({piece.start, piece.end, at, piece.upper, {}});
    }
  }

  void Pinwheel(const Piece& piece) {
    const Step left = random_.Uniform(piece.start + 1, piece.end - 2);
    const Step right = random_.Uniform(left + 1, piece.end - 1);
    const Bytes low = random_.Uniform(piece.lower + 1, piece.upper - 2);
    const Bytes high = random_.Uniform(low + 1, piece.upper - 1);
    Keep({left, right, low, high, {}});
    if (random_.Chance(0.5)) {
      Keep({piece.start, left, piece.lower, high, {}});
      Keep({piece.start, right, high, piece.upper, {}});
      Keep({right, piece.end, low, piece.upper, {}});
      Keep({left, piece.end, piece.lower, low, {}});
    } else {
      Keep({piece.start, left, low, piece.upper, {}});
      Keep({left, piece.end, high, piece.upper, {}});
      Keep({right, piece.end, piece.lower, high, {}});
      Keep({piece.start, right, piece.lower, low, {}});
    }
  }

  void Hollow(const Piece& piece, std::size_t wanted) {
    Piece rest = piece;
    Gap gap = DrawGapSteps(piece.start, piece.end, random_);
    if (piece.height() > 1 && random_.Chance(0.5)) {
      const Bytes length = random_.Uniform(1, piece.height() - 1);
      const Bytes most = piece.height() - length;
      // Bytes freed on one side of the window make one new piece, on both sides two.
      const Bytes below =
          wanted > 1 ? random_.Uniform(0, most) : (random_.Chance(0.5) ? most : Bytes{0});
      gap.window = Window{below, below + length};
      if (below > 0) Keep({gap.start, gap.end, piece.lower, piece.lower + below, {}});
      if (below < most) {
        Keep({gap.start, gap.end, piece.lower + below + length, piece.upper, {}});
      }
    } else {
      Keep({gap.start, gap.end, piece.lower, piece.upper, {}});
    }
    rest.gaps.push_back(gap);
    Keep(std::move(rest));
  }

  const Setting& setting_;
  Random& random_;
  std::vector<Piece> cuttable_;
  std::vector<Piece> finished_;
};

}  // namespace

Result<GeneratedProblem> GeneratePlanted(const Setting& setting, Random& random) {
  Cutter cutter(setting, random);
  if (!cutter.CutUntil(static_cast<std::size_t>(setting.buffers))) {
    return Fail(ErrorCode::kInvalidOptions,
                "buffers is " + std::to_string(setting.buffers) + " but " +
                    std::to_string(setting.steps) + " steps times " +
                    std::to_string(setting.peak_units) +
                    " units of the alignment cannot be cut into that many pieces");
  }
  GeneratedProblem generated;
  generated.plan.emplace();
  generated.plan->height = setting.peak_units * setting.alignment;
  for (Piece& piece : cutter.TakePieces()) {
    Buffer buffer;
    buffer.id = "p" + std::to_string(generated.problem.buffers.size());
    buffer.start = piece.start;
    buffer.end = piece.end;
    buffer.size = piece.height() * setting.alignment;
    for (Gap& gap : piece.gaps) {
      if (gap.window) {
        gap.window->lower *= setting.alignment;
        gap.window->upper *= setting.alignment;
      }
      buffer.gaps.push_back(gap);
    }
    generated.problem.buffers.push_back(std::move(buffer));
    generated.plan->offsets.push_back(piece.lower * setting.alignment);
  }
  return generated;
}

}  // namespace berth::internal
