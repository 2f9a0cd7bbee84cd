// A child of fork() has a copy of the locks, but only one thread: a lock that another thread held would
// stay locked in it for ever. So they are taken before fork() and given back after it. C11.
#ifndef BERTH_RUNTIME_FORK_H_
#define BERTH_RUNTIME_FORK_H_

#include "berth/runtime.h"

typedef enum Fork { kBeforeFork, kParentAfterFork, kChildAfterFork } Fork;

// No step goes on in the child: its requests are those of another thread.
void BerthArenaFork(berth_arena* arena, Fork moment);
void BerthRecorderFork(berth_recorder* recorder, Fork moment);

#endif  // BERTH_RUNTIME_FORK_H_
