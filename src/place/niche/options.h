// place/niche/options.h -- the switches of the niche search (niche.h explains them).
#ifndef BERTH_PLACE_NICHE_OPTIONS_H_
#define BERTH_PLACE_NICHE_OPTIONS_H_

#include "base/option_table.h"

namespace berth::internal::niche {

// Field, default, what it does. Whatever is switched off, the verdicts stay the same; only the
// number of nodes and the time change.
#define BERTH_NICHE_SWITCHES(SWITCH)                                                              \
  SWITCH(lowest_first, true,                                                                      \
         "Some of the runs fill the lowest hollow of the skyline first; off: none does.")         \
  SWITCH(waste_budget, true, "In each section, floor plus unplaced bytes must fit the capacity.") \
  SWITCH(conflict_weights, true, "Sections where more has failed come first.")                    \
  SWITCH(backjumping, true, "Levels that a failure does not depend on are left at once.")         \
  SWITCH(transpositions, true, "States that have failed are remembered, with the reason.")        \
  SWITCH(restarts, true, "The search starts again after few nodes, times Luby's sequence.")       \
  SWITCH(portfolio, true, "Runs take turns at different preferences; off: all have the same.")    \
  SWITCH(calm_runs, true, "Every third run ignores the conflict weights.")                        \
  SWITCH(beam, true,                                                                              \
         "Where there is slack, plans that grow side by side take turns with the runs.")          \
  SWITCH(identical_order, true, "Of identical buffers, the first lies lowest.")                   \
  SWITCH(widest_first, true,                                                                      \
         "Candidates that are live in many sections come first; off: large ones.")                \
  SWITCH(best_fit, true, "Candidates that leave no room beside them come earlier.")               \
  SWITCH(vectors, true, "Use the widest vector instructions of this machine; the plan is the same.")

struct Options {
  BERTH_NICHE_SWITCHES(BERTH_SWITCH_FIELD)
};

}  // namespace berth::internal::niche

#endif  // BERTH_PLACE_NICHE_OPTIONS_H_
