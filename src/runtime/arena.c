// Serves requests from a plan. Blocks in use never overlap, whatever the run does: a set of the offsets at which
// blocks begin finds the one before any address in a few instructions, and only that one can reach into
// the bytes that are wanted.

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/runtime.h"
#include "runtime/fork.h"
#include "runtime/lock.h"

enum {
  kNear = 16,    // How far from its place a request is looked for.
  kLevels = 6,   // 64^6 offsets.
  kPage = 4096,  // Alignment of the arena.
};
static const uint64_t kMost = (uint64_t)1 << 60;
static const size_t kNone = SIZE_MAX;

typedef struct Planned {
  uint64_t size;
  size_t start;      // Of `starts`; kNone: not planned.
  size_t limit;      // The first of `starts` that is not before the end.
  uint64_t in_step;  // The last step in which it was served.
} Planned;

struct berth_arena {
  berth_fallback fallback;
  unsigned char* base;
  Planned* requests;
  size_t count;
  uint64_t* starts;  // The different offsets, in ascending order.
  size_t start_count;
  uint64_t* sizes;  // Of the block in use that begins there; 0: none does.
  uint64_t*
      set[kLevels];    // Of starts with a block; a bit of a level: whether a word below has one.
  size_t next;         // The request that is expected.
  const char* thread;  // Of the step.
  berth_arena_report report;
  atomic_flag lock;
};

static int Complain(char* error, const char* sentence) {
  if (error != NULL) snprintf(error, BERTH_RUNTIME_ERROR, "%s", sentence);
  return 0;
}

// The set of starts.

static int MakeSet(berth_arena* arena) {
  size_t bits = arena->start_count;
  for (int level = 0; level < kLevels; ++level) {
    const size_t words = bits / 64 + 1;
    arena->set[level] = calloc(words, sizeof(uint64_t));
    if (arena->set[level] == NULL) return 0;
    bits = words;
  }
  return 1;
}
static void Insert(berth_arena* arena, size_t start) {
  for (int level = 0; level < kLevels; ++level, start /= 64) {
    uint64_t* const word = &arena->set[level][start / 64];
    const uint64_t before = *word;
    *word |= (uint64_t)1 << start % 64;
    if (before != 0) return;
  }
}
static void Erase(berth_arena* arena, size_t start) {
  for (int level = 0; level < kLevels; ++level, start /= 64) {
    uint64_t* const word = &arena->set[level][start / 64];
    *word &= ~((uint64_t)1 << start % 64);
    if (*word != 0) return;
  }
}
static size_t Highest(uint64_t word) { return 63 - (size_t)__builtin_clzll(word); }

// The last element before `limit`; kNone if there is none.
static size_t Before(const berth_arena* arena, size_t limit) {
  for (int level = 0; level < kLevels; ++level, limit /= 64) {
    const uint64_t below = ((uint64_t)1 << limit % 64) - 1;
    uint64_t word = arena->set[level][limit / 64] & below;
    if (word == 0) continue;
    size_t at = limit / 64 * 64 + Highest(word);
    while (level > 0) at = at * 64 + Highest(arena->set[--level][at]);
    return at;
  }
  return kNone;
}

// The first of `starts` that is not below `offset`.
static size_t FirstStart(const berth_arena* arena, uint64_t offset) {
  size_t low = 0;
  for (size_t high = arena->start_count; low < high;) {
    const size_t middle = low + (high - low) / 2;
    if (arena->starts[middle] < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static int CompareOffsets(const void* x, const void* y) {
  const uint64_t a = *(const uint64_t*)x;
  const uint64_t b = *(const uint64_t*)y;
  return (a > b) - (a < b);
}

static int CheckRequests(const berth_request* requests, size_t count, uint64_t* bytes,
                         char* error) {
  char text[BERTH_RUNTIME_ERROR];
  *bytes = 0;
  for (size_t k = 0; k < count; ++k) {
    const berth_request* const each = &requests[k];
    if (each->offset == BERTH_NOT_PLANNED) continue;
    if (each->size == 0 || each->size > kMost || each->offset > kMost) {
      snprintf(text, sizeof text,
               "request %zu has size %llu and offset %llu: 1 to 2^60 and 0 to 2^60 are allowed", k,
               (unsigned long long)each->size, (unsigned long long)each->offset);
      return Complain(error, text);
    }
    if (each->offset + each->size > *bytes) *bytes = each->offset + each->size;
  }
  return 1;
}

static void FillRequests(berth_arena* arena, const berth_request* requests) {
  for (size_t k = 0; k < arena->count; ++k) {
    if (requests[k].offset != BERTH_NOT_PLANNED)
      arena->starts[arena->start_count++] = requests[k].offset;
  }
  qsort(arena->starts, arena->start_count, sizeof *arena->starts, CompareOffsets);
  size_t different = 0;
  for (size_t i = 0; i < arena->start_count; ++i) {
    if (i == 0 || arena->starts[i] != arena->starts[i - 1])
      arena->starts[different++] = arena->starts[i];
  }
  arena->start_count = different;
  for (size_t k = 0; k < arena->count; ++k) {
    Planned* const request = &arena->requests[k];
    const uint64_t offset = requests[k].offset;
    request->size = requests[k].size;
    request->start = offset == BERTH_NOT_PLANNED ? kNone : FirstStart(arena, offset);
    if (request->start != kNone) request->limit = FirstStart(arena, offset + request->size);
  }
}

berth_arena* berth_arena_new(const berth_request* requests, size_t count,
                             const berth_fallback* fallback, char* error) {
  uint64_t bytes = 0;
  if (!CheckRequests(requests, count, &bytes, error)) return NULL;
  berth_arena* const arena = calloc(1, sizeof *arena);
  if (arena == NULL) return Complain(error, "out of memory"), NULL;
  arena->fallback = *fallback;
  arena->count = count;
  arena->requests = calloc(count + 1, sizeof *arena->requests);
  arena->starts = calloc(count + 1, sizeof *arena->starts);
  arena->sizes = calloc(count + 1, sizeof *arena->sizes);
  int made = arena->requests != NULL && arena->starts != NULL && arena->sizes != NULL;
  if (made) FillRequests(arena, requests);
  made = made && MakeSet(arena);
  if (made && bytes > 0) {
    arena->base =
        bytes > SIZE_MAX ? NULL : fallback->allocate(fallback->context, (size_t)bytes, kPage);
    made = arena->base != NULL;
  }
  if (!made) {
    char text[BERTH_RUNTIME_ERROR];
    snprintf(text, sizeof text, "there is no memory for an arena of %llu bytes",
             (unsigned long long)bytes);
    berth_arena_free(arena);
    return Complain(error, text), NULL;
  }
  arena->report.bytes = bytes;
  return arena;
}

void berth_arena_free(berth_arena* arena) {
  if (arena == NULL) return;
  if (arena->base != NULL) arena->fallback.release(arena->fallback.context, arena->base);
  for (int level = 0; level < kLevels; ++level) free(arena->set[level]);
  free(arena->sizes);
  free(arena->starts);
  free(arena->requests);
  free(arena);
}

static void Depart(berth_arena* arena, berth_departure_kind kind, size_t request, uint64_t asked) {
  berth_arena_report* const report = &arena->report;
  ++report->departures[kind];
  report->last_step = report->steps;
  if (report->first.kind != BERTH_DEPARTURE_NONE) return;
  const uint64_t planned = request < arena->count ? arena->requests[request].size : 0;
  report->first = (berth_departure){kind, report->steps, request, asked, planned};
}

static int IsOpen(const berth_arena* arena, size_t k, uint64_t size) {
  const Planned* const request = &arena->requests[k];
  return request->start != kNone && request->size == size &&
         request->in_step != arena->report.steps;
}

// The request that one of `size` bytes is: the expected one, or else one nearby that was passed over, or
// the next one of that size, which passes over those before it. kNone: the fallback serves it.
static size_t Match(berth_arena* arena, uint64_t size) {
  const size_t next = arena->next;
  if (next >= arena->count || arena->requests[next].start == kNone) {
    if (next < arena->count) ++arena->next;
    ++arena->report.not_planned;
    return kNone;
  }
  if (arena->requests[next].size == size) {
    ++arena->next;
    return next;
  }
  for (size_t back = 1; back <= kNear && back <= next; ++back) {
    if (!IsOpen(arena, next - back, size)) continue;
    Depart(arena, BERTH_DEPARTURE_ORDER, next - back, size);
    return next - back;
  }
  for (size_t k = next + 1; k <= next + kNear && k < arena->count; ++k) {
    if (!IsOpen(arena, k, size)) continue;
    Depart(arena, BERTH_DEPARTURE_ORDER, next, size);
    arena->next = k + 1;
    return k;
  }
  Depart(arena, BERTH_DEPARTURE_SIZE, next, size);
  return kNone;
}

// The bytes of request `k`; NULL if they cannot be given out.
static void* Serve(berth_arena* arena, size_t k, size_t alignment) {
  Planned* const request = &arena->requests[k];
  const uint64_t offset = arena->starts[request->start];
  unsigned char* const block = arena->base + offset;
  request->in_step = arena->report.steps;
  if (((uintptr_t)block & (alignment - 1)) != 0) {
    Depart(arena, BERTH_DEPARTURE_ALIGNMENT, k, request->size);
    return NULL;
  }
  const size_t before = Before(arena, request->limit);
  if (before != kNone && arena->starts[before] + arena->sizes[before] > offset) {
    Depart(arena, BERTH_DEPARTURE_IN_USE, k, request->size);
    return NULL;
  }
  Insert(arena, request->start);
  arena->sizes[request->start] = request->size;
  ++arena->report.served;
  return block;
}

void berth_arena_step(berth_arena* arena) {
  Lock(&arena->lock);
  // Those that are not planned may be missing.
  while (arena->report.steps > 0 && arena->next < arena->count) {
    if (arena->requests[arena->next].start != kNone) {
      Depart(arena, BERTH_DEPARTURE_MISSING, arena->next, 0);
      break;
    }
    ++arena->next;
  }
  arena->next = 0;
  arena->thread = &here;
  ++arena->report.steps;
  Unlock(&arena->lock);
}

void* berth_arena_allocate(berth_arena* arena, size_t size, size_t alignment) {
  void* block = NULL;
  Lock(&arena->lock);
  if (arena->report.steps > 0 && arena->thread != &here) {
    ++arena->report.other_threads;
  } else if (arena->report.steps > 0) {
    const size_t k = Match(arena, size == 0 ? 1 : size);
    if (k != kNone) block = Serve(arena, k, alignment);
  }
  Unlock(&arena->lock);
  return block != NULL ? block : arena->fallback.allocate(arena->fallback.context, size, alignment);
}

void BerthArenaFork(berth_arena* arena, Fork moment) {
  if (moment == kBeforeFork) {
    Lock(&arena->lock);
    return;
  }
  if (moment == kChildAfterFork) arena->thread = NULL;
  Unlock(&arena->lock);
}

int berth_arena_owns(const berth_arena* arena, const void* address) {
  return (uintptr_t)address - (uintptr_t)arena->base < arena->report.bytes;
}

// The start of the block in use at this address of the arena; kNone: there is none.
static size_t StartOf(const berth_arena* arena, const void* block) {
  const uint64_t offset = (uintptr_t)block - (uintptr_t)arena->base;
  const size_t start = FirstStart(arena, offset);
  const int found = start < arena->start_count && arena->starts[start] == offset;
  return found && arena->sizes[start] != 0 ? start : kNone;
}

void berth_arena_release(berth_arena* arena, void* block) {
  if (block == NULL) return;
  if (!berth_arena_owns(arena, block)) {
    arena->fallback.release(arena->fallback.context, block);
    return;
  }
  Lock(&arena->lock);
  const size_t start = StartOf(arena, block);
  if (start == kNone) {
    ++arena->report.bad_releases;
  } else {
    Erase(arena, start);
    arena->sizes[start] = 0;
  }
  Unlock(&arena->lock);
}

size_t berth_arena_block_size(berth_arena* arena, const void* block) {
  if (!berth_arena_owns(arena, block)) return 0;
  Lock(&arena->lock);
  const size_t start = StartOf(arena, block);
  const size_t size = start == kNone ? 0 : (size_t)arena->sizes[start];
  Unlock(&arena->lock);
  return size;
}

berth_arena_report berth_arena_get_report(berth_arena* arena) {
  Lock(&arena->lock);
  const berth_arena_report report = arena->report;
  Unlock(&arena->lock);
  return report;
}

int berth_arena_describe(berth_arena* arena, char* text, size_t size) {
  static const char* const kKinds[BERTH_DEPARTURE_KINDS] = {"",
                                                            "a size that is not planned near here",
                                                            "another order",
                                                            "a larger alignment",
                                                            "its bytes were still in use",
                                                            "the step ended before it"};
  const berth_arena_report report = berth_arena_get_report(arena);
  uint64_t departures = 0;
  for (int kind = 0; kind < BERTH_DEPARTURE_KINDS; ++kind) departures += report.departures[kind];
  char where[BERTH_RUNTIME_ERROR] = "";
  if (departures > 0) {
    const berth_departure first = report.first;
    snprintf(
        where, sizeof where,
        "; %llu departures from the plan, the last in step %llu, the first in step %llu at request "
        "%llu: %s (%llu bytes asked, %llu planned)",
        (unsigned long long)departures, (unsigned long long)report.last_step,
        (unsigned long long)first.step, (unsigned long long)first.request, kKinds[first.kind],
        (unsigned long long)first.asked, (unsigned long long)first.planned);
  }
  return snprintf(
      text, size,
      "%llu steps, %llu requests in an arena of %llu bytes, %llu left to the allocator by "
      "the plan, %llu of other threads%s.",
      (unsigned long long)report.steps, (unsigned long long)report.served,
      (unsigned long long)report.bytes, (unsigned long long)report.not_planned,
      (unsigned long long)report.other_threads,
      departures == 0 ? ", none departed from the plan" : where);
}
