/* berth/runtime.h -- a memory plan at run time: the k-th request of a step gets the bytes that the plan has
 * for it.
 *
 * A program that repeats the same step, such as a training loop, asks for memory in the same order each
 * time. So the offsets can be planned before, from a recording of one step:
 *
 *   berth_recorder* recorder = berth_recorder_new(3);  // The third step, when caches are warm.
 *   for each step: berth_recorder_step(recorder), then for each block
 *     berth_recorder_allocated(recorder, pointer, size, alignment), berth_recorder_released(...);
 *   berth_recorder_write(recorder, "step.csv", error);
 *
 *   $ berth place step.csv -o plan.csv
 *
 *   berth_arena* arena = berth_arena_read("plan.csv", &fallback, error);
 *   for each step: berth_arena_step(arena), then
 *     void* block = berth_arena_allocate(arena, size, alignment);
 *     berth_arena_release(arena, block);
 *
 * libberth_preload.so does this for programs that call posix_memalign(), such as PyTorch on a CPU.
 *
 * A run may depart from the plan: ask for other sizes, in another order, for more or less, or keep blocks
 * for longer. Then some requests are served by the fallback, and the report says which was the first. What
 * the plan says is never trusted with memory: a block is only given out if no byte of it is in use.
 *
 * Rules:
 *  1. Sizes and offsets are in bytes. Steps are counted from 1, the requests of a step from 0.
 *  2. All functions may be called by several threads at once, but _free() only by the last user. The plan
 *     is for the thread that began the step; requests of other threads go to the fallback, and blocks
 *     may be released by any thread.
 *  3. A request takes constant time, a release that of a binary search over the offsets. Neither
 *     calls the system, unless the fallback does.
 *  4. Functions that can fail return NULL or 0, and write a sentence into `error`, which may be NULL.
 */
#ifndef BERTH_RUNTIME_H_
#define BERTH_RUNTIME_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_RUNTIME_ERROR 256            /* Bytes that `error` has room for. */
#define BERTH_NOT_PLANNED ((uint64_t)(-1)) /* An offset: the request is served by the fallback. */

/* One request of a step. */
typedef struct berth_request {
  uint64_t size;   /* At least 1. Of one that is not planned: of no meaning. */
  uint64_t offset; /* In the arena. */
} berth_request;

/* Where the arena and all other blocks come from. */
typedef struct berth_fallback {
  void* (*allocate)(void* context, size_t size, size_t alignment); /* NULL: there is no memory. */
  void (*release)(void* context, void* block);
  void* context;
} berth_fallback;

/* How a request departs from the plan. */
typedef enum berth_departure_kind {
  BERTH_DEPARTURE_NONE = 0,
  BERTH_DEPARTURE_SIZE,      /* No request near this one has its size: a block of the fallback. */
  BERTH_DEPARTURE_ORDER,     /* It comes earlier or later than planned, but gets its bytes. */
  BERTH_DEPARTURE_ALIGNMENT, /* The planned offset is not aligned as asked: the fallback. */
  BERTH_DEPARTURE_IN_USE,    /* An earlier block still has some of the bytes: the fallback. */
  BERTH_DEPARTURE_MISSING    /* The step ended before this request came. */
} berth_departure_kind;
#define BERTH_DEPARTURE_KINDS 6

typedef struct berth_departure {
  berth_departure_kind kind;
  uint64_t step;
  uint64_t request;
  uint64_t asked;   /* The size that was asked for; 0 where a request is missing. */
  uint64_t planned; /* The size of this request in the plan. */
} berth_departure;

typedef struct berth_arena_report {
  uint64_t bytes;         /* Of the arena. */
  uint64_t steps;         /* That were begun. */
  uint64_t served;        /* Requests that got their bytes in the arena. */
  uint64_t not_planned;   /* Requests that the plan leaves to the fallback. */
  uint64_t other_threads; /* Requests of other threads than that of the step. */
  uint64_t bad_releases;  /* Addresses in the arena where no block begins: ignored. */
  uint64_t departures[BERTH_DEPARTURE_KINDS]; /* By kind. */
  berth_departure first;                      /* Of the run. */
  uint64_t last_step;                         /* The last step with a departure; 0: none. */
} berth_arena_report;

typedef struct berth_arena berth_arena;

/* An arena for steps of `count` requests. Errors: an offset or a size beyond 2^60, a size of 0, no
 * memory. Cost: O(count log count). */
berth_arena* berth_arena_new(const berth_request* requests, size_t count,
                             const berth_fallback* fallback, char* error);
/* The same for a table that `berth place` wrote (columns id, size and offset), made from one of
 * berth_recorder_write(): the id "r12" is the request 12 of a step. Requests without a row are not
 * planned. Errors: those of berth_arena_new(); a file that is no such table, naming the line; a request
 * beyond r16777215. */
berth_arena* berth_arena_read(const char* path, const berth_fallback* fallback, char* error);
/* Gives the arena back. No block of it may be in use. */
void berth_arena_free(berth_arena* arena);

/* The next step begins, on this thread. Blocks of the last one may still be in use. */
void berth_arena_step(berth_arena* arena);
/* NULL: the fallback has no memory. `alignment` is a power of two. Before the first step, and after
 * the last planned request of a step, all requests are not planned. */
void* berth_arena_allocate(berth_arena* arena, size_t size, size_t alignment);
/* A block of berth_arena_allocate(), or NULL. */
void berth_arena_release(berth_arena* arena, void* block);
/* The bytes of a block in the arena; 0 for any other block. */
size_t berth_arena_block_size(berth_arena* arena, const void* block);
/* Whether the address lies in the arena. Takes no lock. */
int berth_arena_owns(const berth_arena* arena, const void* address);
berth_arena_report berth_arena_get_report(berth_arena* arena);
/* One line: "98 steps, 85162 requests in an arena of 164397060 bytes, ...". Returns its length, as snprintf() does. */
int berth_arena_describe(berth_arena* arena, char* text, size_t size);

typedef struct berth_recorder berth_recorder;

/* Records the requests of one step, and the releases of that step and of the next one. NULL: there is no
 * memory. */
berth_recorder* berth_recorder_new(uint64_t step);
void berth_recorder_free(berth_recorder* recorder);
void berth_recorder_step(berth_recorder* recorder);
void berth_recorder_allocated(berth_recorder* recorder, const void* block, size_t size,
                              size_t alignment);
void berth_recorder_released(berth_recorder* recorder, const void* block);
/* Whether both steps are over. */
int berth_recorder_done(berth_recorder* recorder);
/* A table for `berth place`. Time is the number of requests so far in the step. A block that lasts into the
 * next step, but not to the same request there, is live at both ends with a gap between. One that
 * lasts longer, such as a weight or the state of an optimizer, is left out: it is not planned. */
int berth_recorder_write(berth_recorder* recorder, const char* path, char* error);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_RUNTIME_H_ */
