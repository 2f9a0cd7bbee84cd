// What the off-chip traffic of COSMA's experiments costs: energy and time. The paper counts bytes alone and says
// of their cost that it is considerable (its introduction, after Horowitz 2014). So the accelerator is ours, and
// energy per byte is that source's.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.h"
#include "berth/device.h"
#include "berth/off_chip.h"
#include "tools/berth/off_chip.h"
#include "tools/berth/terminal.h"
#include "tools/lab/suites/cosma.h"

namespace berth::lab {
namespace {

// DRAM: 1.3 to 2.6 nJ for an access of 64 bits (M. Horowitz, "Computing's energy problem (and what we can do
// about it)", ISSCC 2014, at 45 nm); the lower of the two.
constexpr double kPicojoulesPerByte = 1300.0 / 8;
// One 32-bit channel of LPDDR4 at 3.2 GT/s.
constexpr Link kLink = {12'800'000'000, 12'800'000'000, 100, kPicojoulesPerByte};

double SecondsOf(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

double Ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

Cell EnergyCell(double picojoules) {
  std::array<char, 400> whole{};
  std::snprintf(whole.data(), whole.size(), "%.0f", std::trunc(picojoules));
  return {cli::FormatEnergy(picojoules), whole.data()};
}

}  // namespace

Device CosmaAccelerator() {
  return {"An edge accelerator, 4 TOPS in 8 bits, LPDDR4", 4e12, 100'000'000'000, 0, kLink};
}

Result<Unpriced> PriceForCosma(Graph& graph) { return SetCosts(CosmaAccelerator(), graph); }

Result<std::optional<CosmaCost>> CostOfPlan(const Graph& graph, const MemoryPlan& plan) {
  if (graph.cost_unit != "ns" || !plan.addressed) return std::nullopt;
  const OffChipRun run = BERTH_TRY(RunOffChip(graph, kLink, plan));
  CosmaCost cost;
  cost.picojoules = kPicojoulesPerByte * static_cast<double>(plan.traffic.avoidable());
  cost.computing = run.computing;
  cost.time = run.time;
  cost.one_by_one = run.one_by_one();
  return cost;
}

Sheet CosmaCostSheet(const std::vector<CosmaCosts>& cases,
                     std::span<const CosmaContender> contenders) {
  std::vector<Sheet::Column> columns = {{"network", "network", false},
                                        {"budget", "budget", false},
                                        {"operators alone", "computing_seconds"}};
  for (const CosmaContender& contender : contenders) {
    const std::string key(contender.key);
    columns.push_back({std::string(contender.title), key + "_picojoules"});
    columns.push_back({"", key + "_seconds"});
    columns.push_back({"", key + "_one_by_one_seconds"});
  }
  Sheet sheet(columns);
  for (const CosmaCosts& each : cases) {
    std::int64_t computing = 0;
    for (const auto& cost : each.of) computing = cost ? cost->computing : computing;
    std::vector<Cell> row = {TextCell(each.network), TextCell(each.budget),
                             SecondsCell(SecondsOf(computing))};
    for (const auto& cost : each.of) {
      if (!cost) {
        row.insert(row.end(), 3, NoCell());
        continue;
      }
      row.push_back(EnergyCell(cost->picojoules));
      row.push_back(SecondsCell(SecondsOf(cost->time)));
      row.push_back(SecondsCell(SecondsOf(cost->one_by_one)));
    }
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

namespace {

// What Berth over all orders saves against contender `s`, in the cases in which that has avoidable traffic.
std::vector<Cell> Savings(const std::vector<CosmaCosts>& cases, std::size_t s) {
  double energy = 0;
  double time = 0;
  std::int64_t slower = 0;
  std::int64_t count = 0;
  for (const CosmaCosts& each : cases) {
    const auto& other = each.of[s];
    const auto& berth = each.of.back();
    if (!other || !berth || other->picojoules == 0) continue;
    ++count;
    energy += 1 - berth->picojoules / other->picojoules;
    time += 1 - Ratio(berth->time, other->time);
    slower += berth->time > other->time ? 1 : 0;
  }
  if (count == 0) return {CountCell(0), NoCell(), NoCell(), CountCell(0)};
  const auto n = static_cast<double>(count);
  return {CountCell(count), PercentCell(energy / n), PercentCell(time / n), CountCell(slower)};
}

// At one budget: the energy of all networks, and the mean of their times relative to the operators alone.
std::pair<Cell, Cell> AtLevel(const std::vector<CosmaCosts>& cases, std::size_t s,
                              NamedBudget level) {
  double energy = 0;
  double slowdown = 0;
  std::int64_t count = 0;
  for (const CosmaCosts& each : cases) {
    if (each.level != level || !each.of[s]) continue;
    ++count;
    energy += each.of[s]->picojoules;
    slowdown += Ratio(each.of[s]->time, each.of[s]->computing);
  }
  if (count == 0) return {NoCell(), NoCell()};
  return {EnergyCell(energy), RatioCell(slowdown / static_cast<double>(count))};
}

}  // namespace

Sheet CosmaCostSummary(const std::vector<CosmaCosts>& cases,
                       std::span<const CosmaContender> contenders) {
  std::vector<Sheet::Column> columns = {{"", "scheme", false},
                                        {"cases", "cases"},
                                        {"energy saved", "mean_energy_saved"},
                                        {"time saved", "mean_time_saved"},
                                        {"slower", "slower_cases"}};
  for (const CosmaLevel& level : kCosmaLevels) {
    const std::string name(level.name);
    columns.push_back({"energy, " + name, "picojoules_" + name});
  }
  for (const CosmaLevel& level : kCosmaLevels) {
    const std::string name(level.name);
    columns.push_back({"time, " + name, "mean_slowdown_" + name});
  }
  Sheet sheet(columns);
  for (std::size_t s = 0; s < contenders.size(); ++s) {
    std::vector<Cell> row = {{std::string(contenders[s].title), std::string(contenders[s].key)}};
    const bool last = s + 1 == contenders.size();
    const std::vector<Cell> savings = last ? std::vector<Cell>(4, NoCell()) : Savings(cases, s);
    row.insert(row.end(), savings.begin(), savings.end());
    std::vector<Cell> times;
    for (const CosmaLevel& level : kCosmaLevels) {
      auto [energy, time] = AtLevel(cases, s, level.budget);
      row.push_back(std::move(energy));
      times.push_back(std::move(time));
    }
    row.insert(row.end(), times.begin(), times.end());
    sheet.AddRow(std::move(row));
  }
  return sheet;
}

}  // namespace berth::lab
