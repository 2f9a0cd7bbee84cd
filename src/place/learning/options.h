// place/learning/options.h -- the switches of the guided search (guided.h explains them).
#ifndef BERTH_PLACE_LEARNING_OPTIONS_H_
#define BERTH_PLACE_LEARNING_OPTIONS_H_

#include "base/option_table.h"

namespace berth::internal::learning {

// Field, default, what it does. Whatever is switched off, the verdicts stay the same.
#define BERTH_GUIDED_SWITCHES(SWITCH)                                                         \
  SWITCH(heuristic_first, true,                                                               \
         "The baseline heuristic runs first, and search only where it fails.")                \
  SWITCH(section_load, true,                                                                  \
         "In each section, bytes that cannot lie below a level must fit above it.")           \
  SWITCH(weights, true, "Buffers that were part of recent failures come first.")              \
  SWITCH(restarts, true, "The search starts again after 150 failures times Luby's sequence.") \
  SWITCH(lowest_first, true, "Half of the runs go on where a buffer can lie lowest.")         \
  SWITCH(identical_order, true, "Of identical buffers, the first lies lowest.")

struct Options {
  BERTH_GUIDED_SWITCHES(BERTH_SWITCH_FIELD)
};

}  // namespace berth::internal::learning

#endif  // BERTH_PLACE_LEARNING_OPTIONS_H_
