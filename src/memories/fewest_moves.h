// memories/fewest_moves.h -- how few bytes can move, if everything is to have its least cost.
#ifndef BERTH_MEMORIES_FEWEST_MOVES_H_
#define BERTH_MEMORIES_FEWEST_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "berth/budget.h"
#include "memories/answer.h"
#include "memories/asking.h"
#include "memories/layout.h"
#include "memories/model.h"

namespace berth::internal::memories {

class FewestMoves {
 public:
  // `goes_on`: false once time is up. What is passed must outlive this.
  FewestMoves(const MemoryProblem& problem, const Model& model, Layout& layout, Asker& asker,
              Budget& budget, std::function<bool()> goes_on)
      : problem_(problem),
        model_(model),
        layout_(layout),
        asker_(asker),
        budget_(budget),
        goes_on_(std::move(goes_on)) {}

  // For a layout with the previous plan: wherever a new unit lies, the bytes there have to move.
  void BoundBySums();
  // For a layout in which everything has its least cost, after `kept`, which is a plan: whether fewer
  // bytes could move. Changes the layout to a plan that moves fewer, if it finds one.
  void Search(const std::vector<Spot>& kept);

  // No plan in which everything has its least cost moves fewer bytes.
  [[nodiscard]] Bytes bound() const { return bound_; }

 private:
  [[nodiscard]] bool FindFresh(const std::vector<Spot>& kept, std::vector<std::size_t>& fresh,
                               int& memory) const;
  void MoveOnly(std::vector<Spot> spots, int memory, const std::vector<std::size_t>& free,
                const std::vector<Bytes>& offsets);
  [[nodiscard]] Fit Ask(const std::vector<Spot>& kept, int memory,
                        const std::vector<std::size_t>& free,
                        const std::vector<std::size_t>& pinned, std::vector<Bytes>* offsets);
  [[nodiscard]] std::vector<std::size_t> Reduce(const std::vector<Spot>& kept, int memory,
                                                const std::vector<std::size_t>& free,
                                                std::vector<std::size_t> pinned, int& questions);

  const MemoryProblem& problem_;
  const Model& model_;
  Layout& layout_;
  Asker& asker_;
  Budget& budget_;
  std::function<bool()> goes_on_;
  Bytes bound_ = 0;
};

}  // namespace berth::internal::memories

#endif  // BERTH_MEMORIES_FEWEST_MOVES_H_
