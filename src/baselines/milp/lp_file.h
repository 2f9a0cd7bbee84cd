// baselines/milp/lp_file.h -- a model as a file in the CPLEX LP format, for any solver.
#ifndef BERTH_BASELINES_MILP_LP_FILE_H_
#define BERTH_BASELINES_MILP_LP_FILE_H_

#include <string>
#include <vector>

#include "baselines/milp/model.h"

namespace berth::internal::milp {

// `model`, which must be valid, in the part of the LP format that CBC, CPLEX, Gurobi, HiGHS and
// SCIP all read. `comment` goes to the top, line by line. Numbers are whole and exact. A constraint
// with two different sides becomes two, the second with the suffix _upper. Neither the start nor
// the priorities have a place in the format.
[[nodiscard]] std::string WriteLp(const Model& model, const std::string& comment);

// Names as WriteLp() uses them, parallel to `names`: letters, digits and underscores, beginning
// with a letter that starts no number and no keyword, at most 100 characters, all different.
[[nodiscard]] std::vector<std::string> SafeNames(const std::vector<std::string>& names);

}  // namespace berth::internal::milp

#endif  // BERTH_BASELINES_MILP_LP_FILE_H_
