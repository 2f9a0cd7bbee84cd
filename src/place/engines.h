// place/engines.h -- the exact searches that there are: one row of a table for each.
#ifndef BERTH_PLACE_ENGINES_H_
#define BERTH_PLACE_ENGINES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "berth/budget.h"
#include "berth/place.h"
#include "model/instance.h"
#include "place/options.h"
#include "place/strategy.h"

namespace berth::internal {

// What engines are made from. `instance` must outlive it, and it the engines.
class Subject {
 public:
  Subject(const Instance& instance, const EngineOptions& options, std::uint64_t seed,
          const Budget& budget);

  [[nodiscard]] const Instance& instance() const { return instance_; }
  [[nodiscard]] const EngineOptions& options() const { return options_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  // The pairs of buffers that meet, counted twice.
  [[nodiscard]] std::int64_t num_overlaps() const { return num_overlaps_; }
  // All of them. Nullptr where time is up before they are found; they are found once.
  [[nodiscard]] const Overlaps* overlaps();

 private:
  const Instance& instance_;
  const EngineOptions options_;
  const std::uint64_t seed_;
  const Budget& budget_;
  const std::int64_t num_overlaps_;
  std::optional<Overlaps> overlaps_;
};

struct EngineInfo {
  Algorithm algorithm;
  // Whether its state takes no more than some 2 GB.
  bool (*fits)(const Subject& subject);
  // Whether kAuto uses it here; the first row is used everywhere.
  bool (*helps)(Subject& subject);
  // kAuto: joins the first engine after a while, for its proofs; other engines take turns.
  bool is_prover;
  // Roughly how many elementary steps a node costs.
  std::int64_t (*node_cost)(const Subject& subject);
  // Nullptr where time is up before it is made.
  std::unique_ptr<Search> (*make)(Subject& subject);
};

// In the order of their turns.
[[nodiscard]] std::span<const EngineInfo> Engines();
// Nullptr for algorithms that are no exact search of their own.
[[nodiscard]] const EngineInfo* FindEngine(Algorithm algorithm);

}  // namespace berth::internal

#endif  // BERTH_PLACE_ENGINES_H_
