// berth/planned_problem.h -- a problem, and the plan that another system has made for it.
#ifndef BERTH_PLANNED_PROBLEM_H_
#define BERTH_PLANNED_PROBLEM_H_

#include <string>
#include <vector>

#include "berth/problem.h"

namespace [[gnu::visibility("default")]] berth {

// What readers of other systems' files make of them (ReadRecorded(), XlaTableOf()).
struct PlannedProblem {
  // Valid. Buffers of which one has all the bytes of the other in the maker's plan, while both are
  // live (views, results written in place, loops), are one buffer of it.
  Problem problem = {};
  // The maker's plan (bytes), parallel to the buffers; empty if the file has none.
  std::vector<Bytes> offsets = {};
  // The problem asks for what the maker had to place and no more, so that what is proved of it is
  // proved of that. Not so if the maker has other buffers between those that are one here, if the
  // file leaves lifetimes open, or what must be in one place, or if the maker's plan is not valid; a
  // note says which.
  bool exact = true;
  // What the maker placed, one by one, and where: to check its plan, which holds if it is one for
  // this problem. Buffers have gaps while others have all their bytes. Empty like `offsets`.
  Problem requests = {};
  std::vector<Bytes> request_offsets = {};
  // Sentences: about buffers that share bytes, and where the problem is not exactly what was placed.
  std::vector<std::string> notes = {};
  friend bool operator==(const PlannedProblem&, const PlannedProblem&) = default;
};

}  // namespace berth

#endif  // BERTH_PLANNED_PROBLEM_H_
