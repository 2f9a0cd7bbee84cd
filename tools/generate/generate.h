// tools/generate/generate.h -- problems from a seed: for tests, benchmarks and experiments.
//
// The same family, parameters and seed give the same problem on every platform and compiler.
// docs/generate.md describes the families for users.
//
// In every family the most bytes live at one step are `capacity` less `slack_percent` of it:
// reached exactly in planted and full, and in the others as nearly as whole sizes allow, never
// exceeded. A problem with slack 0 has no byte to spare at its peak.
#ifndef BERTH_TOOLS_GENERATE_GENERATE_H_
#define BERTH_TOOLS_GENERATE_GENERATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "berth/problem.h"
#include "berth/result.h"

namespace berth::internal {

enum class Family {
  // A perfect packing that is known: the rectangle of all steps and all bytes below the slack, cut
  // into exactly `buffers` pieces by straight cuts and by pinwheels (which no sequence of straight
  // cuts gives). A share of `gaps_percent` of the cuts hollows a piece out instead: it keeps a gap,
  // with or without a window, and what it no longer needs becomes pieces of their own. Always fits;
  // the plan comes with it.
  kPlanted,
  // Exactly full at every step: up to `buffers` random buffers as long as they fit, then fillers
  // until the load is the same everywhere. May fit or not; proving which is what makes it hard.
  kFull,
  // A training step of a neural network, one operator a step: layers, branches that join, skip
  // connections; activations wait for the backward pass, which frees them in reverse while weight
  // gradients pile up until the optimizer takes them; scratch memory for one step at a time.
  kNetwork,
  // The forward pass of such a network alone.
  kInference,
  // Lifetimes and sizes drawn independently, most of them short and small, a few long or large.
  kRandom,
};

struct FamilyInfo {
  Family family;
  std::string_view name;     // As on the command line: "planted".
  std::string_view summary;  // One sentence.
};
// All families, in the order of the enumeration.
[[nodiscard]] std::span<const FamilyInfo> Families();
// Nothing where no family has that name.
[[nodiscard]] std::optional<Family> FamilyFromName(std::string_view name);

struct GenerateParameters {
  std::uint64_t seed = 1;
  std::int64_t buffers = 100;       // 1 .. 1,000,000. full adds fillers: some two for each.
  std::optional<Step> steps;        // 1 .. 2^40. None: 1000; network and inference choose their own
                                    // and accept none.
  std::optional<Step> longest;      // 1 .. steps: no lifetime is longer. None: steps. random only.
  Bytes capacity = Bytes{1} << 20;  // 1 .. 2^38, a multiple of alignment.
  int slack_percent = 0;            // 0 .. 99.
  Bytes alignment = 1;   // Of every buffer, 1 .. 2^30. planted and full make all sizes multiples.
  int pins_percent = 0;  // 0 .. 100: share of the buffers that are pinned. planted pins them where
                         // the plan has them; the others where they collide with no other pin.
  int gaps_percent = 0;  // 0 .. 100: share of the buffers with a gap, half of them with a window.
};

struct GeneratedProblem {
  Problem problem;                // Valid, with a capacity. Ids are unique and say what is what.
  std::optional<Placement> plan;  // planted: a valid plan, its height equal to the peak load.
};

// Makes a problem. Errors: kInvalidOptions, naming the parameter, its value and what is allowed.
// Cost: O(n log n).
[[nodiscard]] Result<GeneratedProblem> Generate(Family family,
                                                const GenerateParameters& parameters);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_GENERATE_H_
