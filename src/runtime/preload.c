// libberth_preload.so: for programs that get their large blocks from posix_memalign() and call
// berth_step() when a step begins. Preloaded with LD_PRELOAD, it records a step (BERTH_RECORD) or serves
// the requests of steps from a plan (BERTH_PLAN). All else goes to the allocator behind it.

#define _GNU_SOURCE  // RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "berth/runtime.h"
#include "runtime/fork.h"

#define EXPORTED __attribute__((visibility("default")))

static int (*next_posix_memalign)(void**, size_t, size_t);
static void (*next_free)(void*);
static void* (*next_realloc)(void*, size_t);
static size_t (*next_usable_size)(void*);

static berth_arena* arena;
static berth_recorder* recorder;
static const char* record_path;
// The step that is recorded, and the first that follows the plan: in those before, programs make what they
// keep for ever.
static uint64_t first_step = 3;
static uint64_t steps;
static int asked;  // The program has called posix_memalign(); shells that start it do not.
static pid_t process;
// This thread is in our own code, whose requests are not the program's.
static _Thread_local int inside;

static void Say(const char* sentence) { fprintf(stderr, "berth: %s\n", sentence); }

static void Resolve(void) {
  if (next_free != NULL) return;
  ++inside;
  // Objects and functions have addresses of one size where programs can be preloaded.
  *(void**)&next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  *(void**)&next_realloc = dlsym(RTLD_NEXT, "realloc");
  *(void**)&next_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
  *(void**)&next_free = dlsym(RTLD_NEXT, "free");
  --inside;
  if (next_free == NULL || next_posix_memalign == NULL) {
    Say("there is no allocator behind libberth_preload.so");
    abort();
  }
}

static void* Allocate(void* context, size_t size, size_t alignment) {
  (void)context;
  void* block = NULL;
  return next_posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}
static void Release(void* context, void* block) {
  (void)context;
  next_free(block);
}

static void AtFork(Fork moment) {
  if (arena != NULL) BerthArenaFork(arena, moment);
  if (recorder != NULL) BerthRecorderFork(recorder, moment);
}
static void BeforeFork(void) { AtFork(kBeforeFork); }
static void ParentAfterFork(void) { AtFork(kParentAfterFork); }
static void ChildAfterFork(void) { AtFork(kChildAfterFork); }

// Sets the first step from BERTH_STEP, if that is a number from 1.
static void ReadFirstStep(void) {
  const char* const text = getenv("BERTH_STEP");
  if (text == NULL) return;
  char* end = NULL;
  const unsigned long long step = strtoull(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && step >= 1 && step < UINT64_MAX - 1) {
    first_step = step;
    return;
  }
  char sentence[BERTH_RUNTIME_ERROR];
  snprintf(sentence, sizeof sentence, "BERTH_STEP=%.100s is not a step, counted from 1: it is 3",
           text);
  Say(sentence);
}

__attribute__((constructor)) static void Begin(void) {
  Resolve();
  const char* const plan = getenv("BERTH_PLAN");
  record_path = getenv("BERTH_RECORD");
  process = getpid();
  ++inside;
  if (plan != NULL || record_path != NULL) ReadFirstStep();
  char error[BERTH_RUNTIME_ERROR] = "BERTH_RECORD and BERTH_PLAN exclude each other";
  if (plan != NULL && record_path != NULL) {
    Say(error);
    record_path = NULL;
  } else if (plan != NULL) {
    const berth_fallback fallback = {Allocate, Release, NULL};
    berth_arena* const made = berth_arena_read(plan, &fallback, error);
    if (made == NULL) Say(error);
    arena = made;
  } else if (record_path != NULL) {
    recorder = berth_recorder_new(first_step);
    if (recorder == NULL) Say("there is no memory to record");
  }
  if (arena != NULL || recorder != NULL)
    pthread_atfork(BeforeFork, ParentAfterFork, ChildAfterFork);
  --inside;
}

// Blocks of the arena may be used until the very end: it is not given back.
__attribute__((destructor)) static void End(void) {
  if (getpid() != process) return;
  if (steps == 0) {
    const int wanted = arena != NULL || recorder != NULL;
    if (wanted && asked) Say("no step was begun: the program has not called berth_step()");
    return;
  }
  ++inside;
  char text[1024];
  if (arena != NULL) {
    if (steps >= first_step) {
      berth_arena_describe(arena, text, sizeof text);
    } else {
      snprintf(text, sizeof text,
               "step %llu is the first that follows the plan, but only %llu steps were begun",
               (unsigned long long)first_step, (unsigned long long)steps);
    }
    Say(text);
  }
  if (recorder != NULL) {
    if (berth_recorder_write(recorder, record_path, text)) {
      snprintf(text, sizeof text, "recorded %s: berth place %s -o plan.csv", record_path,
               record_path);
    }
    Say(text);
  }
  --inside;
}

EXPORTED void berth_step(void);
EXPORTED void berth_step(void) {
  ++inside;
  ++steps;
  if (arena != NULL && steps >= first_step) {
#ifdef __GLIBC__
    if (steps == first_step) malloc_trim(0);  // What the steps before have used.
#endif
    berth_arena_step(arena);
  }
  if (recorder != NULL) berth_recorder_step(recorder);
  --inside;
}

EXPORTED int posix_memalign(void** block, size_t alignment, size_t size) {
  Resolve();
  const int power = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (inside != 0 || (arena == NULL && recorder == NULL) || !power ||
      alignment % sizeof(void*) != 0) {
    return next_posix_memalign(block, alignment, size);
  }
  ++inside;
  asked = 1;
  int status = 0;
  if (arena != NULL) {
    void* const found = berth_arena_allocate(arena, size, alignment);
    status = found == NULL ? ENOMEM : 0;
    if (found != NULL) *block = found;
  } else {
    status = next_posix_memalign(block, alignment, size);
    if (status == 0) berth_recorder_allocated(recorder, *block, size, alignment);
  }
  --inside;
  return status;
}

EXPORTED void free(void* block) {
  if (next_free == NULL && inside != 0)
    return;  // The linker's, while it looks for the next free().
  Resolve();
  if (arena != NULL && berth_arena_owns(arena, block)) {
    berth_arena_release(arena, block);
    return;
  }
  if (recorder != NULL && inside == 0) {
    ++inside;
    berth_recorder_released(recorder, block);
    --inside;
  }
  next_free(block);
}

EXPORTED void* realloc(void* block, size_t size) {
  Resolve();
  if (arena != NULL && berth_arena_owns(arena, block)) {
    const size_t before = berth_arena_block_size(arena, block);
    if (size == 0) {  // A release, as in glibc.
      berth_arena_release(arena, block);
      return NULL;
    }
    void* const moved = next_realloc(NULL, size);
    if (moved == NULL) return NULL;
    memcpy(moved, block, before < size ? before : size);
    berth_arena_release(arena, block);
    return moved;
  }
  if (recorder != NULL && inside == 0 && block != NULL) {
    ++inside;
    berth_recorder_released(recorder, block);
    --inside;
  }
  return next_realloc(block, size);
}

EXPORTED size_t malloc_usable_size(void* block) {
  Resolve();
  if (arena != NULL && berth_arena_owns(arena, block)) return berth_arena_block_size(arena, block);
  return next_usable_size(block);
}
