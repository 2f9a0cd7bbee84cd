// Addresses for a layout, where one storage has to leave and the others need not.
#include "spill/addresses.h"

#include <gtest/gtest.h>

#include <string>

#include "berth/place.h"
#include "spill/layout.h"

namespace berth::internal::spill {
namespace {

constexpr std::size_t kStorages = 256;
constexpr std::size_t kHard = 77;

// Operator i makes a tensor of a byte that operator kStorages + i reads.
Graph ReadLater() {
  Graph graph;
  for (std::size_t i = 0; i < kStorages; ++i) {
    graph.tensors.push_back({.name = "t" + std::to_string(i), .bytes = 1});
    graph.operators.push_back({"make" + std::to_string(i), "", {}, {i}});
  }
  for (std::size_t i = 0; i < kStorages; ++i) {
    graph.operators.push_back({"read" + std::to_string(i), "", {i}, {}});
  }
  return graph;
}

Layout AllKept(const Graph& graph) {
  Layout layout;
  layout.order = ProgramOrder(graph);
  for (std::size_t i = 0; i < kStorages; ++i) {
    Stays stays;
    stays.tensor = i;
    stays.size = 1;
    stays.accesses = {{static_cast<Step>(i), true}, {static_cast<Step>(kStorages + i), false}};
    stays.kept = {1, 0};
    layout.storages.push_back(std::move(stays));
  }
  return layout;
}

// Once all have left, all but the one that the placer finds no room for come back after few placements.
TEST(FindAddressesTest, WhatNeedNotLeaveComesBackTogether) {
  const Graph graph = ReadLater();
  AddressOptions options;
  options.capacity = kStorages;
  options.max_trials = 0;
  std::size_t placements = 0;
  const Placer placer = [&](const Problem& problem, Budget& budget) -> Result<PlanAnswer> {
    ++placements;
    auto answer = Place(problem, {}, budget);
    const auto is_hard = [](const Buffer& buffer) {
      return buffer.start == static_cast<Step>(kHard) && buffer.end > buffer.start + 1;
    };
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      if (!is_hard(problem.buffers[i])) continue;
      // The first two placements must be there, though too high; the next one fails, so that all leave.
      if (placements > 2) {
        answer->best.reset();
      } else {
        answer->best->residencies[i].offset = kStorages;
        answer->best->memories.front().height = kStorages + 1;
      }
    }
    return answer;
  };
  Budget budget;
  const auto plan = FindAddresses(graph, AllKept(graph), options, placer, budget);
  ASSERT_TRUE(plan.has_value() && plan->has_value());
  EXPECT_EQ((*plan)->traffic.avoidable(), 2);
  EXPECT_LE((*plan)->height(), options.capacity);
  EXPECT_LT(placements, kStorages / 4);
}

}  // namespace
}  // namespace berth::internal::spill
