// tests/place/generated.h -- generated problems without error handling.
#ifndef BERTH_TESTS_PLACE_GENERATED_H_
#define BERTH_TESTS_PLACE_GENERATED_H_

#include <gtest/gtest.h>

#include <cstdint>

#include "tools/generate/generate.h"
#include "tools/generate/variant.h"

namespace berth::internal {

inline Problem Generated(Family family, const GenerateParameters& parameters) {
  const auto generated = Generate(family, parameters);
  EXPECT_TRUE(generated.has_value()) << generated.error().message;
  return generated ? generated->problem : Problem();
}

// A planted plan without one buffer in eight: slack nearly everywhere.
inline Problem PlantedWithLosses(std::uint64_t seed, std::int64_t buffers, Step steps) {
  GenerateParameters parameters;
  parameters.seed = seed;
  parameters.buffers = buffers;
  parameters.steps = steps;
  const auto variant = MakeVariant(Generated(Family::kPlanted, parameters), {seed, 12});
  EXPECT_TRUE(variant.has_value());
  return variant ? *variant : Problem();
}

}  // namespace berth::internal

#endif  // BERTH_TESTS_PLACE_GENERATED_H_
