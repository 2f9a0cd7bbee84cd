// baselines/encoded/place.h -- a problem placed by a solver that takes it encoded.
#ifndef BERTH_BASELINES_ENCODED_PLACE_H_
#define BERTH_BASELINES_ENCODED_PLACE_H_

#include <string>

#include "baselines/task.h"
#include "berth/result.h"

namespace berth::internal {

// kIlp, kCp, kZ3, kCsp or kMetaCsp. Error: kUnsupported where this build lacks the solver.
[[nodiscard]] Result<Ending> RunSolver(const Task& task);

// Name and version of what solves integer programs; empty where this build has nothing.
[[nodiscard]] std::string IlpEngine();

}  // namespace berth::internal

#endif  // BERTH_BASELINES_ENCODED_PLACE_H_
