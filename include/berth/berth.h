/* berth/berth.h -- Berth from C, and from every language that can call C.
 *
 * Place buffers with known lifetimes:
 *
 *   const int64_t start[] = {0, 3, 2}, end[] = {3, 5, 4}, size[] = {4096, 4096, 2048};
 *   int64_t offsets[3];
 *   berth_summary summary;
 *   summary.struct_size = sizeof summary;
 *   if (berth_place(3, start, end, size, NULL, NULL, offsets, &summary, NULL) == BERTH_OK &&
 *       summary.outcome == BERTH_OPTIMAL) use(offsets, summary.height);
 *
 * Plan a model within a memory that is too small for it:
 *
 *   berth_options* options = berth_options_new();
 *   berth_options_set(options, "budget", "512KiB", NULL);
 *   berth_options_set(options, "time_limit", "10", NULL);
 *   berth_graph* graph = NULL;
 *   berth_plan* plan = NULL;
 *   berth_error* error = NULL;
 *   if (berth_graph_read("model.onnx", options, &graph, &error) == BERTH_OK &&
 *       berth_plan_graph(graph, options, &plan, &error) == BERTH_OK) use(plan);
 *   else complain(berth_error_message(error));
 *
 * The rules that hold for every function:
 *
 *  1. Whether a call worked is its berth_status. What a search found out is data: berth_outcome.
 *     "Does not fit" and "not known" are outcomes, with BERTH_OK.
 *  2. The last argument of a call that can fail is a berth_error**, which may be NULL. If the call
 *     fails, it receives an error to be freed; otherwise it receives NULL. Other results are written
 *     only if the call succeeds.
 *  3. Nothing is printed, nothing is thrown, nothing ends the process. A fault of Berth itself is
 *     BERTH_INTERNAL, and a lack of memory is BERTH_OUT_OF_MEMORY; all handles stay valid.
 *  4. What a `_new`, `_read`, `_parse`, `_to_...` or other function creates, the caller frees with
 *     the `_free` of its type. NULL may be freed. Handles may be freed in any order: a plan keeps
 *     what it needs of its graph.
 *  5. Pointers that an accessor returns belong to the handle and stay valid until it is changed or
 *     freed. Texts are UTF-8 and end with a 0 byte, unless a length is given.
 *  6. Bytes and steps are int64_t, from 0 to 2^60 and from -2^60 to 2^60. Counts and indices are
 *     size_t. A field that has no value is -1, an index BERTH_NONE; flags are 0 or 1.
 *  7. Lifetimes are half-open: a buffer is live at the steps from `start` to `end` - 1. For arrays
 *     whose ends are live steps themselves, set the option "endpoints" to "inclusive".
 *  8. A struct that the caller passes begins with its size: set `struct_size` to sizeof the struct
 *     before the call. Later versions may append fields; they never change or remove one.
 *  9. There is no global state. Two threads may call any functions at once with different handles,
 *     and may share a handle that neither of them changes. Only berth_cancel() may be called on a
 *     handle that another thread uses.
 * 10. Equal arguments give equal plans, on every machine, unless time or cancellation ends a search.
 */
#ifndef BERTH_BERTH_H_
#define BERTH_BERTH_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BERTH_API __attribute__((visibility("default")))
#else
#define BERTH_API
#endif

/* Of this header. Programs work with every library whose berth_abi_version() is at least this and
   whose name (libberth.so.1) is the same. */
#define BERTH_ABI_VERSION 5
BERTH_API int berth_abi_version(void);
/* Of Berth: "0.1.0". */
BERTH_API const char* berth_version_string(void);

#define BERTH_NONE ((size_t)-1)

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef enum berth_status {
  BERTH_OK = 0,
  BERTH_INVALID_ARGUMENT = 1, /* NULL where there must be something, or an index out of range. */
  BERTH_INVALID_PROBLEM = 2,  /* A buffer or the capacity breaks a rule. */
  BERTH_INVALID_GRAPH = 3,    /* An operator or a tensor does. */
  BERTH_INVALID_PLAN = 4,     /* Offsets that overlap, are misaligned or do not fit; a bad order. */
  BERTH_INVALID_OPTIONS = 5,  /* An unknown option, a value out of bounds, or a contradiction. */
  BERTH_UNSUPPORTED = 6,      /* The chosen algorithm cannot honour what the problem asks for. */
  BERTH_PARSE = 7,            /* A text or file is not in the format that it should be in. */
  BERTH_IO = 8,               /* A file cannot be read. */
  BERTH_OUT_OF_MEMORY = 9,
  BERTH_INTERNAL = 10 /* A fault of Berth; the message says which invariant is broken. */
} berth_status;

/* What an error is about. */
typedef enum berth_subject {
  BERTH_SUBJECT_NONE = 0,
  BERTH_SUBJECT_BUFFER = 1,   /* The index is that of a buffer, */
  BERTH_SUBJECT_TENSOR = 2,   /* of a tensor, */
  BERTH_SUBJECT_OPERATOR = 3, /* of an operator, */
  BERTH_SUBJECT_LINE = 4      /* or the number of a line, the first being 1. */
} berth_subject;

typedef struct berth_error berth_error;
BERTH_API void berth_error_free(berth_error* error);
/* One sentence that names the file and line, or the buffer, and the value. Of NULL: "". */
BERTH_API const char* berth_error_message(const berth_error* error);
/* Of NULL: BERTH_OK. */
BERTH_API berth_status berth_error_status(const berth_error* error);
BERTH_API berth_subject berth_error_subject(const berth_error* error);
/* BERTH_NONE where there is no subject. */
BERTH_API size_t berth_error_index(const berth_error* error);
/* "invalid problem", for logs. */
BERTH_API const char* berth_status_name(berth_status status);

/* ---- Texts that functions return ------------------------------------------------------------- */

typedef struct berth_text berth_text;
BERTH_API void berth_text_free(berth_text* text);
/* Followed by a 0 byte. Of NULL: "". */
BERTH_API const char* berth_text_data(const berth_text* text);
BERTH_API size_t berth_text_length(const berth_text* text);

/* ---- What searches find out ------------------------------------------------------------------ */

typedef enum berth_outcome {
  BERTH_OPTIMAL = 0,    /* A plan that fits; proved that none is better. */
  BERTH_FEASIBLE = 1,   /* A plan that fits; a better one may exist. */
  BERTH_INFEASIBLE = 2, /* Proved: no plan fits. */
  BERTH_UNKNOWN = 3     /* Neither a plan that fits nor a proof that there is none. */
} berth_outcome;
/* "optimal", "feasible", ... */
BERTH_API const char* berth_outcome_name(berth_outcome outcome);

/* Why a search stopped. */
typedef enum berth_stop {
  BERTH_STOP_ANSWERED = 0,  /* Nothing is left to find out. */
  BERTH_STOP_BUDGET = 1,    /* By time, nodes or cancellation. */
  BERTH_STOP_EFFORT = 2,    /* There was no limit, and the default effort is spent. */
  BERTH_STOP_SIZE = 3,      /* The input is too large for exact search. */
  BERTH_STOP_ALGORITHM = 4, /* The algorithm has finished and proves nothing. */
  BERTH_STOP_UNSIZED = 5,   /* Tensors have no known size. */
  BERTH_STOP_GAP = 6        /* The plan is as near to the bound as "gap" asks for. */
} berth_stop;
/* "answered", "budget", ... */
BERTH_API const char* berth_stop_name(berth_stop stop);

/* What is known of a plan, or of the lack of one. All bounds are proved: no plan is better. */
typedef struct berth_summary {
  size_t struct_size;
  berth_outcome outcome; /* Of the whole question. */
  berth_stop stopped;
  int32_t has_plan;  /* There is a plan; without "budget" it may exceed the capacity. */
  int32_t addressed; /* The plan has offsets: it is not an order alone. */
  int64_t capacity;  /* That was asked for; -1: as few bytes as possible. */
  int64_t height;    /* The largest offset + size; -1 without a plan or offsets. */
  int64_t peak;      /* The most bytes live at one step; -1 without a plan. */
  int64_t height_bound;
  int64_t placement_bound; /* Of the heights of these lifetimes. */
  int64_t peak_bound;
  int64_t traffic_bound;      /* Of `spilled` + `retrieved`, within the capacity. */
  int64_t spilled;            /* Bytes written out to make room, */
  int64_t retrieved;          /* and brought back. */
  int64_t compulsory_in;      /* Given tensors read, once each. */
  int64_t compulsory_out;     /* Results written, once each. */
  int64_t program_order_peak; /* Of a graph whose operators run as listed. */
  int64_t least_memory;       /* Of a graph with "budget": what one operator needs (MR). */
  size_t least_operator;      /* The first such operator. */
  int64_t least_peak;         /* From this capacity on nothing has to be spilled (MP). */
  int64_t traffic_by_sum;     /* The least traffic found where bytes need only fit in sum. */
  size_t tensors;             /* Of a graph: those in the plan, */
  size_t unsized;      /* and of these, those without a known size, which count as 0 bytes. */
  int32_t spills;      /* The option "budget" was set. */
  int32_t fixed_order; /* Outcome and bounds are about one order alone. */
  int64_t nodes;       /* Of search. */
  double seconds;      /* Wall clock. */
} berth_summary;

/* One of the searches behind an answer. */
typedef enum berth_search_kind {
  BERTH_SEARCH_ORDER = 0,  /* For the order, */
  BERTH_SEARCH_SPILLS = 1, /* for what leaves the memory, */
  BERTH_SEARCH_OFFSETS = 2 /* for the offsets. */
} berth_search_kind;
typedef struct berth_search {
  size_t struct_size;
  berth_outcome outcome; /* Of this search's own question. */
  berth_stop stopped;
  const char* algorithm; /* That found the result; "" if the search did not run. */
  int64_t nodes;
  double seconds;
} berth_search;

/* A buffer or tensor in a memory at one address, at the steps from `start` to `end` - 1. This struct
   never changes: arrays of it are returned. */
typedef struct berth_residency {
  int64_t tensor; /* Index of the tensor, or of the buffer of a table. */
  int64_t start;
  int64_t end;
  int64_t offset;     /* 0 in a plan without offsets. */
  int32_t memory;     /* Index of the memory; 0 where there is only one. */
  int8_t comes_in;    /* Copied in before `start`, not made by the operator of that step. */
  int8_t written_out; /* Copied out of this memory before `end`. */
  int8_t reserved[2]; /* 0. */
} berth_residency;

/* ---- Options, progress, cancellation --------------------------------------------------------- */

/* The request: what to read and how, what to look for, and for how long. */
typedef struct berth_options berth_options;
/* All at their defaults. NULL where memory is lacking. */
BERTH_API berth_options* berth_options_new(void);
BERTH_API void berth_options_free(berth_options* options);
/* Sets one option from text: "time_limit" to "2.5", "minimize" to "on". "dim" adds a dimension each
   time. docs/howto/c.md lists all; berth_option_at() gives the same list. */
BERTH_API berth_status berth_options_set(berth_options* options, const char* name,
                                         const char* value, berth_error** error);
/* The value as text. */
BERTH_API berth_status berth_options_get(const berth_options* options, const char* name,
                                         berth_text** value, berth_error** error);
/* Plans only with this order: `count` operators of the graph, each once. 0: any order. */
BERTH_API berth_status berth_options_set_order(berth_options* options, const size_t* order,
                                               size_t count, berth_error** error);

typedef struct berth_option_info {
  size_t struct_size;
  const char* name;
  const char* default_value;
  const char* allowed;  /* "on|off", "1..256". */
  const char* sentence; /* What it does. */
} berth_option_info;
BERTH_API size_t berth_option_count(void);
BERTH_API berth_status berth_option_at(size_t index, berth_option_info* info, berth_error** error);

/* How far a search is. Units are those of what it minimises: bytes of height, peak or traffic; in
   several memories that of costs, told once everything that must be placed is. */
typedef struct berth_progress {
  int64_t best;  /* Of the best plan so far; -1: none yet. */
  int64_t bound; /* Proved: no plan has less. */
  int64_t nodes;
  double seconds; /* Since the call began. */
} berth_progress;
/* Called on the thread that called the search, about 20 times a second. A value other than 0 ends
   the search soon, with the best plan so far. It must not throw and must not use `options`. */
typedef int (*berth_progress_function)(void* user, const berth_progress* progress);
BERTH_API void berth_options_set_progress(berth_options* options, berth_progress_function function,
                                          void* user);

/* Ends searches from another thread or from a signal handler. */
typedef struct berth_canceller berth_canceller;
BERTH_API berth_canceller* berth_canceller_new(void); /* NULL where memory is lacking. */
/* Not before the searches that use it have returned. */
BERTH_API void berth_canceller_free(berth_canceller* canceller);
/* From now on, searches with these options end when the canceller says so; NULL: with none. */
BERTH_API void berth_options_set_canceller(berth_options* options, berth_canceller* canceller);
/* Ends all searches that use it, with the best plans so far; later ones end at once. */
BERTH_API void berth_cancel(berth_canceller* canceller);

/* ---- Tables of buffers ----------------------------------------------------------------------- */

/* Places `count` buffers: struct of arrays, no handles. `alignment` may be NULL (1 for each),
   `options` may be NULL. `offsets` receives `count` values if there is a plan, -1 each if there is
   none; `summary` may be NULL. The option "capacity" is the memory; without it, the least height is
   looked for. Where outcome is BERTH_INFEASIBLE or BERTH_UNKNOWN, the offsets are those of the
   lowest plan known, which exceeds the capacity.
   Errors: INVALID_PROBLEM with the buffer, INVALID_OPTIONS, UNSUPPORTED. */
BERTH_API berth_status berth_place(size_t count, const int64_t* start, const int64_t* end,
                                   const int64_t* size, const int64_t* alignment,
                                   const berth_options* options, int64_t* offsets,
                                   berth_summary* summary, berth_error** error);
/* Checks anybody's offsets for these buffers: alignment, no overlaps, the option "capacity". Error:
   INVALID_PLAN, with the buffer. Cost: O(n log n) and the overlaps in time. */
BERTH_API berth_status berth_check(size_t count, const int64_t* start, const int64_t* end,
                                   const int64_t* size, const int64_t* alignment,
                                   const berth_options* options, const int64_t* offsets,
                                   berth_error** error);

/* Buffers with pins, hints and gaps. */
typedef struct berth_problem berth_problem;
BERTH_API berth_problem* berth_problem_new(void); /* NULL where memory is lacking. */
BERTH_API void berth_problem_free(berth_problem* problem);
/* A table in CSV (docs/formats/csv.md) from a file or from memory; `name` is what errors call it.
   The option "endpoints" says what its columns mean. Also a plan that another system wrote down
   (docs/formats/recorded.md); of several, the option "problem" says which. Also a PyTorch memory
   snapshot: its pool with the most reserved memory, or that of the option "problem".
   INVALID_OPTIONS for the option that does not go with the file. */
BERTH_API berth_status berth_problem_read(const char* path, const berth_options* options,
                                          berth_problem** problem, berth_error** error);
BERTH_API berth_status berth_problem_parse(const char* bytes, size_t length, const char* name,
                                           const berth_options* options, berth_problem** problem,
                                           berth_error** error);
/* The names that the option "problem" takes for the file whose bytes are given, each followed by a 0
   byte: problems in their order, of a snapshot its pools, first the one that is read by default. Empty
   for other files, which are one problem. Cost: that of reading. Since version 4. */
BERTH_API berth_status berth_problem_names(const char* bytes, size_t length, const char* name,
                                           berth_text** names, berth_error** error);
/* Adds a buffer. `id` may be NULL: then it is the index, in decimal. `index` may be NULL. Whether
   the buffers obey the rules is checked when they are placed. */
BERTH_API berth_status berth_problem_add(berth_problem* problem, const char* id, int64_t start,
                                         int64_t end, int64_t size, int64_t alignment,
                                         size_t* index, berth_error** error);
/* Adds `count` buffers; `alignment` may be NULL. The option "endpoints" counts. */
BERTH_API berth_status berth_problem_add_arrays(berth_problem* problem, size_t count,
                                                const int64_t* start, const int64_t* end,
                                                const int64_t* size, const int64_t* alignment,
                                                const berth_options* options, berth_error** error);
/* The only offset that the buffer may have; -1: any. */
BERTH_API berth_status berth_problem_pin(berth_problem* problem, size_t buffer, int64_t offset,
                                         berth_error** error);
/* An offset to be tried first; -1: none. */
BERTH_API berth_status berth_problem_hint(berth_problem* problem, size_t buffer, int64_t offset,
                                          berth_error** error);
/* The steps [start, end) of the lifetime in which only the bytes [lower, upper) of the buffer are
   needed; with both -1, none are. Gaps are added in increasing order. */
BERTH_API berth_status berth_problem_add_gap(berth_problem* problem, size_t buffer, int64_t start,
                                             int64_t end, int64_t lower, int64_t upper,
                                             berth_error** error);

/* A copy of the problem in which each group of buffers is one buffer: they have one offset, or stand
   at fixed distances, and may share bytes: aliases, results written in place. `groups` has the group
   of each buffer, any number; BERTH_NONE: none. `distances` has each buffer's distance from the
   offset of its group in bytes, which may be negative; NULL: 0. `buffer_of` and `distance_of`, unless
   NULL, receive where each buffer is: in which buffer of the copy, and how far from its offset.
   Error: INVALID_PROBLEM, with the buffer whose alignment or pin contradicts its group. */
BERTH_API berth_status berth_problem_colocate(const berth_problem* problem, const size_t* groups,
                                              const int64_t* distances, berth_problem** colocated,
                                              size_t* buffer_of, int64_t* distance_of,
                                              berth_error** error);

typedef struct berth_buffer {
  size_t struct_size;
  const char* id;
  int64_t start;
  int64_t end;
  int64_t size;
  int64_t alignment;
  int64_t pin;  /* -1: none. */
  int64_t hint; /* -1: none. */
  size_t gaps;  /* How many. */
} berth_buffer;
typedef struct berth_gap {
  size_t struct_size;
  int64_t start;
  int64_t end;
  int64_t lower; /* -1: no byte is needed. */
  int64_t upper;
} berth_gap;
BERTH_API size_t berth_problem_count(const berth_problem* problem); /* Of buffers. */
BERTH_API berth_status berth_problem_buffer(const berth_problem* problem, size_t buffer,
                                            berth_buffer* out, berth_error** error);
BERTH_API berth_status berth_problem_gap(const berth_problem* problem, size_t buffer, size_t gap,
                                         berth_gap* out, berth_error** error);
/* As CSV; with `offsets` (one for each buffer, or NULL) also a plan. */
BERTH_API berth_status berth_problem_to_csv(const berth_problem* problem, const int64_t* offsets,
                                            berth_text** csv, berth_error** error);

/* ---- Several memories ------------------------------------------------------------------------ */

/* Memories, and where the buffers of a problem may be. Costs are whole numbers of any unit, from 0 to
   2^60. What is of buffer b in memory m stands at [b * memories + m]. */
typedef struct berth_memories {
  size_t struct_size;
  size_t memories;           /* How many; at least 1. */
  const int64_t* capacities; /* Of each memory, in bytes; -1: as large as necessary. */
  const int64_t* alignments; /* Of the offsets in each memory. NULL: 1. */
  /* Ranges that no buffer may use, five numbers each: the memory, the bytes [lower, upper), and the
     steps [start, end). */
  const int64_t* reserved;
  size_t reserved_count;
  /* Of each buffer in each memory; -1: it may not be there, BERTH_BY_USES (since version 4): what its
     uses cost there. NULL: anywhere, at what its uses cost; buffers with `places` there alone. */
  const int64_t* costs;
  /* Of each buffer if it is not placed; -1: it must be. NULL: all must be. */
  const int64_t* costs_left_out;
  /* Where each buffer was in an earlier plan; a memory of -1: nowhere. NULL: nowhere. */
  const int64_t* previous_memories;
  const int64_t* previous_offsets;
  const int64_t* move_costs; /* Of being anywhere else, without being left out. NULL: 0. */
  /* As for berth_problem_colocate(): buffers of a group are in one memory. NULL: no groups. */
  const size_t* groups;
  const int64_t* distances;
  /* Pairs of buffers that never share a byte, even at different times: two numbers each. */
  const size_t* apart;
  size_t apart_count;
  const int8_t* apart_memories; /* 1: nor are they in one memory. NULL: 0. */
  /* Since version 4. */
  const char* const* names; /* Of each memory, for errors: unique. NULL: "0", "1", ... */
  const int64_t* bases;     /* The address of the first byte of each memory. NULL: 0. */
  /* A buffer costs `read_costs` for every `read_bytes` bytes that are read, the same of those that are
     written, and `access_costs` for each access, each product rounded up. Of each memory. NULL: a cost
     of 0, and 1 byte. */
  const int64_t* read_costs;
  const int64_t* read_bytes;
  const int64_t* write_costs;
  const int64_t* write_bytes;
  const int64_t* access_costs;
  /* The uses of each buffer. NULL: 0. */
  const int64_t* bytes_read;
  const int64_t* bytes_written;
  const int64_t* accesses;
  /* Single offsets that a buffer may be at besides, four numbers each: the buffer, the memory, the
     offset, and the cost there. */
  const int64_t* places;
  size_t place_count;
} berth_memories;
/* Of berth_memories.costs. */
#define BERTH_BY_USES (-2)

/* What is known of a plan for several memories. Bounds are proved. */
typedef struct berth_memories_summary {
  size_t struct_size;
  berth_outcome outcome; /* BERTH_OPTIMAL: at the least cost. */
  berth_stop stopped;    /* Why the search stopped. */
  size_t unplaced;       /* Buffers that must be placed and are not. */
  size_t unplaced_bound; /* No plan leaves fewer unplaced, */
  int64_t cost;          /* Of the plan. */
  int64_t cost_bound;    /* and none that leaves as few costs less. */
  int64_t moved;         /* Bytes of placed buffers that are not where they were. */
  int64_t nodes;         /* Of search. */
  double seconds;        /* Wall clock. */
} berth_memories_summary;

/* Chooses a memory for each buffer, and an offset in it, at the least cost (docs/howto/several-memories.md).
   `chosen` and `offsets` receive a memory and an offset for each buffer, -1 for those that are left out;
   `summary` may be NULL. Where the outcome is BERTH_INFEASIBLE or BERTH_UNKNOWN, the plan is the one that
   leaves out the fewest buffers that must be placed, of those that were found. Pins of the problem are
   for every memory. Options: "time_limit", "node_limit".
   Errors: INVALID_PROBLEM with the buffer, INVALID_OPTIONS (also for the option "capacity"), UNSUPPORTED. */
BERTH_API berth_status berth_place_in_memories(const berth_problem* problem,
                                               const berth_memories* memories,
                                               const berth_options* options, int64_t* chosen,
                                               int64_t* offsets, berth_memories_summary* summary,
                                               berth_error** error);
/* The same, but changes an earlier plan as little as possible, so that more, or what is worth more, fits:
   for a compiler's inner loop. It begins with `previous_memories` and `previous_offsets`; buffers without a
   previous place want one. The plan is never worse than the earlier one, if that keeps the rules: fewest
   unplaced, then least cost, then fewest bytes moved. Without a limit it ends after a fixed amount of work:
   milliseconds for some hundred buffers if all find places, seconds if many are left out. In an inner loop
   set "time_limit", such as to "0.01": the answer is then the best plan so far.
   berth_place_in_memories() proves more, if there is time. All arguments, results and errors are as there;
   UNSUPPORTED also for more than 60 memories. Options, besides those: "most_moved", a limit on `moved` in
   bytes, "exchange", "place_nodes". Since version 3. */
BERTH_API berth_status berth_repack(const berth_problem* problem, const berth_memories* memories,
                                    const berth_options* options, int64_t* chosen, int64_t* offsets,
                                    berth_memories_summary* summary, berth_error** error);

/* What keeps a buffer from a memory in which it would cost less. */
typedef enum berth_obstacle {
  BERTH_OBSTACLE_MEMORY = 0, /* The memory has no place for it even if it has nothing else. */
  BERTH_OBSTACLE_BYTES = 1,  /* At a step of its lifetime fewer bytes are free than it needs. */
  BERTH_OBSTACLE_PLACES = 2, /* Enough are free at each step, but nowhere the same ones. */
  BERTH_OBSTACLE_NOTHING = 3 /* Nothing: the plan is not the best. */
} berth_obstacle;
/* "memory", "bytes", ... */
BERTH_API const char* berth_obstacle_name(berth_obstacle obstacle);
/* A buffer, or several that stand together, and a memory in which it would cost less. Since version 4. */
typedef struct berth_displaced {
  size_t struct_size;
  const size_t* buffers; /* Of a plan of a graph, tensors. Lists live until the handle is freed. */
  size_t buffer_count;
  int64_t start; /* It is live at the steps from `start` to `end` - 1; of several, the first one. */
  int64_t end;
  size_t memory;  /* Where it is; BERTH_NONE: nowhere. */
  size_t cheaper; /* Where it would cost less. */
  int64_t cost;   /* What it costs; 0 if it must be placed and is not. */
  int64_t least;  /* What it would cost there. */
  int32_t must;   /* It must be placed and is not. */
  berth_obstacle obstacle;
  /* The step at which the fewest bytes of the cheaper memory are left for it, as that is now. Not where
     the memory is the obstacle, nor where it has no capacity. */
  int32_t has_step;
  int64_t step;
  int64_t free;   /* How many are left, */
  int64_t needed; /* and how many it needs. */
  int64_t offset; /* Where in the cheaper memory what is in the way saves the least; -1: nowhere. */
  const size_t* in_the_way;
  size_t in_the_way_count;
  int64_t saved; /* What these save where they are; -1: one of them may be in no other memory. */
} berth_displaced;
typedef struct berth_displacements berth_displacements;
/* Why buffers are not in the memory in which they would cost the least: an entry for each buffer and each
   memory in which it would cost less, those that must be placed first, then those that would save the
   most; at most `most`. `chosen` and `offsets` are those of a plan, as berth_place_in_memories() gives
   them. Errors: INVALID_PROBLEM with the buffer; INVALID_PLAN for places that break a rule. */
BERTH_API berth_status berth_find_displaced(const berth_problem* problem,
                                            const berth_memories* memories, const int64_t* chosen,
                                            const int64_t* offsets, size_t most,
                                            berth_displacements** found, berth_error** error);
BERTH_API void berth_displacements_free(berth_displacements* found);
BERTH_API size_t berth_displacements_count(const berth_displacements* found);
BERTH_API berth_status berth_displacements_at(const berth_displacements* found, size_t index,
                                              berth_displaced* out, berth_error** error);

/* ---- Graphs of operators --------------------------------------------------------------------- */

typedef enum berth_tensor_kind {
  BERTH_ACTIVATION = 0, /* Made by an operator. */
  BERTH_GRADIENT = 1,   /* The same, in a training step. */
  BERTH_INPUT = 2,      /* Given for each run. Planned only with the option "count". */
  BERTH_PARAMETER = 3,  /* A weight. Planned only with the option "count". */
  BERTH_CONSTANT = 4    /* Like a parameter. */
} berth_tensor_kind;

typedef struct berth_graph berth_graph;
/* An ONNX or TensorFlow Lite model, or a graph in JSON (docs/formats/graph.md); a file is mapped,
   and its weights are not read. Options: "dim", "dim_default", "element_bytes", "alignment", "fuse", "in_place". */
BERTH_API berth_status berth_graph_read(const char* path, const berth_options* options,
                                        berth_graph** graph, berth_error** error);
BERTH_API berth_status berth_graph_parse(const char* bytes, size_t length, const char* name,
                                         const berth_options* options, berth_graph** graph,
                                         berth_error** error);
BERTH_API berth_graph* berth_graph_new(const char* name); /* NULL where memory is lacking. */
BERTH_API void berth_graph_free(berth_graph* graph);
/* Adds a tensor. Names are unique among tensors. `alignment` is that of the offset, at least 1.
   `alias_of`: the tensor whose bytes this one views; BERTH_NONE: it has its own. `is_output`: its
   bytes are live to the end. `index` may be NULL. The rules of a graph (include/berth/graph.h) are
   checked when it is planned, or by berth_graph_validate(). */
BERTH_API berth_status berth_graph_add_tensor(berth_graph* graph, const char* name,
                                              berth_tensor_kind kind, int64_t bytes,
                                              int64_t alignment, size_t alias_of, int is_output,
                                              size_t* index, berth_error** error);
/* For people: "float32", "1x64x56x56"; NULL leaves it empty. */
BERTH_API berth_status berth_graph_describe_tensor(berth_graph* graph, size_t tensor,
                                                   const char* dtype, const char* shape,
                                                   berth_error** error);
/* Adds an operator; the order of these calls is program order. `type` may be NULL. */
BERTH_API berth_status berth_graph_add_operator(berth_graph* graph, const char* name,
                                                const char* type, const size_t* inputs,
                                                size_t input_count, const size_t* outputs,
                                                size_t output_count, size_t* index,
                                                berth_error** error);
/* The operator writes `tensor`, which is not a view, in place. */
BERTH_API berth_status berth_graph_add_mutation(berth_graph* graph, size_t op, size_t tensor,
                                                berth_error** error);
/* The operator runs after `earlier`, although no tensor requires it. */
BERTH_API berth_status berth_graph_add_dependency(berth_graph* graph, size_t op, size_t earlier,
                                                  berth_error** error);
/* The operator may write `output` over the bytes of `input`: for the option "in_place" of
   berth_graph_apply(). */
BERTH_API berth_status berth_graph_add_overwrite(berth_graph* graph, size_t op, size_t input,
                                                 size_t output, berth_error** error);
/* What it costs to run the operator once, from 0 to 2^60, for the options "recompute" and "prefetch"
   (which needs nanoseconds), and the unit of all costs, such as "ns". Where no operator has a cost, it is the bytes that it reads and writes. */
BERTH_API berth_status berth_graph_set_cost(berth_graph* graph, size_t op, int64_t cost,
                                            berth_error** error);
BERTH_API berth_status berth_graph_set_cost_unit(berth_graph* graph, const char* unit,
                                                 berth_error** error);
/* Whether the operator may run again. At first that follows from its type: operators that draw random
   numbers, write what is given, communicate or keep state run once (docs/howto/recompute.md). */
typedef enum berth_repeat {
  BERTH_REPEAT_BY_TYPE = 0,
  BERTH_REPEAT_PURE = 1, /* It may. */
  BERTH_REPEAT_NEVER = 2 /* It may not. */
} berth_repeat;
BERTH_API berth_status berth_graph_set_repeat(berth_graph* graph, size_t op, berth_repeat repeat,
                                              berth_error** error);
/* A copy of the graph as the options "alignment", "device", "profile", "fuse" and "in_place" change it.
   The value of "profile" is the text of a profile (docs/formats/profile.md), not its path. Graphs that
   are read were changed already. Errors: INVALID_GRAPH; INVALID_PROBLEM where operators have costs
   already, or one has no time in the profile and there is no device. */
BERTH_API berth_status berth_graph_apply(const berth_graph* graph, const berth_options* options,
                                         berth_graph** changed, berth_error** error);
/* Error: INVALID_GRAPH, with the operator or tensor. */
BERTH_API berth_status berth_graph_validate(const berth_graph* graph, berth_error** error);

typedef struct berth_tensor {
  size_t struct_size;
  const char* name;
  berth_tensor_kind kind;
  int32_t is_output;
  int64_t bytes; /* 0 where the size is unknown. */
  int64_t alignment;
  size_t alias_of;     /* BERTH_NONE: it has bytes of its own. */
  const char* unsized; /* Why the size is unknown; "" if it is known. */
  const char* dtype;
  const char* shape;
} berth_tensor;
typedef struct berth_operator {
  size_t struct_size;
  const char* name;
  const char* type;
  const size_t* inputs; /* Tensors. */
  size_t input_count;
  const size_t* outputs;
  size_t output_count;
  const size_t* mutates;
  size_t mutate_count;
  const size_t* after; /* Operators. */
  size_t after_count;
} berth_operator;
BERTH_API const char* berth_graph_name(const berth_graph* graph);
BERTH_API size_t berth_graph_tensor_count(const berth_graph* graph);
BERTH_API size_t berth_graph_operator_count(const berth_graph* graph);
BERTH_API berth_status berth_graph_tensor(const berth_graph* graph, size_t tensor,
                                          berth_tensor* out, berth_error** error);
BERTH_API berth_status berth_graph_operator(const berth_graph* graph, size_t op,
                                            berth_operator* out, berth_error** error);
/* What a reader of plans has to know, a sentence each; NULL for an index out of range. */
BERTH_API size_t berth_graph_note_count(const berth_graph* graph);
BERTH_API const char* berth_graph_note(const berth_graph* graph, size_t index);
/* Dimensions of inputs that the model leaves open, for the option "dim". */
BERTH_API size_t berth_graph_open_dimension_count(const berth_graph* graph);
BERTH_API const char* berth_graph_open_dimension(const berth_graph* graph, size_t index);
BERTH_API berth_status berth_graph_to_json(const berth_graph* graph, berth_text** json,
                                           berth_error** error);

/* ---- Plans ----------------------------------------------------------------------------------- */

typedef struct berth_plan berth_plan;
BERTH_API void berth_plan_free(berth_plan* plan);

/* Gives every buffer its offset. Errors: as berth_place(). */
BERTH_API berth_status berth_place_problem(const berth_problem* problem,
                                           const berth_options* options, berth_plan** plan,
                                           berth_error** error);
/* Orders the operators for the least peak; the plan has no offsets. */
BERTH_API berth_status berth_schedule_graph(const berth_graph* graph, const berth_options* options,
                                            berth_plan** plan, berth_error** error);
/* An order and an offset for every tensor: as few bytes as possible, or within the option
   "capacity"; with the option "budget" instead, also what leaves the memory and comes back, for the
   least traffic, or with "recompute" as well, which operators run again, for the least cost
   (docs/howto/recompute.md): the order then lists these again, and berth_plan_recomputed() has the
   costs. With the option "memory", set once for each of several memories, also a memory for
   every tensor, for the least cost (docs/howto/several-memories.md): residencies then say the memory,
   `height` and `peak` of the summary are -1, and berth_plan_memories() has the costs. With "may_move"
   as well, tensors are copied from one memory to another where that costs less, and with "prefetch",
   which needs a time for every operator, from "device" or "profile" or the graph, while operators run:
   berth_plan_copy() has the copies. With "spill" instead, each memory is a scratchpad for the tensors
   that may be in it alone, and what does not fit is copied out and back, for the least traffic. */
BERTH_API berth_status berth_plan_graph(const berth_graph* graph, const berth_options* options,
                                        berth_plan** plan, berth_error** error);

BERTH_API berth_status berth_plan_summary(const berth_plan* plan, berth_summary* out,
                                          berth_error** error);
/* Of a plan of a graph in several memories: what it costs, and what is proved of all plans. Error:
   INVALID_ARGUMENT for any other plan. */
BERTH_API berth_status berth_plan_memories(const berth_plan* plan, berth_memories_summary* out,
                                           berth_error** error);
/* What running operators again costs. */
typedef struct berth_recomputed {
  size_t struct_size;
  size_t operators; /* Executions after the first of each operator. */
  int64_t cost;     /* Of these; 0 without a plan. */
  int64_t copies;   /* What the copies of berth_summary's traffic cost, if the device has a link. */
  int64_t bound;    /* Proved: no plan within the capacity has a lower sum of both; without a link,
                       none that copies nothing. */
  int64_t of_run;   /* The cost of running every operator once. */
  const char* unit; /* Of all of these: that of the graph, or "bytes". Until the plan is freed. */
} berth_recomputed;
/* Of a plan of a graph that was made with the option "recompute". Error: INVALID_ARGUMENT for any
   other plan. */
BERTH_API berth_status berth_plan_recomputed(const berth_plan* plan, berth_recomputed* out,
                                             berth_error** error);
/* One of several memories, and what the plan takes of it. */
typedef struct berth_memory {
  size_t struct_size;
  const char* name; /* Until the plan is freed. */
  int64_t capacity; /* In bytes; -1: as large as necessary. */
  int64_t height;   /* The largest offset + size. */
  int64_t peak;     /* The most bytes live at one step. */
} berth_memory;
/* 0 for a plan in a single memory. */
BERTH_API size_t berth_plan_memory_count(const berth_plan* plan);
BERTH_API berth_status berth_plan_memory(const berth_plan* plan, size_t index, berth_memory* out,
                                         berth_error** error);
/* A copy of a tensor from one of several memories to another (options "may_move" and "prefetch"). */
typedef struct berth_copy {
  size_t struct_size;
  size_t tensor;
  size_t from_memory; /* As berth_plan_memory() numbers them. */
  size_t to_memory;
  int64_t start; /* It begins after the operator of the step start - 1, */
  int64_t
      before; /* and has ended before that of this step begins. Both are equal with "may_move". */
  int64_t bytes;
  int64_t cost;   /* Of reading here and writing there; with "prefetch", the time that it takes. */
  int64_t begins; /* With "prefetch", in nanoseconds from the beginning of the run; otherwise -1. */
  int64_t ends;
} berth_copy;
/* By `start`, then by `before`, then by tensor. 0 for a plan in a single memory. */
BERTH_API size_t berth_plan_copy_count(const berth_plan* plan);
BERTH_API berth_status berth_plan_copy(const berth_plan* plan, size_t index, berth_copy* out,
                                       berth_error** error);
/* Where the time of a run goes, in nanoseconds: `time` is the sum of the other three. */
typedef struct berth_run {
  size_t struct_size;
  int64_t time;
  int64_t computing; /* Of operators, without accesses. */
  int64_t accessing; /* Of operators to tensors where they are. */
  int64_t stalled;   /* In which operators wait for copies. */
} berth_run;
/* Of a plan of a graph that was made with the option "prefetch". Error: INVALID_ARGUMENT for any other
   plan. */
BERTH_API berth_status berth_plan_run(const berth_plan* plan, berth_run* out, berth_error** error);
/* Of a plan of a graph in several memories: why tensors are not in the memory in which they would cost
   the least, as berth_find_displaced() says it. A tensor that is copied has no entry: without its copies
   it would be another plan. Errors: INVALID_ARGUMENT for any other plan, and one that spills. Since
   version 4. */
BERTH_API berth_status berth_plan_displaced(const berth_plan* plan, size_t most,
                                            berth_displacements** found, berth_error** error);
BERTH_API berth_status berth_plan_search(const berth_plan* plan, berth_search_kind kind,
                                         berth_search* out, berth_error** error);
/* In the order of the tensors, then of time; of a table, one for each buffer. NULL and 0 without a
   plan. */
BERTH_API const berth_residency* berth_plan_residencies(const berth_plan* plan, size_t* count);
/* The operator of each step. NULL and 0 for a table. A plan read from a file of `berth plan --recompute`
   has operators more than once: then there are more steps than operators. */
BERTH_API const size_t* berth_plan_order(const berth_plan* plan, size_t* count);
/* Checks the plan against its graph or table once more. Error: INVALID_PLAN. */
BERTH_API berth_status berth_plan_validate(const berth_plan* plan, berth_error** error);

/* Plans as files (docs/formats/plan.md): the same bytes as `berth plan -o plan.json`. */
BERTH_API berth_status berth_plan_to_json(const berth_plan* plan, berth_text** json,
                                          berth_error** error);
/* A table with a row for each residency and its offset. Error: INVALID_ARGUMENT for a plan without
   offsets. */
BERTH_API berth_status berth_plan_to_csv(const berth_plan* plan, berth_text** csv,
                                         berth_error** error);
/* One HTML file for any browser, offline, with the remedies of `advice`, which may be NULL. */
typedef struct berth_advice berth_advice;
BERTH_API berth_status berth_plan_to_page(const berth_plan* plan, const berth_advice* advice,
                                          berth_text** html, berth_error** error);
/* A picture. Error: INVALID_ARGUMENT for a plan without offsets. */
BERTH_API berth_status berth_plan_to_svg(const berth_plan* plan, berth_text** svg,
                                         berth_error** error);
/* Events for Chrome's and Perfetto's viewers. */
BERTH_API berth_status berth_plan_to_trace(const berth_plan* plan, berth_text** json,
                                           berth_error** error);
/* The model that was planned, whose file `bytes` are, with its operators in the order of the plan;
   in a TensorFlow Lite model also with its offsets, for TensorFlow Lite Micro. Nothing else in it
   changes. The result is read and checked before it is given; whether the plan fits a capacity is
   not. Errors: INVALID_ARGUMENT for a plan of anything else; INVALID_PLAN for one of another file, or
   one that moves tensors or runs operators again; INVALID_OPTIONS for options of berth_graph_read()
   that the runtime does not have, such as "dim" of a TensorFlow Lite model; UNSUPPORTED for files that
   cannot be changed. */
BERTH_API berth_status berth_plan_to_model(const berth_plan* plan, const char* bytes, size_t length,
                                           berth_text** model, berth_error** error);
/* A plan in JSON or CSV, whoever made it, for its table or its graph. The plan is checked: what does
   not hold is INVALID_PLAN. Outcome and bounds are as the file states them. INVALID_OPTIONS: the plan's
   costs come from a device or a profile, and the graph has none: berth_graph_apply() gives them. */
BERTH_API berth_status berth_plan_parse_problem(const berth_problem* problem, const char* bytes,
                                                size_t length, const char* name, berth_plan** plan,
                                                berth_error** error);
BERTH_API berth_status berth_plan_parse_graph(const berth_graph* graph, const char* bytes,
                                              size_t length, const char* name, berth_plan** plan,
                                              berth_error** error);

/* Comparisons, reasons, remedies, sweeps, runs with copies off chip, proofs. */
#include "berth/berth_analysis.h"

#ifdef __cplusplus
}
#endif

#endif /* BERTH_BERTH_H_ */
