/* The C interface from C: each function with what it is for, and with NULL, zero, huge and hostile
 * values. A plain program, so that valgrind and sanitizers see what a caller in C would.
 * Usage: c_test EXAMPLES (the folder of the project). */
#include <berth/berth.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static int checks = 0;
#define CHECK(condition)                                             \
  do {                                                               \
    ++checks;                                                        \
    if (!(condition)) {                                              \
      ++failures;                                                    \
      printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                \
  } while (0)

#define HUGE_VALUE INT64_MAX

/* The call failed with this status, and the error says so and names `what`. */
static void expect_error(berth_status status, berth_status expected, berth_error* error,
                         const char* what, int line) {
  ++checks;
  if (status != expected || berth_error_status(error) != expected ||
      strstr(berth_error_message(error), what) == NULL) {
    ++failures;
    printf("line %d: status %s instead of %s: \"%s\" does not name \"%s\"\n", line,
           berth_status_name(status), berth_status_name(expected), berth_error_message(error),
           what);
  }
  berth_error_free(error);
}
#define FAILS(call, expected, what)                        \
  do {                                                     \
    berth_error* error = NULL;                             \
    const berth_status status = call;                      \
    expect_error(status, expected, error, what, __LINE__); \
  } while (0)
#define WORKS(call)                                                                     \
  do {                                                                                  \
    berth_error* error = NULL;                                                          \
    const berth_status status = call;                                                   \
    ++checks;                                                                           \
    if (status != BERTH_OK || error != NULL) {                                          \
      ++failures;                                                                       \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, berth_error_message(error)); \
      berth_error_free(error);                                                          \
    }                                                                                   \
  } while (0)

static const int64_t kStart[] = {0, 3, 2};
static const int64_t kEnd[] = {3, 5, 4};
static const int64_t kSize[] = {4096, 4096, 2048};

static berth_summary new_summary(void) {
  berth_summary summary;
  memset(&summary, 0xff, sizeof summary);
  summary.struct_size = sizeof summary;
  return summary;
}

static void test_version(void) {
  CHECK(berth_abi_version() == BERTH_ABI_VERSION);
  CHECK(strchr(berth_version_string(), '.') != NULL);
}

static void test_arrays(void) {
  int64_t offsets[3] = {7, 7, 7};
  berth_summary summary = new_summary();
  WORKS(berth_place(3, kStart, kEnd, kSize, NULL, NULL, offsets, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL);
  CHECK(summary.height == 6144 && summary.height_bound == 6144);
  CHECK(summary.capacity == -1 && summary.has_plan == 1 && summary.addressed == 1);
  CHECK(offsets[0] >= 0 && offsets[1] >= 0 && offsets[2] >= 0);
  WORKS(berth_check(3, kStart, kEnd, kSize, NULL, NULL, offsets, &error));

  /* Inclusive ends: the first two buffers now meet at step 3. */
  berth_options* options = berth_options_new();
  WORKS(berth_options_set(options, "endpoints", "inclusive", &error));
  WORKS(berth_place(3, kStart, kEnd, kSize, NULL, options, offsets, &summary, &error));
  CHECK(summary.height == 10240);
  FAILS(berth_options_set(options, "endpoints", "never", &error), BERTH_INVALID_OPTIONS, "never");
  WORKS(berth_options_set(options, "endpoints", "by-name", &error));
  FAILS(berth_place(3, kStart, kEnd, kSize, NULL, options, offsets, &summary, &error),
        BERTH_INVALID_OPTIONS, "endpoints");
  WORKS(berth_options_set(options, "endpoints", "none", &error));

  /* A capacity that is too small is an outcome. */
  WORKS(berth_options_set(options, "capacity", "5KiB", &error));
  WORKS(berth_place(3, kStart, kEnd, kSize, NULL, options, offsets, &summary, &error));
  CHECK(summary.outcome == BERTH_INFEASIBLE && summary.capacity == 5120);
  CHECK(summary.height == 6144);
  FAILS(berth_check(3, kStart, kEnd, kSize, NULL, options, offsets, &error), BERTH_INVALID_PLAN,
        "capacity");
  berth_options_free(options);

  /* Wrong offsets. */
  const int64_t overlap[] = {0, 0, 0};
  const int64_t negative[] = {0, -1, 4096};
  const int64_t huge[] = {0, HUGE_VALUE, 4096};
  FAILS(berth_check(3, kStart, kEnd, kSize, NULL, NULL, overlap, &error), BERTH_INVALID_PLAN, "0");
  FAILS(berth_check(3, kStart, kEnd, kSize, NULL, NULL, negative, &error), BERTH_INVALID_PLAN,
        "-1");
  FAILS(berth_check(3, kStart, kEnd, kSize, NULL, NULL, huge, &error), BERTH_INVALID_PLAN, "1");

  /* No buffers. */
  WORKS(berth_place(0, NULL, NULL, NULL, NULL, NULL, NULL, &summary, &error));
  CHECK(summary.height == 0 && summary.outcome == BERTH_OPTIMAL);
  WORKS(berth_check(0, NULL, NULL, NULL, NULL, NULL, NULL, &error));
}

static void test_bad_arrays(void) {
  int64_t offsets[3];
  const int64_t alignment[] = {1, 0, 1};
  int64_t values[3];
  berth_error* error = NULL;
  size_t i;
  const int64_t hostile[] = {
      -HUGE_VALUE - 1, -1, HUGE_VALUE, HUGE_VALUE - 1, (int64_t)1 << 60, ((int64_t)1 << 60) + 1};
  FAILS(berth_place(3, NULL, kEnd, kSize, NULL, NULL, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_place(3, kStart, NULL, kSize, NULL, NULL, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_place(3, kStart, kEnd, NULL, NULL, NULL, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_place(3, kStart, kEnd, kSize, NULL, NULL, NULL, NULL, &error), BERTH_INVALID_ARGUMENT,
        "offsets");
  FAILS(berth_place(3, kStart, kEnd, kSize, alignment, NULL, offsets, NULL, &error),
        BERTH_INVALID_PROBLEM, "1");
  FAILS(berth_check(3, kStart, kEnd, kSize, NULL, NULL, NULL, &error), BERTH_INVALID_ARGUMENT,
        "offsets");
  /* A count that no memory holds. */
  FAILS(berth_place(SIZE_MAX / 16, kStart, kEnd, kSize, NULL, NULL, offsets, NULL, &error),
        BERTH_OUT_OF_MEMORY, "memory");
  /* The culprit is named. */
  values[0] = 0, values[1] = 5, values[2] = 2;
  CHECK(berth_place(3, values, kEnd, kSize, NULL, NULL, offsets, NULL, &error) ==
        BERTH_INVALID_PROBLEM);
  CHECK(berth_error_subject(error) == BERTH_SUBJECT_BUFFER && berth_error_index(error) == 1);
  berth_error_free(error);
  /* Hostile values in each place: an error or a plan that holds, never a crash. */
  for (i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
    int which;
    for (which = 0; which < 4; ++which) {
      int64_t start[3], end[3], size[3], align[3] = {1, 1, 1};
      berth_status status;
      memcpy(start, kStart, sizeof start);
      memcpy(end, kEnd, sizeof end);
      memcpy(size, kSize, sizeof size);
      (which == 0 ? start : which == 1 ? end : which == 2 ? size : align)[2] = hostile[i];
      status = berth_place(3, start, end, size, align, NULL, offsets, NULL, &error);
      CHECK(status == BERTH_OK || status == BERTH_INVALID_PROBLEM);
      if (status == BERTH_OK) {
        WORKS(berth_check(3, start, end, size, align, NULL, offsets, &error));
      }
      berth_error_free(error);
      error = NULL;
    }
  }
  /* A struct without its size. */
  {
    berth_summary summary = new_summary();
    summary.struct_size = 0;
    FAILS(berth_place(3, kStart, kEnd, kSize, NULL, NULL, offsets, &summary, &error),
          BERTH_INVALID_ARGUMENT, "struct_size");
  }
  /* An older caller's struct is filled as far as it goes, a newer one's to its end. */
  {
    struct {
      berth_summary summary;
      char later[64];
    } newer;
    berth_summary older = new_summary();
    older.struct_size = offsetof(berth_summary, height);
    WORKS(berth_place(3, kStart, kEnd, kSize, NULL, NULL, offsets, &older, &error));
    CHECK(older.outcome == BERTH_OPTIMAL && older.height == -1);
    memset(&newer, 0xff, sizeof newer);
    newer.summary.struct_size = sizeof newer;
    WORKS(berth_place(3, kStart, kEnd, kSize, NULL, NULL, offsets, &newer.summary, &error));
    CHECK(newer.summary.height == 6144 && newer.later[0] == 0 && newer.later[63] == 0);
  }
  /* Errors need not be wanted. */
  CHECK(berth_place(3, NULL, kEnd, kSize, NULL, NULL, offsets, NULL, NULL) ==
        BERTH_INVALID_ARGUMENT);
}

static void test_options(void) {
  berth_options* options = berth_options_new();
  size_t i;
  CHECK(berth_option_count() > 50);
  for (i = 0; i < berth_option_count(); ++i) {
    berth_option_info info;
    berth_text* value = NULL;
    info.struct_size = sizeof info;
    WORKS(berth_option_at(i, &info, &error));
    WORKS(berth_options_get(options, info.name, &value, &error));
    if (strcmp(berth_text_data(value), info.default_value) != 0) {
      printf("option %s is \"%s\", not \"%s\"\n", info.name, berth_text_data(value),
             info.default_value);
      CHECK(!"the default is what berth_option_at() says");
    }
    CHECK(strlen(info.sentence) > 0 && strlen(info.allowed) > 0);
    /* What it gives, it takes. */
    WORKS(berth_options_set(options, info.name, berth_text_data(value), &error));
    berth_text_free(value);
    FAILS(berth_options_set(options, info.name, "\x01?", &error), BERTH_INVALID_OPTIONS, info.name);
  }
  {
    static const char* const pairs[][2] = {{"capacity", "524288"},
                                           {"budget", "MR"},
                                           {"budgets", "MR,MH,4096"},
                                           {"points", "7"},
                                           {"gap", "0.1%"},
                                           {"time_limit", "2.5"},
                                           {"time_limit", "1000000"},
                                           {"node_limit", "1000"},
                                           {"order", "greedy"},
                                           {"count", "inputs"},
                                           {"count", "all"},
                                           {"allow_unknown", "on"},
                                           {"dim", "batch=4"},
                                           {"dim_default", "3"},
                                           {"element_bytes", "1"},
                                           {"alignment", "64"},
                                           {"fuse", "on"},
                                           {"in_place", "on"},
                                           {"endpoints", "exclusive"},
                                           {"problem", "memory 1"},
                                           {"algorithm", "niche"},
                                           {"minimize", "on"},
                                           {"threads", "2"},
                                           {"seed", "42"},
                                           {"niche.beam", "off"},
                                           {"exact.beam", "off"},
                                           {"most_bytes", "1048576"}};
    for (i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
      berth_text* value = NULL;
      WORKS(berth_options_set(options, pairs[i][0], pairs[i][1], &error));
      WORKS(berth_options_get(options, pairs[i][0], &value, &error));
      if (strcmp(berth_text_data(value), pairs[i][1]) != 0) {
        printf("option %s is \"%s\", not \"%s\"\n", pairs[i][0], berth_text_data(value),
               pairs[i][1]);
        CHECK(!"an option keeps its value");
      }
      berth_text_free(value);
    }
  }
  FAILS(berth_options_set(options, "no such option", "1", &error), BERTH_INVALID_OPTIONS,
        "no such option");
  FAILS(berth_options_set(options, "time_limit", "-1", &error), BERTH_INVALID_OPTIONS, "-1");
  FAILS(berth_options_set(options, "time_limit", "nan", &error), BERTH_INVALID_OPTIONS, "nan");
  FAILS(berth_options_set(options, "time_limit", "1e", &error), BERTH_INVALID_OPTIONS, "1e");
  FAILS(berth_options_set_order(options, &i, SIZE_MAX / 8, &error), BERTH_INVALID_ARGUMENT,
        "order");
  FAILS(berth_options_set(options, "dim", "batch", &error), BERTH_INVALID_OPTIONS, "batch");
  FAILS(berth_options_set(options, NULL, "1", &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_options_set(options, "seed", NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_options_set(NULL, "seed", "1", &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_options_get(options, "seed", NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_options_get(options, "?", NULL, &error), BERTH_INVALID_OPTIONS, "?");
  FAILS(berth_option_at(BERTH_NONE, NULL, &error), BERTH_INVALID_ARGUMENT, "option");
  FAILS(berth_option_at(0, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_options_set_order(options, NULL, 3, &error), BERTH_INVALID_ARGUMENT, "NULL");
  berth_options_set_progress(NULL, NULL, NULL);
  berth_options_set_canceller(NULL, NULL);
  berth_options_free(options);
}

/* Two buffers live together, of which the fast memory holds one, and one that need not be placed. */
static void TestMemories(void) {
  const int64_t start[] = {0, 1, 1}, end[] = {2, 3, 3}, size[] = {40, 90, 500};
  const int64_t capacities[] = {100, 200};
  const int64_t costs[] = {80, 800, 180, 1800, -1, 7};
  const int64_t left_out[] = {-1, -1, 3000};
  int64_t chosen[3], offsets[3];
  berth_memories memories;
  berth_memories_summary summary;
  berth_problem* problem = berth_problem_new();
  memset(&memories, 0, sizeof memories);
  memories.struct_size = sizeof memories;
  memories.memories = 2;
  memories.capacities = capacities;
  memories.costs = costs;
  memories.costs_left_out = left_out;
  summary.struct_size = sizeof summary;
  WORKS(berth_problem_add_arrays(problem, 3, start, end, size, NULL, NULL, &error));
  WORKS(berth_place_in_memories(problem, &memories, NULL, chosen, offsets, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.stopped == BERTH_STOP_ANSWERED);
  CHECK(summary.unplaced == 0 && summary.unplaced_bound == 0);
  CHECK(summary.cost == 800 + 180 + 3000 && summary.cost_bound == summary.cost);
  CHECK(chosen[0] == 1 && chosen[1] == 0 && chosen[2] == -1 && offsets[2] == -1);
  CHECK(offsets[0] >= 0 && offsets[0] + 40 <= 200 && offsets[1] >= 0 && offsets[1] + 90 <= 100);
  {
    /* A reserved range leaves no room for the second in the fast memory; it was in the other, and
       stays there; the first two are not even in one memory. */
    const int64_t reserved[] = {0, 0, 20, -10, 10};
    const int64_t previous[] = {-1, 1, -1}, at[] = {0, 64, 0}, move[] = {0, 500, 0};
    const size_t apart[] = {0, 1};
    const int8_t different[] = {1};
    memories.reserved = reserved;
    memories.reserved_count = 1;
    memories.previous_memories = previous;
    memories.previous_offsets = at;
    memories.move_costs = move;
    memories.apart = apart;
    memories.apart_count = 1;
    memories.apart_memories = different;
    WORKS(berth_place_in_memories(problem, &memories, NULL, chosen, offsets, &summary, &error));
    CHECK(summary.cost == 80 + 1800 + 3000 && summary.moved == 0);
    CHECK(chosen[0] == 0 && offsets[0] >= 20 && chosen[1] == 1 && offsets[1] == 64);
    memories.reserved_count = memories.apart_count = 0;
    memories.previous_memories = NULL;
  }
  {
    /* Together, 40 bytes apart: neither fits into the fast memory. */
    const size_t groups[] = {5, 5, BERTH_NONE};
    const int64_t distances[] = {0, 40, 0};
    memories.groups = groups;
    memories.distances = distances;
    WORKS(berth_place_in_memories(problem, &memories, NULL, chosen, offsets, NULL, &error));
    CHECK(chosen[0] == 1 && chosen[1] == 1 && offsets[1] == offsets[0] + 40);
    memories.groups = NULL;
  }
  {
    /* Nothing but the sizes and one memory that is too small: what is left out is said. */
    berth_memories one;
    memset(&one, 0, sizeof one);
    one.struct_size = sizeof one;
    one.memories = 1;
    one.capacities = capacities;
    WORKS(berth_place_in_memories(problem, &one, NULL, chosen, offsets, &summary, &error));
    CHECK(summary.outcome == BERTH_INFEASIBLE && summary.unplaced == 2);
    CHECK(summary.unplaced_bound == 2);
    /* Later versions have more fields: nothing may be asked for by those. */
    {
      struct {
        berth_memories known;
        int64_t later;
      } larger;
      memset(&larger, 0, sizeof larger);
      larger.known = one;
      larger.known.struct_size = sizeof larger;
      WORKS(berth_place_in_memories(problem, &larger.known, NULL, chosen, offsets, NULL, &error));
      larger.later = 1;
      FAILS(berth_place_in_memories(problem, &larger.known, NULL, chosen, offsets, NULL, &error),
            BERTH_INVALID_ARGUMENT, "later version");
    }
    one.memories = 0;
    FAILS(berth_place_in_memories(problem, &one, NULL, chosen, offsets, NULL, &error),
          BERTH_INVALID_PROBLEM, "no memory");
    one.memories = 1;
    one.capacities = NULL;
    FAILS(berth_place_in_memories(problem, &one, NULL, chosen, offsets, NULL, &error),
          BERTH_INVALID_ARGUMENT, "capacities");
    one.struct_size = 0;
    FAILS(berth_place_in_memories(problem, &one, NULL, chosen, offsets, NULL, &error),
          BERTH_INVALID_ARGUMENT, "struct_size");
  }
  {
    /* Costs by uses, names in errors, and a single place besides. */
    const char* const names[] = {"tcm", "dram"};
    const int64_t read_costs[] = {1, 5}, read_bytes[] = {8, 1}, uses[] = {80, 900, 0};
    const int64_t by_uses[] = {BERTH_BY_USES, BERTH_BY_USES, 180, 1800, -1, 7};
    const int64_t places[] = {2, 1, 64, 3};
    const int64_t roomy[] = {100, 1000}, bases[] = {-1, 0};
    berth_memories priced = memories;
    priced.capacities = roomy;
    priced.costs = by_uses;
    priced.names = names;
    priced.read_costs = read_costs;
    priced.read_bytes = read_bytes;
    priced.bytes_read = uses;
    priced.places = places;
    priced.place_count = 1;
    WORKS(berth_place_in_memories(problem, &priced, NULL, chosen, offsets, &summary, &error));
    CHECK(summary.outcome == BERTH_OPTIMAL && summary.cost == 400 + 180 + 3);
    CHECK(chosen[0] == 1 && chosen[1] == 0 && chosen[2] == 1 && offsets[2] == 64);
    priced.costs = NULL;
    priced.places = NULL;
    priced.place_count = 0;
    WORKS(berth_place_in_memories(problem, &priced, NULL, chosen, offsets, &summary, &error));
    CHECK(summary.outcome == BERTH_OPTIMAL && chosen[1] == 0 && summary.cost == 400 + 113);
    {
      berth_displacements* found = NULL;
      berth_displaced entry;
      entry.struct_size = sizeof entry;
      WORKS(berth_find_displaced(problem, &priced, chosen, offsets, 10, &found, &error));
      CHECK(berth_displacements_count(found) == 1);
      WORKS(berth_displacements_at(found, 0, &entry, &error));
      CHECK(entry.buffer_count == 1 && entry.buffers[0] == 0 && entry.memory == 1);
      CHECK(entry.cheaper == 0 && entry.cost == 400 && entry.least == 10 && entry.must == 0);
      CHECK(entry.start == 0 && entry.end == 2 && entry.has_step == 1 && entry.step == 1);
      CHECK(entry.free == 10 && entry.needed == 40 && entry.obstacle == BERTH_OBSTACLE_BYTES);
      CHECK(entry.in_the_way_count == 1 && entry.in_the_way[0] == 1);
      CHECK(entry.saved == 4500 - 113);
      CHECK(strcmp(berth_obstacle_name(entry.obstacle), "bytes") == 0);
      FAILS(berth_displacements_at(found, 1, &entry, &error), BERTH_INVALID_ARGUMENT, "entry 1");
      berth_displacements_free(found);
      FAILS(berth_displacements_at(NULL, 0, &entry, &error), BERTH_INVALID_ARGUMENT, "NULL");
      offsets[1] = 20;
      FAILS(berth_find_displaced(problem, &priced, chosen, offsets, 10, &found, &error),
            BERTH_INVALID_PLAN, "\"tcm\"");
      offsets[1] = -1;
      FAILS(berth_find_displaced(problem, &priced, chosen, offsets, 10, &found, &error),
            BERTH_INVALID_PLAN, "offset -1");
      chosen[1] = 2;
      FAILS(berth_find_displaced(problem, &priced, chosen, offsets, 10, &found, &error),
            BERTH_INVALID_PLAN, "memory 2");
    }
    priced.bases = bases;
    FAILS(berth_place_in_memories(problem, &priced, NULL, chosen, offsets, NULL, &error),
          BERTH_INVALID_PROBLEM, "\"tcm\"");
  }
  {
    const int64_t nowhere[] = {80, 800, -1, -1, -1, 7};
    berth_options* options = berth_options_new();
    memories.costs = nowhere;
    FAILS(berth_place_in_memories(problem, &memories, NULL, chosen, offsets, NULL, &error),
          BERTH_INVALID_PROBLEM, "buffer \"1\" may be in no memory");
    memories.costs = costs;
    WORKS(berth_options_set(options, "capacity", "64", &error));
    FAILS(berth_place_in_memories(problem, &memories, options, chosen, offsets, NULL, &error),
          BERTH_INVALID_OPTIONS, "capacity");
    berth_options_free(options);
  }
  FAILS(berth_place_in_memories(NULL, &memories, NULL, chosen, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "problem is NULL");
  FAILS(berth_place_in_memories(problem, NULL, NULL, chosen, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "memories is NULL");
  FAILS(berth_place_in_memories(problem, &memories, NULL, NULL, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "chosen");
  berth_problem_free(problem);
}

/* The smaller of two buffers moves, so that a third finds a hole. */
static void TestRepack(void) {
  const int64_t start[] = {0, 4, 2}, end[] = {9, 9, 9}, size[] = {20, 30, 50};
  const int64_t capacity[] = {100};
  const int64_t costs[] = {0, 0, 0}, left_out[] = {900, 900, 500};
  const int64_t previous[] = {0, 0, -1}, at[] = {0, 40, -1};
  int64_t chosen[3], offsets[3];
  berth_memories memories;
  berth_memories_summary summary;
  berth_problem* problem = berth_problem_new();
  berth_options* options = berth_options_new();
  memset(&memories, 0, sizeof memories);
  memories.struct_size = sizeof memories;
  memories.memories = 1;
  memories.capacities = capacity;
  memories.costs = costs;
  memories.costs_left_out = left_out;
  memories.previous_memories = previous;
  memories.previous_offsets = at;
  summary.struct_size = sizeof summary;
  WORKS(berth_problem_add_arrays(problem, 3, start, end, size, NULL, NULL, &error));
  WORKS(berth_repack(problem, &memories, NULL, chosen, offsets, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.cost == 0 && summary.cost_bound == 0);
  CHECK(summary.moved == 30 && chosen[0] == 0 && chosen[1] == 0 && chosen[2] == 0);
  CHECK(offsets[0] == 0);
  /* Too few bytes may move: the new buffer, which is worth the least, stays out. */
  WORKS(berth_options_set(options, "most_moved", "29", &error));
  WORKS(berth_repack(problem, &memories, options, chosen, offsets, &summary, &error));
  CHECK(summary.moved == 0 && summary.cost == 500 && chosen[2] == -1 && offsets[2] == -1);
  CHECK(offsets[0] == 0 && offsets[1] == 40);
  /* Others do not repack. */
  FAILS(berth_place_in_memories(problem, &memories, options, chosen, offsets, NULL, &error),
        BERTH_INVALID_OPTIONS, "most_moved: only berth_repack() repacks");
  FAILS(berth_place(3, start, end, size, NULL, options, offsets, NULL, &error),
        BERTH_INVALID_OPTIONS, "most_moved");
  FAILS(berth_options_set(options, "most_moved", "-1", &error), BERTH_INVALID_OPTIONS, "-1");
  FAILS(berth_options_set(options, "place_nodes", "9223372036854775807", &error),
        BERTH_INVALID_OPTIONS, "place_nodes");
  WORKS(berth_options_set(options, "most_moved", "none", &error));
  WORKS(berth_options_set(options, "capacity", "64", &error));
  FAILS(berth_repack(problem, &memories, options, chosen, offsets, NULL, &error),
        BERTH_INVALID_OPTIONS, "capacity: berth_repack()");
  {
    const int64_t nowhere[] = {0, 7, -1};
    memories.previous_memories = nowhere;
    FAILS(berth_repack(problem, &memories, NULL, chosen, offsets, NULL, &error),
          BERTH_INVALID_PROBLEM, "buffer \"1\"");
    memories.previous_memories = previous;
  }
  memories.previous_offsets = NULL;
  FAILS(berth_repack(problem, &memories, NULL, chosen, offsets, NULL, &error),
        BERTH_INVALID_ARGUMENT, "previous_offsets is NULL");
  FAILS(berth_repack(NULL, &memories, NULL, chosen, offsets, NULL, &error), BERTH_INVALID_ARGUMENT,
        "problem is NULL");
  FAILS(berth_repack(problem, NULL, NULL, chosen, offsets, NULL, &error), BERTH_INVALID_ARGUMENT,
        "memories is NULL");
  FAILS(berth_repack(problem, &memories, NULL, chosen, NULL, NULL, &error), BERTH_INVALID_ARGUMENT,
        "offsets");
  berth_options_free(options);
  berth_problem_free(problem);
}

static void test_problem(void) {
  berth_problem* problem = berth_problem_new();
  berth_problem* read = NULL;
  berth_plan* plan = NULL;
  berth_plan* again = NULL;
  berth_text* csv = NULL;
  berth_text* json = NULL;
  berth_text* other = NULL;
  berth_options* options = berth_options_new();
  berth_buffer buffer;
  berth_gap gap;
  berth_summary summary = new_summary();
  berth_conflict conflict;
  berth_search search;
  size_t index = 0, count = 0, culprits[8];
  buffer.struct_size = sizeof buffer;
  gap.struct_size = sizeof gap;
  conflict.struct_size = sizeof conflict;
  search.struct_size = sizeof search;

  WORKS(berth_problem_add(problem, "first, \"quoted\"", 0, 10, 100, 4, &index, &error));
  CHECK(index == 0);
  WORKS(berth_problem_add(problem, NULL, 2, 6, 60, 1, &index, &error));
  WORKS(berth_problem_add_arrays(problem, 3, kStart, kEnd, kSize, NULL, NULL, &error));
  CHECK(berth_problem_count(problem) == 5);
  WORKS(berth_problem_pin(problem, 0, 8, &error));
  WORKS(berth_problem_hint(problem, 1, 16, &error));
  WORKS(berth_problem_add_gap(problem, 0, 2, 4, 10, 20, &error));
  WORKS(berth_problem_add_gap(problem, 0, 5, 6, -1, -1, &error));
  WORKS(berth_problem_buffer(problem, 0, &buffer, &error));
  CHECK(strcmp(buffer.id, "first, \"quoted\"") == 0 && buffer.pin == 8 && buffer.hint == -1);
  CHECK(buffer.gaps == 2 && buffer.alignment == 4 && buffer.end == 10);
  WORKS(berth_problem_gap(problem, 0, 0, &gap, &error));
  CHECK(gap.start == 2 && gap.lower == 10 && gap.upper == 20);
  WORKS(berth_problem_gap(problem, 0, 1, &gap, &error));
  CHECK(gap.lower == -1);
  WORKS(berth_problem_buffer(problem, 4, &buffer, &error));
  CHECK(strcmp(buffer.id, "4") == 0 && buffer.pin == -1);
  FAILS(berth_problem_buffer(problem, 5, &buffer, &error), BERTH_INVALID_ARGUMENT, "5");
  FAILS(berth_problem_gap(problem, 0, 2, &gap, &error), BERTH_INVALID_ARGUMENT, "2");
  FAILS(berth_problem_pin(problem, 9, 0, &error), BERTH_INVALID_ARGUMENT, "9");
  FAILS(berth_problem_hint(NULL, 0, 0, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_problem_add(NULL, NULL, 0, 1, 1, 1, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_problem_add(problem, "\xff", 0, 1, 1, 1, NULL, &error), BERTH_INVALID_ARGUMENT,
        "UTF-8");

  {
    /* The second and the third share an offset; the fourth begins 4 bytes below them. */
    const size_t groups[5] = {BERTH_NONE, 7, 7, 7, BERTH_NONE};
    const int64_t distances[5] = {0, 0, 0, -4, 0};
    size_t buffer_of[5];
    int64_t distance_of[5];
    berth_problem* merged = NULL;
    WORKS(berth_problem_colocate(problem, groups, distances, &merged, buffer_of, distance_of,
                                 &error));
    CHECK(berth_problem_count(merged) == 3);
    CHECK(buffer_of[1] == 1 && buffer_of[2] == 1 && buffer_of[3] == 1 && buffer_of[4] == 2);
    CHECK(distance_of[1] == 4 && distance_of[3] == 0 && distance_of[4] == 0);
    berth_problem_free(merged);
    WORKS(berth_problem_colocate(problem, groups, NULL, &merged, NULL, NULL, &error));
    berth_problem_free(merged);
    FAILS(berth_problem_colocate(problem, NULL, NULL, &merged, NULL, NULL, &error),
          BERTH_INVALID_ARGUMENT, "NULL");
    FAILS(berth_problem_colocate(problem, groups, NULL, NULL, NULL, NULL, &error),
          BERTH_INVALID_ARGUMENT, "NULL");
    FAILS(berth_problem_colocate(NULL, groups, NULL, &merged, NULL, NULL, &error),
          BERTH_INVALID_ARGUMENT, "NULL");
  }
  WORKS(berth_place_problem(problem, options, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.spills == 0 && summary.tensors == 0);
  WORKS(berth_plan_search(plan, BERTH_SEARCH_OFFSETS, &search, &error));
  CHECK(strlen(search.algorithm) > 0);
  WORKS(berth_plan_search(plan, BERTH_SEARCH_ORDER, &search, &error));
  CHECK(strcmp(search.algorithm, "") == 0);
  CHECK(berth_plan_residencies(plan, &count) != NULL && count == 5);
  CHECK(berth_plan_residencies(plan, NULL)[0].offset == 8);
  CHECK(berth_plan_order(plan, &count) == NULL && count == 0);
  WORKS(berth_plan_validate(plan, &error));
  /* The plan stays as it is while its table goes on. */
  WORKS(berth_problem_add(problem, "later", 0, 10, 1, 1, NULL, &error));
  CHECK(berth_plan_residencies(plan, &count) != NULL && count == 5);
  berth_problem_free(problem);

  WORKS(berth_plan_to_csv(plan, &csv, &error));
  WORKS(berth_plan_to_json(plan, &json, &error));
  CHECK(berth_text_length(json) == strlen(berth_text_data(json)));
  WORKS(berth_problem_parse(berth_text_data(csv), berth_text_length(csv), "made.csv", NULL, &read,
                            &error));
  CHECK(berth_problem_count(read) == 5);
  WORKS(berth_plan_parse_problem(read, berth_text_data(json), berth_text_length(json), NULL, &again,
                                 &error));
  berth_plan_free(again);
  WORKS(berth_plan_parse_problem(read, berth_text_data(csv), berth_text_length(csv), "made.csv",
                                 &again, &error));
  berth_plan_free(again);
  WORKS(berth_plan_to_page(plan, NULL, &other, &error));
  CHECK(strstr(berth_text_data(other), "<!doctype html>") != NULL ||
        strstr(berth_text_data(other), "<!DOCTYPE html>") != NULL);
  berth_text_free(other);
  WORKS(berth_plan_to_svg(plan, &other, &error));
  CHECK(strstr(berth_text_data(other), "<svg") != NULL);
  berth_text_free(other);
  WORKS(berth_plan_to_trace(plan, &other, &error));
  berth_text_free(other);
  WORKS(berth_problem_to_csv(read, NULL, &other, &error));
  berth_text_free(other);

  /* Why it does not fit. */
  WORKS(berth_options_set(options, "capacity", "6000", &error));
  WORKS(berth_explain_problem(read, options, &conflict, culprits, 8, &count, &error));
  CHECK(conflict.outcome == BERTH_INFEASIBLE && count > 0 && conflict.capacity == 6000);
  CHECK(conflict.works_with >= conflict.height_bound && conflict.height_bound > 6000);
  WORKS(berth_explain_problem(read, options, &conflict, NULL, 0, NULL, &error));
  FAILS(berth_explain_problem(read, options, NULL, NULL, 0, NULL, &error), BERTH_INVALID_ARGUMENT,
        "NULL");
  FAILS(berth_explain_problem(read, options, &conflict, NULL, 3, NULL, &error),
        BERTH_INVALID_ARGUMENT, "buffers");
  /* What is of no use is not ignored. */
  WORKS(berth_options_set(options, "capacity", "none", &error));
  WORKS(berth_options_set(options, "budget", "MR", &error));
  FAILS(berth_place_problem(read, options, &again, &error), BERTH_INVALID_OPTIONS, "budget");
  FAILS(berth_place_problem(NULL, NULL, &again, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_place_problem(read, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(
      berth_problem_parse("id,lower,upper,size\na,5,2,1\n", 28, "bad.csv", NULL, &problem, &error),
      BERTH_INVALID_PROBLEM, "bad.csv:2");
  {
    static const char glow[] = "MODEL a\nALLOC 1 9\nFREE 1\nMODEL b\nALLOC 1 5\nALLOC 2 6\n";
    berth_options* choice = berth_options_new();
    berth_problem* chosen = NULL;
    FAILS(berth_problem_parse(glow, strlen(glow), "g", NULL, &chosen, &error),
          BERTH_INVALID_OPTIONS, "g has 2 problems; choose one, such as \"a\"");
    WORKS(berth_options_set(choice, "problem", "b", &error));
    WORKS(berth_problem_parse(glow, strlen(glow), "g", choice, &chosen, &error));
    CHECK(berth_problem_count(chosen) == 2);
    berth_problem_free(chosen);
    WORKS(berth_options_set(choice, "problem", "1", &error));
    WORKS(berth_problem_parse(glow, strlen(glow), "g", choice, &chosen, &error));
    CHECK(berth_problem_count(chosen) == 1);
    berth_problem_free(chosen);
    WORKS(berth_options_set(choice, "problem", "3", &error));
    FAILS(berth_problem_parse(glow, strlen(glow), "g", choice, &chosen, &error),
          BERTH_INVALID_OPTIONS, "g has 2 problems, and none is \"3\"; the first is \"a\"");
    FAILS(berth_problem_parse("id,lower,upper,size\na,0,2,1\n", 28, "t", choice, &chosen, &error),
          BERTH_INVALID_OPTIONS, "problem: t is a table, which is one problem");
    WORKS(berth_options_set(choice, "problem", "b", &error));
    WORKS(berth_options_set(choice, "endpoints", "half-open", &error));
    FAILS(berth_problem_parse(glow, strlen(glow), "g", choice, &chosen, &error),
          BERTH_INVALID_OPTIONS, "endpoints: only for tables in CSV");
    berth_options_free(choice);
    berth_text* names = NULL;
    WORKS(berth_problem_names(glow, strlen(glow), "g", &names, &error));
    CHECK(berth_text_length(names) == 4 && memcmp(berth_text_data(names), "a\0b", 4) == 0);
    berth_text_free(names);
    WORKS(berth_problem_names("id,lower,upper,size\na,0,2,1\n", 28, NULL, &names, &error));
    CHECK(berth_text_length(names) == 0);
    berth_text_free(names);
    FAILS(berth_problem_names("MODEL a\nALLOC 1\n", 16, "g", &names, &error), BERTH_PARSE, "g:2");
    FAILS(berth_problem_names(glow, strlen(glow), "g", NULL, &error), BERTH_INVALID_ARGUMENT,
          "NULL");
  }
  FAILS(berth_problem_parse("\0\1\2", 3, NULL, NULL, &problem, &error), BERTH_PARSE, "table");
  FAILS(berth_problem_parse(NULL, 3, NULL, NULL, &problem, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_problem_parse(NULL, 0, NULL, NULL, &problem, &error), BERTH_PARSE, "table");
  FAILS(berth_problem_read("/no/such/file.csv", NULL, &problem, &error), BERTH_IO, "/no/such/file");
  FAILS(berth_problem_read(NULL, NULL, &problem, &error), BERTH_INVALID_ARGUMENT, "NULL");

  berth_text_free(csv);
  berth_text_free(json);
  berth_plan_free(plan);
  berth_problem_free(read);
  berth_options_free(options);
}

/* The graph of test_graph(), in which `x` is dropped and made again. */
static void test_recompute(const berth_graph* graph, berth_options* options) {
  const char* device =
      "{\"format\": \"berth-device\", \"format_version\": 1, \"name\": \"chip\","
      " \"operations_per_second\": 1000, \"bandwidth\": \"1000B/s\"}";
  const char* linked =
      "{\"format\": \"berth-device\", \"format_version\": 1, \"operations_per_second\": 1000,"
      " \"bandwidth\": \"1000B/s\", \"link\": {\"out\": \"1GB/s\", \"in\": \"1GB/s\"}}";
  berth_graph* costed = NULL;
  berth_plan* plan = NULL;
  berth_text* text = NULL;
  berth_recomputed found = {sizeof found, 0, 0, 0, 0, 0, NULL};
  size_t count;
  WORKS(berth_options_set(options, "recompute", "on", &error));
  WORKS(berth_graph_apply(graph, NULL, &costed, &error));
  WORKS(berth_graph_set_cost(costed, 0, 3, &error));
  WORKS(berth_graph_set_cost(costed, 1, 5, &error));
  WORKS(berth_graph_set_cost_unit(costed, "ms", &error));
  FAILS(berth_graph_set_repeat(costed, 1, (berth_repeat)3, &error), BERTH_INVALID_ARGUMENT,
        "0 to 2");
  FAILS(berth_graph_set_cost(costed, 99, 3, &error), BERTH_INVALID_ARGUMENT, "99");
  WORKS(berth_plan_graph(costed, options, &plan, &error));
  WORKS(berth_plan_recomputed(plan, &found, &error));
  CHECK(found.operators == 1 && found.cost == 3 && found.bound == 3 && found.of_run == 8);
  CHECK(strcmp(found.unit, "ms") == 0);
  CHECK(berth_plan_order(plan, &count) != NULL && count == 5);
  WORKS(berth_plan_validate(plan, &error));
  berth_plan_free(plan);
  WORKS(berth_graph_set_repeat(costed, 0, BERTH_REPEAT_NEVER, &error));
  WORKS(berth_plan_graph(costed, options, &plan, &error));
  WORKS(berth_plan_recomputed(plan, &found, &error));
  CHECK(found.operators == 0 && found.cost == 0);
  berth_plan_free(plan);
  WORKS(berth_graph_set_cost(costed, 0, -1, &error));
  FAILS(berth_graph_validate(costed, &error), BERTH_INVALID_GRAPH, "-1");
  berth_graph_free(costed);

  FAILS(berth_options_set(options, "device", "{}", &error), BERTH_INVALID_OPTIONS, "device");
  WORKS(berth_options_set(options, "device", device, &error));
  WORKS(berth_options_get(options, "device", &text, &error));
  CHECK(strcmp(berth_text_data(text), "chip") == 0);
  berth_text_free(text);
  WORKS(berth_graph_apply(graph, options, &costed, &error));
  WORKS(berth_plan_graph(costed, options, &plan, &error));
  WORKS(berth_plan_recomputed(plan, &found, &error));
  /* 4 bytes at 1,000 a second. */
  CHECK(strcmp(found.unit, "ns") == 0 && found.cost == 4000000 && found.copies == 0);
  berth_plan_free(plan);
  berth_graph_free(costed);
  /* Copying 4 bytes out and back is faster over this link, unless it is not wanted. */
  WORKS(berth_options_set(options, "device", linked, &error));
  WORKS(berth_graph_apply(graph, options, &costed, &error));
  WORKS(berth_plan_graph(costed, options, &plan, &error));
  WORKS(berth_plan_recomputed(plan, &found, &error));
  CHECK(found.operators == 0 && found.cost == 0 && found.copies == 8 && found.bound == 8);
  WORKS(berth_plan_validate(plan, &error));
  berth_plan_free(plan);
  WORKS(berth_options_set(options, "no_spill", "on", &error));
  WORKS(berth_plan_graph(costed, options, &plan, &error));
  WORKS(berth_plan_recomputed(plan, &found, &error));
  CHECK(found.operators == 1 && found.cost == 4000000 && found.copies == 0);
  berth_plan_free(plan);
  berth_graph_free(costed);
  WORKS(berth_options_set(options, "recompute", "off", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "no_spill");
  WORKS(berth_options_set(options, "no_spill", "off", &error));
  WORKS(berth_options_set(options, "recompute", "on", &error));
  WORKS(berth_options_set(options, "device", "none", &error));

  /* Measured times; what is not measured needs a device. */
  FAILS(berth_options_set(options, "profile", "operator,ns\nmake x,-1\n", &error),
        BERTH_INVALID_OPTIONS, "profile:2:8: ns is \"-1\"");
  WORKS(berth_options_get(options, "profile", &text, &error));
  CHECK(strcmp(berth_text_data(text), "none") == 0);
  berth_text_free(text);
  WORKS(berth_options_set(options, "profile", "operator,ns\nmake x,9\n", &error));
  FAILS(berth_graph_apply(graph, options, &costed, &error), BERTH_INVALID_PROBLEM,
        "profile has no time for 3 of 4 operators; the first is \"make y\"");
  WORKS(berth_options_set(options, "profile",
                          "operator,ns\nmake x,9\nmake x,7\nmake y,20\nmake z,20\njoin,20\n",
                          &error));
  WORKS(berth_options_get(options, "profile", &text, &error));
  CHECK(strcmp(berth_text_data(text), "a profile") == 0);
  berth_text_free(text);
  WORKS(berth_graph_apply(graph, options, &costed, &error));
  WORKS(berth_plan_graph(costed, options, &plan, &error));
  WORKS(berth_plan_recomputed(plan, &found, &error));
  CHECK(strcmp(found.unit, "ns") == 0 && found.cost == 7 && found.of_run == 67);
  WORKS(berth_plan_to_json(plan, &text, &error));
  CHECK(strstr(berth_text_data(text), "\"profile\": \"profile\"") != NULL);
  berth_text_free(text);
  berth_plan_free(plan);
  berth_graph_free(costed);
  WORKS(berth_options_set(options, "profile", "none", &error));

  WORKS(berth_options_set(options, "budget", "none", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "budget");
  WORKS(berth_options_set(options, "recompute", "off", &error));
  WORKS(berth_options_set(options, "budget", "12", &error));
}

/* `graph` as a device has its costs: with `link`, which is part of a text in JSON, or without. */
static berth_graph* on_device(const berth_graph* graph, const char* link) {
  berth_options* options = berth_options_new();
  berth_graph* priced = NULL;
  char device[400];
  snprintf(device, sizeof device,
           "{\"format\": \"berth-device\", \"format_version\": 1, \"operations_per_second\": 1,"
           " \"bandwidth\": \"1GB/s\", \"launch_ns\": 10%s}",
           link);
  WORKS(berth_options_set(options, "device", device, &error));
  WORKS(berth_graph_apply(graph, options, &priced, &error));
  berth_options_free(options);
  return priced;
}

/* Bytes take a nanosecond, starts 10: operators 14, 18, 20 and 22 ns, x out 10, back 14, w out 8. In 12 bytes
   x can only come back to the place of y, so after `make z`, and `join` waits for it. */
static void test_off_chip(const berth_graph* graph) {
  static const char* const kLink =
      ", \"link\": {\"out\": \"1GB/s\", \"in\": \"500MB/s\", \"latency_ns\": 6%s}";
  berth_options* options = berth_options_new();
  berth_off_chip_summary sums;
  berth_off_chip_copy copy;
  berth_off_chip_run* run = NULL;
  const berth_interval* operators;
  const berth_residency* residencies;
  size_t count = 7, stays, i;
  sums.struct_size = sizeof sums;
  copy.struct_size = sizeof copy;
  WORKS(berth_options_set(options, "budget", "12", &error));
  for (i = 0; i < 2; ++i) {
    char link[200];
    berth_graph* priced;
    berth_plan* plan = NULL;
    snprintf(link, sizeof link, kLink, i == 0 ? "" : ", \"energy_pj_per_byte\": 100");
    priced = on_device(graph, link);
    WORKS(berth_plan_graph(priced, options, &plan, &error));
    berth_graph_free(priced); /* The plan keeps what it needs. */
    WORKS(berth_run_off_chip(plan, &run, &error));
    WORKS(berth_off_chip_run_summary(run, &sums, &error));
    CHECK(sums.time == 96 && sums.computing == 74 && sums.copying == 32 && sums.stalled == 14);
    CHECK(i == 0 ? sums.avoidable_pj == -1 && sums.compulsory_pj == -1
                 : sums.avoidable_pj == 800 && sums.compulsory_pj == 200);
    CHECK(berth_off_chip_run_copy_count(run) == 3);
    residencies = berth_plan_residencies(plan, &stays);
    WORKS(berth_off_chip_run_copy(run, 1, &copy, &error));
    CHECK(copy.out == 0 && copy.avoidable == 1 && copy.after == 3 && copy.before == 3);
    CHECK(copy.begins == 52 && copy.ends == 66);
    CHECK(copy.residency < stays && residencies[copy.residency].comes_in == 1);
    WORKS(berth_off_chip_run_copy(run, 2, &copy, &error));
    CHECK(copy.out == 1 && copy.avoidable == 0 && copy.begins == 88 && copy.ends == 96);
    FAILS(berth_off_chip_run_copy(run, 3, &copy, &error), BERTH_INVALID_ARGUMENT, "copy 3");
    FAILS(berth_run_off_chip(plan, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
    berth_plan_free(plan);
    operators = berth_off_chip_run_operators(run, &count);
    CHECK(count == 4 && operators[0].begins == 0 && operators[0].ends == 14);
    CHECK(operators[3].begins == 66 && operators[3].ends == 88);
    berth_off_chip_run_free(run);
    run = NULL;
  }
  berth_options_free(options);
}

/* Without a device, a link, a plan within the capacity, offsets or times. */
static void test_off_chip_refused(const berth_graph* graph) {
  berth_options* options = berth_options_new();
  berth_off_chip_run* run = NULL;
  berth_graph* linked = on_device(graph, ", \"link\": {\"out\": \"1GB/s\", \"in\": \"1GB/s\"}");
  berth_graph* unlinked = on_device(graph, "");
  berth_plan* plan = NULL;
  WORKS(berth_options_set(options, "budget", "12", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  FAILS(berth_run_off_chip(plan, &run, &error), BERTH_INVALID_OPTIONS, "the graph has none");
  berth_plan_free(plan);
  WORKS(berth_plan_graph(unlinked, options, &plan, &error));
  FAILS(berth_run_off_chip(plan, &run, &error), BERTH_INVALID_OPTIONS, "it has no link");
  berth_plan_free(plan);
  WORKS(berth_options_set(options, "budget", "11", &error));
  WORKS(berth_plan_graph(linked, options, &plan, &error));
  FAILS(berth_run_off_chip(plan, &run, &error), BERTH_INVALID_PLAN, "no addresses");
  berth_plan_free(plan);
  WORKS(berth_schedule_graph(linked, NULL, &plan, &error));
  FAILS(berth_run_off_chip(plan, &run, &error), BERTH_INVALID_PLAN, "no addresses");
  berth_plan_free(plan);
  WORKS(berth_graph_set_cost_unit(linked, "flop", &error));
  WORKS(berth_options_set(options, "budget", "12", &error));
  WORKS(berth_plan_graph(linked, options, &plan, &error));
  FAILS(berth_run_off_chip(plan, &run, &error), BERTH_INVALID_OPTIONS, "\"flop\"");
  berth_plan_free(plan);
  berth_graph_free(linked);
  berth_graph_free(unlinked);
  CHECK(run == NULL);
  berth_options_free(options);
}

/* Why a placement is the lowest, or none fits. */
static void test_proofs(const berth_graph* graph) {
  berth_problem* problem = berth_problem_new();
  berth_options* options = berth_options_new();
  berth_plan* plan = NULL;
  berth_proof proof;
  berth_text* text = NULL;
  proof.struct_size = sizeof proof;
  WORKS(berth_problem_add_arrays(problem, 3, kStart, kEnd, kSize, NULL, NULL, &error));
  WORKS(berth_place_problem(problem, NULL, &plan, &error));
  WORKS(berth_prove_plan(plan, NULL, &proof, &text, &error));
  CHECK(proof.missing == BERTH_NO_PROOF_NONE && proof.seconds >= 0);
  CHECK(strncmp(berth_text_data(text), "berth-proof 1\nclaim optimal 6144\n", 33) == 0);
  berth_text_free(text);
  berth_plan_free(plan);
  WORKS(berth_options_set(options, "capacity", "6143", &error));
  WORKS(berth_place_problem(problem, options, &plan, &error));
  text = NULL;
  WORKS(berth_prove_plan(plan, options, NULL, &text, &error));
  CHECK(strncmp(berth_text_data(text), "berth-proof 1\nclaim infeasible 6143\n", 36) == 0);
  berth_text_free(text);
  FAILS(berth_prove_plan(plan, NULL, &proof, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  proof.struct_size = 0;
  FAILS(berth_prove_plan(plan, NULL, &proof, &text, &error), BERTH_INVALID_ARGUMENT, "struct_size");
  proof.struct_size = sizeof proof;
  berth_plan_free(plan);
  /* A plan that fits, but nothing is proved of its height. */
  WORKS(berth_options_set(options, "capacity", "none", &error));
  WORKS(berth_options_set(options, "algorithm", "first-fit-size", &error));
  berth_problem_free(problem);
  problem = berth_problem_new();
  {
    int64_t start[40], end[40], size[40];
    size_t i;
    for (i = 0; i < 40; ++i) {
      start[i] = (int64_t)(i * 7 % 23);
      end[i] = start[i] + 1 + (int64_t)(i * 5 % 9);
      size[i] = 1 + (int64_t)(i * 11 % 17);
    }
    WORKS(berth_problem_add_arrays(problem, 40, start, end, size, NULL, NULL, &error));
  }
  WORKS(berth_place_problem(problem, options, &plan, &error));
  FAILS(berth_prove_plan(plan, NULL, NULL, &text, &error), BERTH_INVALID_OPTIONS, "only an answer");
  berth_plan_free(plan);
  WORKS(berth_plan_graph(graph, NULL, &plan, &error));
  WORKS(berth_prove_plan(plan, NULL, &proof, &text, &error));
  CHECK(proof.missing == BERTH_NO_PROOF_NONE);
  CHECK(strncmp(berth_text_data(text), "berth-order-proof 1\nclaim optimal ", 34) == 0);
  berth_text_free(text);
  berth_plan_free(plan);
  WORKS(berth_options_set(options, "budget", "MR", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  FAILS(berth_prove_plan(plan, NULL, NULL, &text, &error), BERTH_INVALID_OPTIONS, "all orders");
  berth_plan_free(plan);
  berth_problem_free(problem);
  berth_options_free(options);
  CHECK(strcmp(berth_no_proof_name(BERTH_NO_PROOF_NONE), "none") == 0);
  CHECK(strcmp(berth_no_proof_name(BERTH_NO_PROOF_BUDGET), "budget") == 0);
  CHECK(strcmp(berth_no_proof_name(BERTH_NO_PROOF_ALGORITHM), "algorithm") == 0);
  CHECK(strcmp(berth_no_proof_name((berth_no_proof)99), "none") == 0);
}

/* `x` is used early and again in the end; `y` leaves it no room in the fast memory in between. */
static berth_graph* parking(void) {
  berth_graph* graph = berth_graph_new("parking");
  size_t x, a, y, z, op, list[2];
  int i;
  WORKS(berth_graph_add_tensor(graph, "x", BERTH_ACTIVATION, 100, 1, BERTH_NONE, 0, &x, &error));
  WORKS(berth_graph_add_tensor(graph, "a", BERTH_ACTIVATION, 20, 1, BERTH_NONE, 0, &a, &error));
  WORKS(berth_graph_add_tensor(graph, "y", BERTH_ACTIVATION, 150, 1, BERTH_NONE, 0, &y, &error));
  WORKS(berth_graph_add_tensor(graph, "z", BERTH_ACTIVATION, 20, 1, BERTH_NONE, 0, &z, &error));
  WORKS(berth_graph_add_operator(graph, "make", NULL, NULL, 0, &x, 1, &op, &error));
  WORKS(berth_graph_add_operator(graph, "use", NULL, &x, 1, &a, 1, &op, &error));
  WORKS(berth_graph_add_operator(graph, "again", NULL, &x, 1, NULL, 0, &op, &error));
  WORKS(berth_graph_add_operator(graph, "big", NULL, &a, 1, &y, 1, &op, &error));
  WORKS(berth_graph_add_operator(graph, "bigger", NULL, &y, 1, &z, 1, &op, &error));
  list[0] = x, list[1] = z;
  WORKS(berth_graph_add_operator(graph, "last", NULL, list, 2, NULL, 0, &op, &error));
  for (i = 0; i < 6; ++i) WORKS(berth_graph_set_cost(graph, (size_t)i, 1000, &error));
  WORKS(berth_graph_set_cost_unit(graph, "ns", &error));
  return graph;
}

static int64_t cost_of(const berth_plan* plan) {
  berth_memories_summary summary;
  summary.struct_size = sizeof summary;
  WORKS(berth_plan_memories(plan, &summary, &error));
  return summary.cost;
}

/* Tensors that are copied from one memory to another, between operators or while they run. */
static void test_moves(void) {
  berth_graph* graph = parking();
  berth_options* options = berth_options_new();
  berth_plan* plan = NULL;
  berth_plan* read = NULL;
  berth_text* text = NULL;
  berth_copy copy;
  berth_run run;
  int64_t staying, moving;
  memset(&copy, 0, sizeof copy);
  memset(&run, 0, sizeof run);
  copy.struct_size = sizeof copy;
  run.struct_size = sizeof run;
  WORKS(berth_options_set(options, "order", "program", &error));
  WORKS(berth_options_set(options, "may_move", "on", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "may_move: only");
  WORKS(berth_options_set(options, "memory", "fast=190@1GB/s", &error));
  WORKS(berth_options_set(options, "memory", "slow@100MB/s", &error));
  WORKS(berth_options_set(options, "may_move", "off", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  staying = cost_of(plan);
  CHECK(berth_plan_copy_count(plan) == 0 && berth_plan_copy_count(NULL) == 0);
  {
    /* x and y are live together, and do not both fit into the fast memory. */
    berth_displacements* found = NULL;
    berth_displaced entry;
    entry.struct_size = sizeof entry;
    WORKS(berth_plan_displaced(plan, 10, &found, &error));
    CHECK(berth_displacements_count(found) == 1 && berth_displacements_count(NULL) == 0);
    WORKS(berth_displacements_at(found, 0, &entry, &error));
    CHECK(entry.memory == 1 && entry.cheaper == 0 && entry.cost == 10 * entry.least);
    CHECK(entry.buffer_count == 1 && entry.buffers[0] == 2);
    CHECK(entry.in_the_way_count >= 1 && entry.in_the_way[0] == 0 && entry.saved > 0);
    CHECK(entry.obstacle == BERTH_OBSTACLE_BYTES && entry.free < entry.needed);
    berth_displacements_free(found);
    FAILS(berth_plan_displaced(plan, 10, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  }
  FAILS(berth_plan_copy(plan, 0, &copy, &error), BERTH_INVALID_ARGUMENT, "copy");
  berth_plan_free(plan);

  WORKS(berth_options_set(options, "may_move", "on", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  moving = cost_of(plan);
  CHECK(moving < staying);
  CHECK(berth_plan_copy_count(plan) == 1);
  WORKS(berth_plan_copy(plan, 0, &copy, &error));
  CHECK(copy.tensor == 0 && copy.from_memory == 0 && copy.to_memory == 1 && copy.bytes == 100);
  CHECK(copy.start == copy.before && copy.start >= 3 && copy.begins == -1 && copy.ends == -1);
  CHECK(copy.cost == 100 + 10 * 100);
  FAILS(berth_plan_run(plan, &run, &error), BERTH_INVALID_ARGUMENT, "prefetch");
  {
    /* What more of the fast memory saves. */
    berth_memory_sweep* sweep = NULL;
    berth_memory_point less, more;
    berth_memory use;
    less.struct_size = more.struct_size = sizeof less;
    use.struct_size = sizeof use;
    WORKS(berth_options_set(options, "budgets", "270,190", &error));
    WORKS(berth_sweep_memory(graph, options, "fast", &sweep, &error));
    CHECK(berth_memory_sweep_count(sweep) == 2 && berth_memory_sweep_count(NULL) == 0);
    WORKS(berth_memory_sweep_at(sweep, 0, &less, &error));
    WORKS(berth_memory_sweep_at(sweep, 1, &more, &error));
    CHECK(less.capacity == 190 && less.cost == moving && less.copies == 1);
    CHECK(more.capacity == 270 && more.cost < less.cost && more.outcome == BERTH_OPTIMAL);
    CHECK(more.unplaced == 0 && more.cost_bound == more.cost);
    CHECK(strcmp(more.cost_unit, "ns") == 0);
    CHECK(berth_memory_sweep_memory_count(sweep) == 2);
    WORKS(berth_memory_sweep_use(sweep, 1, 0, &use, &error));
    CHECK(strcmp(use.name, "fast") == 0 && use.capacity == 270 && use.height == use.peak);
    FAILS(berth_memory_sweep_use(sweep, 1, 2, &use, &error), BERTH_INVALID_ARGUMENT, "memory 2");
    FAILS(berth_memory_sweep_at(sweep, 2, &more, &error), BERTH_INVALID_ARGUMENT, "point 2");
    WORKS(berth_memory_sweep_to_csv(sweep, &text, &error));
    CHECK(strstr(berth_text_data(text), "copies") != NULL);
    berth_text_free(text);
    WORKS(berth_memory_sweep_to_page(sweep, &text, &error));
    CHECK(strstr(berth_text_data(text), "fast") != NULL);
    berth_text_free(text);
    berth_memory_sweep_free(sweep);
    FAILS(berth_sweep_memory(graph, options, "quick", &sweep, &error), BERTH_INVALID_OPTIONS,
          "no memory \"quick\"");
    WORKS(berth_options_set(options, "budgets", "MR", &error));
    FAILS(berth_sweep_memory(graph, options, "fast", &sweep, &error), BERTH_INVALID_OPTIONS,
          "bytes");
    WORKS(berth_options_set(options, "budgets", "", &error));
  }
  WORKS(berth_plan_validate(plan, &error));
  WORKS(berth_plan_to_svg(plan, &text, &error));
  CHECK(strstr(berth_text_data(text), "copy of x from fast to slow") != NULL);
  berth_text_free(text);
  WORKS(berth_plan_to_csv(plan, &text, &error));
  CHECK(strstr(berth_text_data(text), "x#2") != NULL);
  berth_text_free(text);
  WORKS(berth_plan_to_page(plan, NULL, &text, &error));
  berth_text_free(text);
  berth_plan_free(plan);

  FAILS(berth_options_set(options, "copy_latency", "-1", &error), BERTH_INVALID_OPTIONS,
        "copy_latency");
  FAILS(berth_options_set(options, "copy_latency", "1099511627777", &error), BERTH_INVALID_OPTIONS,
        "copy_latency");
  WORKS(berth_options_set(options, "copy_latency", "7", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "copy_latency");
  WORKS(berth_options_set(options, "prefetch", "on", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  WORKS(berth_plan_run(plan, &run, &error));
  CHECK(run.time == cost_of(plan) && run.time == run.computing + run.accessing + run.stalled);
  CHECK(run.computing == 6000 && run.time <= run.computing + moving + 7);
  CHECK(berth_plan_copy_count(plan) == 1);
  WORKS(berth_plan_copy(plan, 0, &copy, &error));
  CHECK(copy.cost == 7 + 1000 && copy.ends - copy.begins == copy.cost && copy.start < copy.before);
  WORKS(berth_plan_to_trace(plan, &text, &error));
  CHECK(strstr(berth_text_data(text), "copies") != NULL);
  berth_text_free(text);
  /* What is read back is the same. */
  WORKS(berth_plan_to_json(plan, &text, &error));
  WORKS(berth_plan_parse_graph(graph, berth_text_data(text), berth_text_length(text), "p.json",
                               &read, &error));
  CHECK(berth_plan_copy_count(read) == 1 && cost_of(read) == run.time);
  WORKS(berth_plan_run(read, &run, &error));
  berth_text_free(text);
  berth_plan_free(read);
  berth_plan_free(plan);
  /* Times are in ns. */
  WORKS(berth_graph_set_cost_unit(graph, "cycles", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "cycles");
  berth_options_free(options);
  berth_graph_free(graph);
}

/* A scratchpad from which `x` goes out and comes back. */
static void test_scratchpad(void) {
  berth_graph* graph = parking();
  berth_options* options = berth_options_new();
  berth_plan* plan = NULL;
  berth_plan* read = NULL;
  berth_text* text = NULL;
  berth_summary summary;
  size_t count = 0, i, stays = 0;
  const berth_residency* residencies;
  summary.struct_size = sizeof summary;
  WORKS(berth_options_set(options, "order", "program", &error));
  WORKS(berth_options_set(options, "spill", "on", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "spill: only");
  WORKS(berth_options_set(options, "memory", "pad=190", &error));
  WORKS(berth_options_set(options, "may_move", "on", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS,
        "may_move and spill");
  WORKS(berth_options_set(options, "may_move", "off", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.spills == 1 && summary.fixed_order == 1);
  CHECK(summary.spilled == 100 && summary.retrieved == 100 && summary.traffic_bound == 200);
  residencies = berth_plan_residencies(plan, &count);
  for (i = 0; i < count; ++i) stays += residencies[i].tensor == 0;
  CHECK(stays == 2 && berth_plan_copy_count(plan) == 0);
  WORKS(berth_plan_validate(plan, &error));
  WORKS(berth_plan_to_svg(plan, &text, &error));
  CHECK(strstr(berth_text_data(text), "class=\"out\"") != NULL);
  berth_text_free(text);
  WORKS(berth_plan_to_page(plan, NULL, &text, &error));
  CHECK(strstr(berth_text_data(text), "\"written\":100") != NULL);
  berth_text_free(text);
  WORKS(berth_plan_to_json(plan, &text, &error));
  WORKS(berth_plan_parse_graph(graph, berth_text_data(text), berth_text_length(text), "p.json",
                               &read, &error));
  WORKS(berth_plan_summary(read, &summary, &error));
  CHECK(summary.spills == 1 && summary.spilled == 100 && summary.retrieved == 100);
  WORKS(berth_plan_validate(read, &error));
  berth_text_free(text);
  berth_plan_free(read);
  berth_plan_free(plan);
  berth_options_free(options);
  berth_graph_free(graph);
}

/* With more of the fast memory `y` is no longer in the slow one. */
static void test_comparison(void) {
  static const char kOld[] =
      "id,lower,upper,size,memory,offset\nx,0,2,100,fast,0\ny,0,2,100,slow,0\n";
  static const char kNew[] =
      "id,lower,upper,size,memory,offset\nx,0,2,100,fast,0\ny,0,2,100,fast,100\n";
  static const char kTooFar[] =
      "id,lower,upper,size,memory,offset\nx,0,2,100,fast,0\ny,0,2,100,fast,171\n";
  berth_graph* graph = parking();
  berth_options* options = berth_options_new();
  berth_plan* plan = NULL;
  berth_text* files[2] = {NULL, NULL};
  berth_comparison* found = NULL;
  berth_diff diff;
  berth_change change;
  berth_memory_change memory;
  berth_transfer transfer;
  int i;
  diff.struct_size = sizeof diff;
  change.struct_size = sizeof change;
  memory.struct_size = sizeof memory;
  transfer.struct_size = sizeof transfer;
  WORKS(berth_options_set(options, "order", "program", &error));
  for (i = 0; i < 2; ++i) {
    WORKS(berth_options_set(options, "memory", "none", &error));
    WORKS(
        berth_options_set(options, "memory", i == 0 ? "fast=190@1GB/s" : "fast=270@1GB/s", &error));
    WORKS(berth_options_set(options, "memory", "slow@100MB/s", &error));
    WORKS(berth_plan_graph(graph, options, &plan, &error));
    WORKS(berth_plan_to_json(plan, &files[i], &error));
    berth_plan_free(plan);
  }
  WORKS(berth_compare_plans(berth_text_data(files[0]), berth_text_length(files[0]), NULL,
                            berth_text_data(files[1]), berth_text_length(files[1]), NULL, &found,
                            &error));
  WORKS(berth_comparison_summary(found, &diff, &error));
  CHECK(diff.height_before == -1 && diff.peak_after == -1 && diff.same_cost_kind == 1);
  CHECK(diff.cost_before > diff.cost_after && diff.cost_after > 0 && diff.other_memory == 1);
  CHECK(berth_comparison_memory_count(found) == 2 && berth_comparison_memory_count(NULL) == 0);
  WORKS(berth_comparison_memory(found, 0, &memory, &error));
  CHECK(strcmp(memory.name, "fast") == 0 && memory.in_before == 1 && memory.in_after == 1);
  CHECK(memory.capacity_before == 190 && memory.capacity_after == 270);
  CHECK(memory.height_after > memory.height_before && memory.peak_after == 270);
  FAILS(berth_comparison_memory(found, 2, &memory, &error), BERTH_INVALID_ARGUMENT, "memory 2");
  CHECK(berth_comparison_transfer_count(found) == 1);
  WORKS(berth_comparison_transfer(found, 0, &transfer, &error));
  CHECK(strcmp(transfer.from_memory, "slow") == 0 && strcmp(transfer.to_memory, "fast") == 0);
  CHECK(transfer.buffers == 1);
  for (i = 0; (size_t)i < berth_comparison_change_count(found); ++i) {
    WORKS(berth_comparison_change(found, (size_t)i, &change, &error));
    if (strcmp(change.memory_before, change.memory_after) == 0) continue;
    CHECK(change.size_after == transfer.bytes && change.in_before == 1 && change.in_after == 1);
  }
  FAILS(berth_comparison_change(found, (size_t)i, &change, &error), BERTH_INVALID_ARGUMENT,
        "change");
  FAILS(berth_compare_plans("{", 1, NULL, "{}", 2, NULL, &found, &error), BERTH_PARSE, "before");
  FAILS(berth_compare_plans("{", 1, NULL, "{}", 2, NULL, NULL, &error), BERTH_INVALID_ARGUMENT,
        "NULL");
  FAILS(berth_compare_plans_in_memories(kOld, sizeof kOld - 1, "old.csv", kNew, sizeof kNew - 1,
                                        "new.csv", NULL, &found, &error),
        BERTH_PARSE, "several memories");
  FAILS(berth_compare_plans_in_memories(kNew, sizeof kNew - 1, NULL, kTooFar, sizeof kTooFar - 1,
                                        "far.csv", options, &found, &error),
        BERTH_INVALID_PLAN, "far.csv: the plan does not hold");
  berth_comparison_free(found);
  WORKS(berth_compare_plans_in_memories(kOld, sizeof kOld - 1, NULL, kNew, sizeof kNew - 1, NULL,
                                        options, &found, &error));
  WORKS(berth_comparison_summary(found, &diff, &error));
  CHECK(diff.other_memory == 1 && diff.moved == 1 && diff.unchanged == 1);
  CHECK(diff.cost_before > diff.cost_after);
  berth_comparison_free(found);
  berth_comparison_free(NULL);
  berth_text_free(files[0]);
  berth_text_free(files[1]);
  berth_options_free(options);
  berth_graph_free(graph);
}

static void test_graph(void) {
  berth_graph* graph = berth_graph_new("net");
  berth_graph* changed = NULL;
  berth_graph* read = NULL;
  berth_plan* plan = NULL;
  berth_plan* again = NULL;
  berth_text* json = NULL;
  berth_text* text = NULL;
  berth_advice* advice = NULL;
  berth_options* options = berth_options_new();
  berth_summary summary = new_summary();
  berth_tensor tensor;
  berth_operator op;
  berth_remedy remedy;
  berth_recomputed again_costs = {sizeof again_costs, 0, 0, 0, 0, 0, NULL};
  size_t x, y, z, w, first, second, third, join, list[2], count, i;
  tensor.struct_size = sizeof tensor;
  op.struct_size = sizeof op;
  remedy.struct_size = sizeof remedy;
  WORKS(berth_graph_add_tensor(graph, "x", BERTH_ACTIVATION, 4, 1, BERTH_NONE, 0, &x, &error));
  WORKS(berth_graph_add_tensor(graph, "y", BERTH_ACTIVATION, 4, 1, BERTH_NONE, 0, &y, &error));
  WORKS(berth_graph_add_tensor(graph, "z", BERTH_ACTIVATION, 6, 1, BERTH_NONE, 0, &z, &error));
  WORKS(berth_graph_add_tensor(graph, "w", BERTH_ACTIVATION, 2, 1, BERTH_NONE, 1, &w, &error));
  WORKS(berth_graph_describe_tensor(graph, x, "int8", "4", &error));
  WORKS(berth_graph_add_operator(graph, "make x", NULL, NULL, 0, &x, 1, &first, &error));
  WORKS(berth_graph_add_operator(graph, "make y", "Op", &x, 1, &y, 1, &second, &error));
  WORKS(berth_graph_add_operator(graph, "make z", "Op", &y, 1, &z, 1, &third, &error));
  list[0] = x, list[1] = z;
  WORKS(berth_graph_add_operator(graph, "join", "Op", list, 2, &w, 1, &join, &error));
  WORKS(berth_graph_add_overwrite(graph, second, x, y, &error));
  WORKS(berth_graph_add_dependency(graph, join, first, &error));
  WORKS(berth_graph_validate(graph, &error));
  CHECK(strcmp(berth_graph_name(graph), "net") == 0);
  CHECK(berth_graph_tensor_count(graph) == 4 && berth_graph_operator_count(graph) == 4);
  WORKS(berth_graph_tensor(graph, x, &tensor, &error));
  CHECK(strcmp(tensor.dtype, "int8") == 0 && tensor.alias_of == BERTH_NONE && tensor.bytes == 4);
  WORKS(berth_graph_operator(graph, join, &op, &error));
  CHECK(op.input_count == 2 && op.inputs[1] == z && op.after_count == 1 && op.mutate_count == 0);
  CHECK(berth_graph_note_count(graph) == 0 && berth_graph_note(graph, 0) == NULL);
  CHECK(berth_graph_open_dimension(graph, 0) == NULL);

  WORKS(berth_schedule_graph(graph, NULL, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.peak == 14 && summary.addressed == 0 && summary.height == -1);
  CHECK(berth_plan_order(plan, &count) != NULL && count == 4);
  FAILS(berth_plan_to_csv(plan, &text, &error), BERTH_INVALID_ARGUMENT, "offsets");
  FAILS(berth_plan_to_svg(plan, &text, &error), BERTH_INVALID_ARGUMENT, "offsets");
  berth_plan_free(plan);

  WORKS(berth_options_set(options, "budget", "12", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.spills == 1);
  CHECK(summary.spilled + summary.retrieved == summary.traffic_bound && summary.traffic_bound > 0);
  CHECK(summary.height <= 12 && summary.least_memory == 12 && summary.least_operator == join);
  FAILS(berth_plan_recomputed(plan, &again_costs, &error), BERTH_INVALID_ARGUMENT, "recompute");
  test_recompute(graph, options);
  test_off_chip(graph);
  test_off_chip_refused(graph);
  test_proofs(graph);
  CHECK(berth_plan_residencies(plan, &count) != NULL && count == 5);
  WORKS(berth_plan_validate(plan, &error));
  WORKS(berth_plan_to_json(plan, &json, &error));
  WORKS(berth_plan_parse_graph(graph, berth_text_data(json), berth_text_length(json), "p.json",
                               &again, &error));
  WORKS(berth_plan_summary(again, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.capacity == 12);
  {
    berth_diff diff;
    diff.struct_size = sizeof diff;
    WORKS(berth_diff_plans(berth_text_data(json), berth_text_length(json), NULL,
                           berth_text_data(json), berth_text_length(json), NULL, &diff, &text,
                           &error));
    CHECK(diff.same_order == 1 && diff.unchanged == 5 && diff.traffic_before == diff.traffic_after);
    CHECK(diff.cost_before == -1 && diff.same_cost_kind == 1 && diff.other_memory == 0);
    berth_text_free(text);
    FAILS(berth_diff_plans("{", 1, NULL, "{}", 2, NULL, &diff, NULL, &error), BERTH_PARSE,
          "before");
    FAILS(berth_diff_plans(NULL, 0, NULL, NULL, 0, "b", NULL, NULL, &error), BERTH_PARSE, "before");
  }
  berth_plan_free(again);
  berth_plan_free(plan);
  berth_text_free(json);

  /* Several memories. */
  WORKS(berth_options_set(options, "budget", "none", &error));
  FAILS(berth_options_set(options, "memory", "fast=x", &error), BERTH_INVALID_OPTIONS, "memory");
  WORKS(berth_options_set(options, "memory", "fast=10@1GB/s", &error));
  WORKS(berth_options_set(options, "memory", "slow@100MB/s", &error));
  FAILS(berth_schedule_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "memory");
  WORKS(berth_options_set(options, "activations_in", "fst", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "fst");
  WORKS(berth_options_set(options, "activations_in", "", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL && summary.height == -1 && summary.peak == -1);
  {
    berth_memories_summary costs;
    berth_memory memory;
    costs.struct_size = sizeof costs;
    memory.struct_size = sizeof memory;
    WORKS(berth_plan_memories(plan, &costs, &error));
    CHECK(costs.outcome == BERTH_OPTIMAL && costs.unplaced == 0);
    CHECK(costs.cost == costs.cost_bound && costs.cost > 0);
    CHECK(berth_plan_memory_count(plan) == 2 && berth_plan_memory_count(NULL) == 0);
    WORKS(berth_plan_memory(plan, 0, &memory, &error));
    CHECK(strcmp(memory.name, "fast") == 0 && memory.capacity == 10);
    CHECK(memory.height > 0 && memory.height <= 10 && memory.peak <= memory.height);
    WORKS(berth_plan_memory(plan, 1, &memory, &error));
    CHECK(memory.capacity == -1 && memory.height > 0);
    FAILS(berth_plan_memory(plan, 2, &memory, &error), BERTH_INVALID_ARGUMENT, "memory");
    WORKS(berth_plan_validate(plan, &error));
    WORKS(berth_plan_to_csv(plan, &text, &error));
    CHECK(strstr(berth_text_data(text), "fast") != NULL);
    berth_text_free(text);
    WORKS(berth_plan_to_svg(plan, &text, &error));
    berth_text_free(text);
    WORKS(berth_plan_to_page(plan, NULL, &text, &error));
    berth_text_free(text);
    WORKS(berth_plan_to_trace(plan, &text, &error));
    CHECK(strstr(berth_text_data(text), "slow") != NULL);
    berth_text_free(text);
    FAILS(berth_advise_plan(plan, options, &advice, &error), BERTH_INVALID_ARGUMENT, "memories");
    WORKS(berth_plan_to_json(plan, &json, &error));
    WORKS(berth_plan_parse_graph(graph, berth_text_data(json), berth_text_length(json), "p.json",
                                 &again, &error));
    costs.cost = -1;
    WORKS(berth_plan_memories(again, &costs, &error));
    CHECK(costs.cost > 0 && berth_plan_memory_count(again) == 2);
    WORKS(berth_plan_validate(again, &error));
    berth_plan_free(again);
    berth_plan_free(plan);
    berth_text_free(json);
    WORKS(berth_options_set(options, "memory", "none", &error));
    WORKS(berth_plan_graph(graph, options, &plan, &error));
    FAILS(berth_plan_memories(plan, &costs, &error), BERTH_INVALID_ARGUMENT, "single memory");
    berth_plan_free(plan);
  }

  /* A capacity that is too small, and what would help. */
  WORKS(berth_options_set(options, "budget", "none", &error));
  WORKS(berth_options_set(options, "capacity", "13", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.outcome == BERTH_INFEASIBLE && summary.height_bound == 14);
  WORKS(berth_advise_plan(plan, options, &advice, &error));
  CHECK(berth_advice_count(advice) > 0);
  for (i = 0; i < berth_advice_count(advice); ++i) {
    WORKS(berth_advice_remedy(advice, i, &remedy, &error));
    CHECK(strlen(remedy.title) > 0);
  }
  FAILS(berth_advice_remedy(advice, i, &remedy, &error), BERTH_INVALID_ARGUMENT, "remedy");
  WORKS(berth_plan_to_page(plan, advice, &text, &error));
  berth_text_free(text);
  berth_advice_free(advice);
  berth_plan_free(plan);
  WORKS(berth_options_set(options, "budget", "12", &error));
  FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "budget");
  WORKS(berth_options_set(options, "budget", "none", &error));
  WORKS(berth_options_set(options, "capacity", "none", &error));

  /* A given order, and one that cannot run. */
  {
    const size_t order[] = {0, 1, 2, 3};
    const size_t backwards[] = {3, 2, 1, 0};
    const size_t hostile[] = {0, 1, 2, BERTH_NONE};
    WORKS(berth_options_set_order(options, order, 4, &error));
    WORKS(berth_plan_graph(graph, options, &plan, &error));
    berth_plan_free(plan);
    FAILS(berth_schedule_graph(graph, options, &plan, &error), BERTH_INVALID_OPTIONS, "order");
    WORKS(berth_options_set_order(options, backwards, 4, &error));
    FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_PLAN, "join");
    WORKS(berth_options_set_order(options, hostile, 4, &error));
    FAILS(berth_plan_graph(graph, options, &plan, &error), BERTH_INVALID_PLAN, "operator");
    WORKS(berth_options_set_order(options, NULL, 0, &error));
  }

  WORKS(berth_options_set(options, "alignment", "16", &error));
  WORKS(berth_options_set(options, "in_place", "on", &error));
  WORKS(berth_graph_apply(graph, options, &changed, &error));
  WORKS(berth_graph_tensor(changed, x, &tensor, &error));
  CHECK(tensor.alignment == 16 && tensor.bytes == 16);
  WORKS(berth_graph_to_json(changed, &json, &error));
  WORKS(berth_graph_parse(berth_text_data(json), berth_text_length(json), "net.json", NULL, &read,
                          &error));
  CHECK(berth_graph_operator_count(read) == 4);
  berth_graph_free(read);
  berth_graph_free(changed);
  berth_text_free(json);

  FAILS(
      berth_graph_add_tensor(graph, "t", (berth_tensor_kind)77, 1, 1, BERTH_NONE, 0, NULL, &error),
      BERTH_INVALID_ARGUMENT, "kind");
  FAILS(berth_graph_add_tensor(NULL, "t", BERTH_INPUT, 1, 1, BERTH_NONE, 0, NULL, &error),
        BERTH_INVALID_ARGUMENT, "NULL");
  list[0] = 99;
  FAILS(berth_graph_add_operator(graph, "o", NULL, list, 1, NULL, 0, NULL, &error),
        BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_add_operator(graph, "o", NULL, NULL, 1, NULL, 0, NULL, &error),
        BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_graph_add_mutation(graph, 99, x, &error), BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_add_mutation(graph, 0, 99, &error), BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_add_dependency(graph, 0, 99, &error), BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_add_overwrite(graph, 0, x, 99, &error), BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_describe_tensor(graph, 99, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_tensor(graph, 99, &tensor, &error), BERTH_INVALID_ARGUMENT, "99");
  FAILS(berth_graph_operator(graph, 99, &op, &error), BERTH_INVALID_ARGUMENT, "99");
  /* Hostile tensors are refused when they are planned, with their name. */
  WORKS(berth_graph_add_tensor(graph, "evil", BERTH_INPUT, HUGE_VALUE, 1, BERTH_NONE, 0, NULL,
                               &error));
  FAILS(berth_graph_validate(graph, &error), BERTH_INVALID_GRAPH, "evil");
  FAILS(berth_plan_graph(graph, NULL, &plan, &error), BERTH_INVALID_GRAPH, "evil");
  FAILS(berth_schedule_graph(graph, NULL, &plan, &error), BERTH_INVALID_GRAPH, "evil");
  FAILS(berth_graph_apply(graph, NULL, &changed, &error), BERTH_INVALID_GRAPH, "evil");
  berth_graph_free(graph);
  berth_options_free(options);
}

static int stop_at_once(void* user, const berth_progress* progress) {
  ++*(int*)user;
  CHECK(progress->bound >= 0 && progress->seconds > 0);
  return 1;
}

/* A table that takes exact search a long time: pairs of sizes that do not fit together. */
static void fill_hard(size_t count, int64_t* start, int64_t* end, int64_t* size) {
  uint64_t state = 12345;
  size_t i;
  for (i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    start[i] = (int64_t)((state >> 33) % 200);
    state = state * 6364136223846793005u + 1442695040888963407u;
    end[i] = start[i] + 1 + (int64_t)((state >> 33) % 60);
    state = state * 6364136223846793005u + 1442695040888963407u;
    size[i] = 1 + (int64_t)((state >> 33) % 100003);
  }
}

static void test_cancel(void) {
  enum { kCount = 400 };
  int64_t start[kCount], end[kCount], size[kCount], offsets[kCount];
  berth_options* options = berth_options_new();
  berth_canceller* canceller = berth_canceller_new();
  berth_summary summary = new_summary();
  int calls = 0;
  fill_hard(kCount, start, end, size);
  WORKS(berth_options_set(options, "time_limit", "600", &error));
  WORKS(berth_options_set(options, "minimize", "on", &error));
  berth_options_set_progress(options, stop_at_once, &calls);
  WORKS(berth_place(kCount, start, end, size, NULL, options, offsets, &summary, &error));
  CHECK(summary.has_plan == 1 && summary.seconds < 300);
  if (summary.outcome != BERTH_OPTIMAL) {
    CHECK(calls >= 1 && summary.stopped == BERTH_STOP_BUDGET);
  }
  WORKS(berth_check(kCount, start, end, size, NULL, NULL, offsets, &error));
  /* Cancelled before its start. */
  berth_options_set_progress(options, NULL, NULL);
  berth_options_set_canceller(options, canceller);
  berth_cancel(canceller);
  WORKS(berth_place(kCount, start, end, size, NULL, options, offsets, &summary, &error));
  CHECK(summary.outcome != BERTH_OPTIMAL && summary.stopped == BERTH_STOP_BUDGET);
  berth_cancel(NULL);
  berth_options_free(options);
  berth_canceller_free(canceller);
}

/* How many remedies of a plan within 512 KiB change the size of elements and nothing else; -1: none of
   them fits. `bytes`: of the file, which the graph was read from; NULL: it was read from `path`. */
static int eight_bit_remedies(const char* path, const char* bytes, size_t length) {
  berth_options* options = berth_options_new();
  berth_graph* graph = NULL;
  berth_plan* plan = NULL;
  berth_advice* advice = NULL;
  berth_remedy remedy;
  int count = 0, fits = 0;
  size_t i;
  remedy.struct_size = sizeof remedy;
  if (bytes == NULL) {
    WORKS(berth_graph_read(path, NULL, &graph, &error));
  } else {
    WORKS(berth_graph_parse(bytes, length, "cells.onnx", NULL, &graph, &error));
  }
  WORKS(berth_options_set(options, "capacity", "512KiB", &error));
  WORKS(berth_options_set(options, "node_limit", "20000", &error));
  WORKS(berth_plan_graph(graph, options, &plan, &error));
  if (bytes == NULL) {
    WORKS(berth_advise_plan(plan, options, &advice, &error));
  } else {
    FAILS(berth_advise_model(plan, bytes, length / 2, options, &advice, &error), BERTH_INVALID_PLAN,
          "file that was planned");
    FAILS(berth_advise_model(plan, NULL, 1, options, &advice, &error), BERTH_INVALID_ARGUMENT,
          "NULL");
    FAILS(berth_advise_model(plan, bytes, length, options, NULL, &error), BERTH_INVALID_ARGUMENT,
          "NULL");
    WORKS(berth_advise_model(plan, bytes, length, options, &advice, &error));
  }
  for (i = 0; i < berth_advice_count(advice); ++i) {
    WORKS(berth_advice_remedy(advice, i, &remedy, &error));
    /* Only more memory is no change of the model. */
    CHECK(remedy.enlarges == (strstr(remedy.change, "--capacity") != NULL ||
                              (strstr(remedy.change, "--budget") != NULL && !remedy.fits)));
    if (strcmp(remedy.change, "--element-bytes 1") != 0) continue;
    ++count;
    if (remedy.fits) fits = 1;
  }
  berth_advice_free(advice);
  berth_plan_free(plan);
  berth_graph_free(graph);
  berth_options_free(options);
  return fits ? count : -1;
}

/* The advice is the same, whether the library reads the file or the caller has read it. */
static void test_advice_from_memory(const char* path, const char* bytes, size_t length) {
  CHECK(eight_bit_remedies(path, NULL, 0) == 1);
  CHECK(eight_bit_remedies(path, bytes, length) == 1);
}

static void test_model(const char* folder) {
  char path[4096];
  berth_graph* graph = NULL;
  berth_plan* plan = NULL;
  berth_sweep* sweep = NULL;
  berth_text* text = NULL;
  berth_options* options = berth_options_new();
  berth_sweep_point point;
  berth_summary summary = new_summary();
  size_t i;
  point.struct_size = sizeof point;
  snprintf(path, sizeof path, "%s/examples/cells.onnx", folder);
  WORKS(berth_graph_read(path, options, &graph, &error));
  CHECK(berth_graph_operator_count(graph) > 100);
  WORKS(berth_options_set(options, "node_limit", "20000", &error));
  WORKS(berth_options_set(options, "points", "4", &error));
  WORKS(berth_sweep_graph(graph, options, &sweep, &error));
  CHECK(berth_sweep_count(sweep) == 4);
  for (i = 0; i < berth_sweep_count(sweep); ++i) {
    WORKS(berth_sweep_at(sweep, i, &point, &error));
    CHECK(point.capacity > 0 && point.avoidable >= point.traffic_bound);
    CHECK(point.cost == -1 && point.of_run == 0 && point.cost_unit == NULL);
  }
  FAILS(berth_sweep_at(sweep, i, &point, &error), BERTH_INVALID_ARGUMENT, "point");
  WORKS(berth_sweep_to_csv(sweep, &text, &error));
  CHECK(strncmp(berth_text_data(text), "model,point,capacity", 20) == 0);
  berth_text_free(text);
  WORKS(berth_sweep_to_page(sweep, &text, &error));
  berth_text_free(text);
  berth_sweep_free(sweep);
  /* With recomputation. */
  WORKS(berth_options_set(options, "recompute", "on", &error));
  WORKS(berth_options_set(options, "points", "2", &error));
  WORKS(berth_sweep_graph(graph, options, &sweep, &error));
  CHECK(berth_sweep_count(sweep) == 2);
  WORKS(berth_sweep_at(sweep, 1, &point, &error));
  CHECK(point.traffic_bound == 0 && point.avoidable <= 0); /* Nothing is copied. */
  CHECK(point.copy_cost == 0 && point.of_run > 0 && strcmp(point.cost_unit, "bytes") == 0);
  CHECK(point.cost == -1 || (point.cost >= point.cost_bound && point.repeats > 0));
  WORKS(berth_sweep_at(sweep, 0, &point, &error));
  CHECK(point.outcome == BERTH_OPTIMAL && point.avoidable == 0);
  CHECK(point.cost == 0 && point.cost_bound == 0 && point.repeats == 0);
  WORKS(berth_sweep_to_csv(sweep, &text, &error));
  CHECK(strstr(berth_text_data(text), ",recompute_bound,run_cost,cost_unit\n") != NULL);
  berth_text_free(text);
  WORKS(berth_sweep_to_page(sweep, &text, &error));
  CHECK(strstr(berth_text_data(text), "{\"kind\":\"recomputation\"}") != NULL);
  berth_text_free(text);
  berth_sweep_free(sweep);
  WORKS(berth_options_set(options, "recompute", "off", &error));
  WORKS(berth_options_set(options, "points", "4", &error));
  WORKS(berth_plan_graph(graph, NULL, &plan, &error));
  WORKS(berth_plan_summary(plan, &summary, &error));
  CHECK(summary.outcome == BERTH_OPTIMAL);
  /* The model in the order of the plan. */
  {
    FILE* file = fopen(path, "rb");
    size_t length;
    char* bytes = (char*)malloc(1 << 24);
    berth_graph* again = NULL;
    berth_plan* other = NULL;
    CHECK(file != NULL && bytes != NULL);
    length = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    WORKS(berth_plan_to_model(plan, bytes, length, &text, &error));
    CHECK(berth_text_length(text) == length && memcmp(berth_text_data(text), bytes, length) != 0);
    WORKS(berth_graph_parse(berth_text_data(text), length, "again.onnx", NULL, &again, &error));
    WORKS(berth_options_set(options, "order", "program", &error));
    WORKS(berth_schedule_graph(again, options, &other, &error));
    WORKS(berth_plan_summary(other, &summary, &error));
    WORKS(berth_options_set(options, "order", "auto", &error));
    CHECK(summary.peak == 1474560);
    FAILS(berth_plan_to_model(other, bytes, length, &text, &error), BERTH_INVALID_PLAN,
          "file that was planned");
    FAILS(berth_plan_to_model(plan, bytes, length / 2, &text, &error), BERTH_INVALID_PLAN,
          "file that was planned");
    FAILS(berth_plan_to_model(plan, bytes, length, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
    berth_text_free(text);
    berth_plan_free(other);
    berth_graph_free(again);
    test_advice_from_memory(path, bytes, length);
    free(bytes);
  }
  berth_plan_free(plan);
  WORKS(berth_options_set(options, "budget", "MR", &error));
  FAILS(berth_sweep_graph(graph, options, &sweep, &error), BERTH_INVALID_OPTIONS, "budget");
  FAILS(berth_sweep_graph(NULL, NULL, &sweep, &error), BERTH_INVALID_ARGUMENT, "NULL");
  berth_graph_free(graph);
  FAILS(berth_graph_read("/no/such.onnx", NULL, &graph, &error), BERTH_IO, "/no/such.onnx");
  FAILS(berth_graph_parse("hello", 5, "hello.txt", NULL, &graph, &error), BERTH_PARSE, "hello.txt");
  WORKS(berth_options_set(options, "dim", "batch=2", &error));
  FAILS(berth_graph_parse("{}", 2, NULL, options, &graph, &error), BERTH_INVALID_OPTIONS, "JSON");
  berth_options_free(options);
}

/* NULL handles everywhere. */
static void test_null(void) {
  berth_text* text = NULL;
  berth_summary summary = new_summary();
  berth_error_free(NULL);
  berth_text_free(NULL);
  berth_options_free(NULL);
  berth_canceller_free(NULL);
  berth_problem_free(NULL);
  berth_graph_free(NULL);
  berth_plan_free(NULL);
  berth_advice_free(NULL);
  berth_sweep_free(NULL);
  berth_off_chip_run_free(NULL);
  CHECK(strcmp(berth_error_message(NULL), "") == 0 && berth_error_status(NULL) == BERTH_OK);
  CHECK(berth_error_subject(NULL) == BERTH_SUBJECT_NONE && berth_error_index(NULL) == BERTH_NONE);
  CHECK(strcmp(berth_text_data(NULL), "") == 0 && berth_text_length(NULL) == 0);
  CHECK(berth_problem_count(NULL) == 0 && berth_graph_tensor_count(NULL) == 0);
  CHECK(berth_graph_operator_count(NULL) == 0 && berth_graph_note_count(NULL) == 0);
  CHECK(strcmp(berth_graph_name(NULL), "") == 0 && berth_graph_open_dimension_count(NULL) == 0);
  CHECK(berth_sweep_count(NULL) == 0 && berth_advice_count(NULL) == 0);
  CHECK(berth_plan_order(NULL, NULL) == NULL && berth_plan_residencies(NULL, NULL) == NULL);
  CHECK(strcmp(berth_outcome_name((berth_outcome)99), "none") == 0);
  CHECK(strcmp(berth_stop_name((berth_stop)99), "none") == 0);
  CHECK(strcmp(berth_status_name((berth_status)99), "unknown status") == 0);
  FAILS(berth_plan_summary(NULL, &summary, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_search(NULL, BERTH_SEARCH_ORDER, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_validate(NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_to_json(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_to_csv(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_to_page(NULL, NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_to_svg(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_to_trace(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_parse_problem(NULL, "", 0, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_parse_graph(NULL, "", 0, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_graph_to_json(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_graph_validate(NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_graph_apply(NULL, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_advise_plan(NULL, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_advise_model(NULL, "x", 1, NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "plan");
  FAILS(berth_advice_remedy(NULL, 0, NULL, &error), BERTH_INVALID_ARGUMENT, "remedy");
  CHECK(berth_off_chip_run_copy_count(NULL) == 0);
  CHECK(berth_off_chip_run_operators(NULL, NULL) == NULL);
  FAILS(berth_run_off_chip(NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_off_chip_run_summary(NULL, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_off_chip_run_copy(NULL, 0, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_prove_plan(NULL, NULL, NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_sweep_at(NULL, 0, NULL, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_sweep_to_csv(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_sweep_to_page(NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_problem_to_csv(NULL, NULL, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  FAILS(berth_plan_to_model(NULL, NULL, 0, &text, &error), BERTH_INVALID_ARGUMENT, "NULL");
  CHECK(text == NULL);
}

int main(int argc, char** argv) {
  test_version();
  test_arrays();
  test_bad_arrays();
  test_options();
  TestMemories();
  TestRepack();
  test_problem();
  test_moves();
  test_scratchpad();
  test_comparison();
  test_graph();
  test_cancel();
  if (argc > 1) test_model(argv[1]);
  test_null();
  printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
