// tools/berth/off_chip.h -- what the copies of a plan with spills take on the device of the model.
#ifndef BERTH_TOOLS_BERTH_OFF_CHIP_H_
#define BERTH_TOOLS_BERTH_OFF_CHIP_H_

#include <string>

#include "berth/answer.h"
#include "tools/berth/model.h"
#include "tools/berth/output.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

// "0 pJ", "1.30 pJ", "12.0 nJ", "5.21 uJ".
[[nodiscard]] std::string FormatEnergy(double picojoules);

// Of `plan`, which has addresses, on the device that the model was read for. Nothing if that has no link. The
// time, or why it is not known, and if the link has one the energy.
void AddOffChipFacts(const Model& model, const MemoryPlan& plan, FactList& facts);
// The same; null without a link, or where the time is not known.
[[nodiscard]] Json OffChipJson(const Model& model, const MemoryPlan& plan);

}  // namespace berth::cli

#endif  // BERTH_TOOLS_BERTH_OFF_CHIP_H_
