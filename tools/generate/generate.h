// tools/generate/generate.h -- problems from a seed, for tests, benchmarks and experiments.
//
// The same family, parameters and seed give the same problem on every platform and compiler.
// docs/generate.md describes the families for users.
//
// In every family the largest load is `capacity` minus `slack_percent` of it: reached exactly in
// planted and full, and in the others as nearly as whole sizes allow, but never exceeded. A problem
// with slack 0 has no free byte at its peak.
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
  // A known perfect packing: the rectangle of all steps and all bytes below the slack, cut into
  // exactly `buffers` pieces by straight cuts and by pinwheels (which no sequence of straight cuts
  // gives). A share of `gaps_percent` of the cuts hollows a piece out instead: it keeps a gap, with
  // or without a window, and the bytes that it no longer needs become separate pieces. Always fits;
  // the plan is returned as well.
  kPlanted,
  // Exactly full at every step: up to `buffers` random buffers as long as they fit, then fillers
  // until the load is the same everywhere. May or may not fit, which is hard to prove.
  kFull,
  // A training step of a neural network, one operator per step: layers, branches that join, skip
  // connections. Activations wait for the backward pass, which frees them in reverse order while
  // weight gradients accumulate until the optimizer reads them. A workspace lives for one step.
  kNetwork,
  // Only the forward pass of such a network.
  kInference,
  // Independent lifetimes and sizes, most of them short and small, a few long or large. With
  // `live`, the number of steps follows from the average number of live buffers.
  kRandom,
};

struct FamilyInfo {
  Family family;
  std::string_view name;     // As on the command line: "planted".
  std::string_view summary;  // One sentence.
};
// All families, in the order of the enumeration.
[[nodiscard]] std::span<const FamilyInfo> Families();
// Nothing if no family has that name.
[[nodiscard]] std::optional<Family> FamilyFromName(std::string_view name);

struct GenerateParameters {
  std::uint64_t seed = 1;
  std::int64_t buffers = 100;  // 1 .. 10,000,000. full adds about two fillers for each.
  std::optional<Step> steps;   // 1 .. 2^40. None: 1000; network and inference choose their own
                               // and accept none.
  std::optional<std::int64_t> live;  // random: at least 1, at most about 15 % of the buffers.
  Bytes capacity = Bytes{1} << 20;   // 1 .. 2^38, or 2^34 above 1,000,000 buffers; a multiple of
                                     // alignment.
  int slack_percent = 0;             // 0 .. 99.
  Bytes alignment = 1;   // Of every buffer, 1 .. 2^30. planted and full make all sizes multiples.
  int pins_percent = 0;  // 0 .. 100: share of the buffers that are pinned. planted pins them where
                         // the plan has them; the others where they collide with no other pin.
  int gaps_percent = 0;  // 0 .. 100: share of the buffers with a gap, half of them with a window.
};

struct GeneratedProblem {
  Problem problem;                // Valid, with a capacity and unique, descriptive ids.
  std::optional<Placement> plan;  // planted: a valid plan, its height equal to the peak load.
};

// Makes a problem. Errors: kInvalidOptions, naming the parameter, its value and what is allowed.
// Cost: O(n log n).
[[nodiscard]] Result<GeneratedProblem> Generate(Family family,
                                                const GenerateParameters& parameters);

}  // namespace berth::internal

#endif  // BERTH_TOOLS_GENERATE_GENERATE_H_
