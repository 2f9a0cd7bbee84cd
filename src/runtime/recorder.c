// Records the requests of one step as a table of buffers.

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "berth/runtime.h"
#include "runtime/fork.h"
#include "runtime/lock.h"

typedef enum State { kLive, kReleased, kReleasedLater } State;

typedef struct Record {
  uint64_t size;
  uint64_t alignment;
  size_t until;  // Released when so many requests had come, of the same step or of the next.
  State state;
} Record;

// A place in a table of blocks by their address.
typedef struct Slot {
  uintptr_t block;  // 0: empty.
  size_t record;    // SIZE_MAX: released.
} Slot;

struct berth_recorder {
  uint64_t wanted;
  uint64_t step;
  const char* thread;
  size_t requests;  // Of the step so far.
  size_t length;    // Of the step that was recorded.
  Record* records;
  size_t room;
  Slot* slots;  // Linear probing, at most half full.
  size_t slot_room;
  size_t slot_count;
  int failed;  // There was no memory.
  atomic_flag lock;
};

berth_recorder* berth_recorder_new(uint64_t step) {
  berth_recorder* const recorder = calloc(1, sizeof *recorder);
  if (recorder != NULL) recorder->wanted = step == 0 ? 1 : step;
  return recorder;
}

void berth_recorder_free(berth_recorder* recorder) {
  if (recorder == NULL) return;
  free(recorder->slots);
  free(recorder->records);
  free(recorder);
}

// The slot of a block, or the empty one where it would be.
static Slot* Find(Slot* slots, size_t room, uintptr_t block) {
  size_t at = (size_t)((uint64_t)block * 0x9E3779B97F4A7C15U >> 20) & (room - 1);
  while (slots[at].block != 0 && slots[at].block != block) at = (at + 1) & (room - 1);
  return &slots[at];
}

static int GrowSlots(berth_recorder* recorder) {
  if (2 * recorder->slot_count < recorder->slot_room) return 1;
  const size_t room = recorder->slot_room == 0 ? 4096 : 2 * recorder->slot_room;
  Slot* const slots = calloc(room, sizeof *slots);
  if (slots == NULL) return 0;
  for (size_t i = 0; i < recorder->slot_room; ++i) {
    const Slot old = recorder->slots[i];
    if (old.block != 0) *Find(slots, room, old.block) = old;
  }
  free(recorder->slots);
  recorder->slots = slots;
  recorder->slot_room = room;
  return 1;
}

static int GrowRecords(berth_recorder* recorder) {
  if (recorder->requests < recorder->room) return 1;
  const size_t room = recorder->room == 0 ? 1024 : 2 * recorder->room;
  Record* const records = realloc(recorder->records, room * sizeof *records);
  if (records == NULL) return 0;
  recorder->records = records;
  recorder->room = room;
  return 1;
}

void berth_recorder_step(berth_recorder* recorder) {
  Lock(&recorder->lock);
  if (recorder->step == recorder->wanted) recorder->length = recorder->requests;
  ++recorder->step;
  recorder->requests = 0;
  recorder->thread = &here;
  Unlock(&recorder->lock);
}

static void Allocated(berth_recorder* recorder, uintptr_t block, size_t size, size_t alignment) {
  if (recorder->step != recorder->wanted) {
    ++recorder->requests;
    return;
  }
  if (!GrowRecords(recorder) || !GrowSlots(recorder)) {
    recorder->failed = 1;
    return;
  }
  Slot* const slot = Find(recorder->slots, recorder->slot_room, block);
  recorder->slot_count += slot->block == 0;
  *slot = (Slot){block, recorder->requests};
  recorder->records[recorder->requests++] =
      (Record){size == 0 ? 1 : size, alignment == 0 ? 1 : alignment, 0, kLive};
}

void berth_recorder_allocated(berth_recorder* recorder, const void* block, size_t size,
                              size_t alignment) {
  Lock(&recorder->lock);
  const int near = recorder->step >= recorder->wanted && recorder->step <= recorder->wanted + 1;
  if (block != NULL && near && recorder->thread == &here) {
    Allocated(recorder, (uintptr_t)block, size, alignment);
  }
  Unlock(&recorder->lock);
}

void berth_recorder_released(berth_recorder* recorder, const void* block) {
  Lock(&recorder->lock);
  const int near = recorder->step >= recorder->wanted && recorder->step <= recorder->wanted + 1;
  if (block != NULL && near && recorder->slots != NULL) {
    Slot* const slot = Find(recorder->slots, recorder->slot_room, (uintptr_t)block);
    if (slot->block != 0 && slot->record != SIZE_MAX) {
      Record* const record = &recorder->records[slot->record];
      record->state = recorder->step == recorder->wanted ? kReleased : kReleasedLater;
      record->until = recorder->requests;
      slot->record = SIZE_MAX;
    }
  }
  Unlock(&recorder->lock);
}

void BerthRecorderFork(berth_recorder* recorder, Fork moment) {
  if (moment == kBeforeFork) {
    Lock(&recorder->lock);
    return;
  }
  if (moment == kChildAfterFork) recorder->thread = NULL;
  Unlock(&recorder->lock);
}

int berth_recorder_done(berth_recorder* recorder) {
  Lock(&recorder->lock);
  const int done = recorder->step > recorder->wanted + 1;
  Unlock(&recorder->lock);
  return done;
}

static void WriteRow(FILE* file, size_t k, const Record* record, size_t length) {
  const unsigned long long size = record->size, alignment = record->alignment;
  if (record->state == kReleased || (record->state == kReleasedLater && record->until == 0)) {
    const size_t end = record->state == kReleased ? record->until : length;
    fprintf(file, "r%zu,%zu,%zu,%llu,%llu,\n", k, k, end, size, alignment);
  } else if (record->state == kReleasedLater && record->until < k) {
    fprintf(file, "r%zu,0,%zu,%llu,%llu,%zu-%zu\n", k, length, size, alignment, record->until, k);
  } else if (record->state == kReleasedLater && record->until == k) {
    fprintf(file, "r%zu,0,%zu,%llu,%llu,\n", k, length, size, alignment);
  }
}

static int Fail(char* error, const char* path, const char* what) {
  if (error != NULL) snprintf(error, BERTH_RUNTIME_ERROR, "%.120s: %.130s", path, what);
  return 0;
}

int berth_recorder_write(berth_recorder* recorder, const char* path, char* error) {
  Lock(&recorder->lock);
  const uint64_t steps = recorder->step;
  const uint64_t wanted = recorder->wanted;
  const int failed = recorder->failed;
  Unlock(&recorder->lock);
  if (failed) return Fail(error, path, "there was not enough memory to record");
  if (steps <= wanted + 1) {
    char text[BERTH_RUNTIME_ERROR];
    snprintf(text, sizeof text,
             "step %llu is recorded, up to the end of the next one, but only %llu steps were begun",
             (unsigned long long)wanted, (unsigned long long)steps);
    return Fail(error, path, text);
  }
  FILE* const file = fopen(path, "w");
  if (file == NULL) return Fail(error, path, "the file cannot be written");
  fputs("id,lower,upper,size,alignment,gaps\n", file);
  for (size_t k = 0; k < recorder->length; ++k) {
    WriteRow(file, k, &recorder->records[k], recorder->length);
  }
  const int bad = ferror(file);
  if (fclose(file) != 0 || bad) return Fail(error, path, "the file cannot be written");
  return 1;
}
