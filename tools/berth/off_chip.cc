#include "tools/berth/off_chip.h"

#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include "berth/off_chip.h"

namespace berth::cli {
namespace {

double SecondsOf(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

struct Energies {
  double avoidable = 0;  // In picojoules.
  double compulsory = 0;
};

// None if the link has no energy.
std::optional<Energies> EnergiesOf(const Link& link, const Traffic& traffic) {
  if (!link.picojoules_per_byte) return std::nullopt;
  const double each = *link.picojoules_per_byte;
  return Energies{each * static_cast<double>(traffic.avoidable()),
                  each * static_cast<double>(traffic.compulsory_in + traffic.compulsory_out)};
}

}  // namespace

std::string FormatEnergy(double picojoules) {
  constexpr std::array<std::string_view, 5> kUnits = {"pJ", "nJ", "uJ", "mJ", "J"};
  std::size_t unit = 0;
  for (; picojoules >= 999.5 && unit + 1 < kUnits.size(); ++unit) picojoules /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(),
                picojoules == 0      ? "%.0f "
                : picojoules < 9.995 ? "%.2f "
                                     : "%.1f ",
                picojoules);
  return text.data() + std::string(kUnits[unit]);
}

void AddOffChipFacts(const Model& model, const MemoryPlan& plan, FactList& facts) {
  const std::optional<Link> link = model.link();
  if (!link) return;
  if (const auto run = RunOffChip(model.graph, *link, plan); !run) {
    facts.Add("run", "not known: " + OneLine(run.error().message));
  } else {
    facts.Add("run", FormatSeconds(SecondsOf(run->time)) + " with copies beside operators, " +
                         FormatSeconds(SecondsOf(run->one_by_one())) +
                         " one by one; operators alone " +
                         FormatSeconds(SecondsOf(run->computing)));
  }
  const auto energies = EnergiesOf(*link, plan.traffic);
  if (!energies) return;
  facts.Add("energy", FormatEnergy(energies->avoidable) + " for what is spilled and retrieved, " +
                          FormatEnergy(energies->compulsory) + " compulsory");
}

Json OffChipJson(const Model& model, const MemoryPlan& plan) {
  const std::optional<Link> link = model.link();
  if (!link) return nullptr;
  const auto run = RunOffChip(model.graph, *link, plan);
  if (!run) return nullptr;
  const auto energies = EnergiesOf(*link, plan.traffic);
  return {{"computing", run->computing},
          {"copying", run->copying},
          {"stalled", run->stalled},
          {"time", run->time},
          {"one_by_one", run->one_by_one()},
          {"avoidable_pj", energies ? Json(energies->avoidable) : Json(nullptr)},
          {"compulsory_pj", energies ? Json(energies->compulsory) : Json(nullptr)}};
}

}  // namespace berth::cli
