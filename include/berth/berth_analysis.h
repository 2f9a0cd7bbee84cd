/* berth/berth_analysis.h -- a part of berth/berth.h, which includes it: what else is found out about tables,
 * graphs and plans. What changed from one plan to the next; why something does not fit, and what would
 * help; sweeps over capacities; how long a run with copies off chip takes; proofs. The rules of berth/berth.h
 * hold for all of it.
 */
#ifndef BERTH_BERTH_ANALYSIS_H_
#define BERTH_BERTH_ANALYSIS_H_

#ifndef BERTH_BERTH_H_
#error "Include berth/berth.h instead: this is a part of it."
#endif

/* ---- What changed from one plan to the next --------------------------------------------------- */

typedef struct berth_diff {
  size_t struct_size;
  int64_t height_before; /* Of several memories each has its own: -1 here, as the peaks. */
  int64_t height_after;
  int64_t peak_before;
  int64_t peak_after;
  int64_t traffic_before; /* Spilled and retrieved. */
  int64_t traffic_after;
  size_t added; /* Buffers. */
  size_t removed;
  size_t grown;
  size_t shrunk;
  size_t moved;
  size_t retimed;
  size_t unchanged;
  int32_t same_order;
  /* Since version 2. Of plans for several memories; of others 1, 0 and -1. */
  int32_t same_cost_kind; /* The costs have one unit, and both are of accesses or both of a run. */
  size_t other_memory;    /* Buffers that were in another one; `moved` counts them, too. */
  size_t unplaced_before; /* Buffers that must have a place and have none. */
  size_t unplaced_after;
  int64_t cost_before;
  int64_t cost_after;
} berth_diff;
/* Two plan files, whose buffers are matched by their ids. NULL names are "before" and "after". Errors:
   PARSE; INVALID_PLAN, also where one plan is for several memories and the other for one. */
typedef struct berth_comparison berth_comparison;
BERTH_API berth_status berth_compare_plans(const char* before, size_t before_length,
                                           const char* before_name, const char* after,
                                           size_t after_length, const char* after_name,
                                           berth_comparison** comparison, berth_error** error);
/* The same, where plans in CSV are tables with the columns memory and offset, for the memories that the option
   "memory" gives; plans in JSON have their own. */
BERTH_API berth_status berth_compare_plans_in_memories(const char* before, size_t before_length,
                                                       const char* before_name, const char* after,
                                                       size_t after_length, const char* after_name,
                                                       const berth_options* options,
                                                       berth_comparison** comparison,
                                                       berth_error** error);
BERTH_API void berth_comparison_free(berth_comparison* comparison);
BERTH_API berth_status berth_comparison_summary(const berth_comparison* comparison, berth_diff* out,
                                                berth_error** error);
/* A buffer that is not as before. Texts live until the comparison is freed. */
typedef struct berth_change {
  size_t struct_size;
  const char* id;
  int32_t in_before; /* It is in the old plan; otherwise the figures of that one are 0. */
  int32_t in_after;
  int64_t start_before;
  int64_t start_after;
  int64_t end_before;
  int64_t end_after;
  int64_t size_before;
  int64_t size_after;
  int64_t offset_before;
  int64_t offset_after;
  const char* memory_before; /* Its name; "" in a plan that has one, or has not the buffer. */
  const char* memory_after;
} berth_change;
/* Those that both plans have, the ones that grew most first; then new ones and those that are gone,
   each the largest first. */
BERTH_API size_t berth_comparison_change_count(const berth_comparison* comparison);
BERTH_API berth_status berth_comparison_change(const berth_comparison* comparison, size_t index,
                                               berth_change* out, berth_error** error);
/* One of several memories, which are matched by name. */
typedef struct berth_memory_change {
  size_t struct_size;
  const char* name;
  int32_t in_before; /* The old plan has it; otherwise the figures of that one are -1. */
  int32_t in_after;
  int64_t capacity_before; /* -1: none. */
  int64_t capacity_after;
  int64_t height_before;
  int64_t height_after;
  int64_t peak_before;
  int64_t peak_after;
} berth_memory_change;
/* Those of the new plan, then those that are gone. Of plans in one memory there are none. */
BERTH_API size_t berth_comparison_memory_count(const berth_comparison* comparison);
BERTH_API berth_status berth_comparison_memory(const berth_comparison* comparison, size_t index,
                                               berth_memory_change* out, berth_error** error);
/* The buffers that were in one memory and are in another now. */
typedef struct berth_transfer {
  size_t struct_size;
  const char* from_memory; /* Names. */
  const char* to_memory;
  size_t buffers;
  int64_t bytes; /* As they are now. */
} berth_transfer;
/* From each to each, the most bytes first. */
BERTH_API size_t berth_comparison_transfer_count(const berth_comparison* comparison);
BERTH_API berth_status berth_comparison_transfer(const berth_comparison* comparison, size_t index,
                                                 berth_transfer* out, berth_error** error);
/* Both plans as an HTML file, side by side. */
BERTH_API berth_status berth_comparison_to_page(const berth_comparison* comparison,
                                                berth_text** html, berth_error** error);
/* All in one call: the summary and, if `page` is not NULL, the page. */
BERTH_API berth_status berth_diff_plans(const char* before, size_t before_length,
                                        const char* before_name, const char* after,
                                        size_t after_length, const char* after_name,
                                        berth_diff* out, berth_text** page, berth_error** error);

/* ---- Why it does not fit, and what would help ------------------------------------------------- */

typedef struct berth_conflict {
  size_t struct_size;
  berth_outcome outcome; /* BERTH_INFEASIBLE: the buffers cannot be placed together. */
  int32_t minimal;       /* Proved: without any one of them the others fit. */
  int32_t pins_collide;  /* Two pins overlap: no capacity is enough. */
  int64_t step;          /* Where most of them are live, */
  int64_t load;          /* with this many bytes. */
  int64_t capacity;      /* -1: none. */
  int64_t short_by;      /* Proved to be missing for these buffers. */
  int64_t works_with;    /* The smallest capacity known to be enough; -1: none known. */
  int64_t height_bound;  /* Proved: no less is enough. */
  int64_t nodes;
  double seconds;
} berth_conflict;
/* Why the buffers do not fit the option "capacity". `buffers` has room for `room` indices and
   receives as many as it can hold of the conflict, `count` how many there are; NULL and 0 are
   allowed. A conflict has at most as many buffers as the problem. */
BERTH_API berth_status berth_explain_problem(const berth_problem* problem,
                                             const berth_options* options, berth_conflict* out,
                                             size_t* buffers, size_t room, size_t* count,
                                             berth_error** error);

typedef struct berth_remedy {
  size_t struct_size;
  const char* title;  /* "A capacity of 146 MiB". */
  const char* detail; /* One or two sentences. */
  const char* change; /* Options, as on the command line: "--capacity 153092096"; "": none. */
  int64_t needs;      /* The memory that would then be needed; -1: not known. */
  int64_t traffic;    /* Avoidable; -1: nothing is spilled. */
  int32_t fits;       /* A plan with these changes was found that fits. */
  int32_t proved;     /* No plan with these changes needs less. */
  int32_t estimated; /* Of operators in strips, which no option makes: what a runtime would need. */
  /* Since version 2. */
  int64_t
      recompute_cost; /* Of operators that run again, as berth_recomputed has it; -1: none do. */
  /* Since version 4. */
  int32_t enlarges; /* It gives more memory, within which a plan was found. */
} berth_remedy;
/* What would lower the plan, or make it fit: each remedy was tried. `options` limit the search. Of a
   model from berth_graph_read() 8-bit elements are tried, too, if its file is still the same. */
BERTH_API berth_status berth_advise_plan(const berth_plan* plan, const berth_options* options,
                                         berth_advice** advice, berth_error** error);
/* The same for a plan of a graph from berth_graph_parse(), whose file `bytes` are: of a model 8-bit
   elements are tried, too. Errors: INVALID_ARGUMENT for a plan of a table; INVALID_PLAN for one of
   another file. Since version 4. */
BERTH_API berth_status berth_advise_model(const berth_plan* plan, const char* bytes, size_t length,
                                          const berth_options* options, berth_advice** advice,
                                          berth_error** error);
BERTH_API void berth_advice_free(berth_advice* advice);
BERTH_API size_t berth_advice_count(const berth_advice* advice);
BERTH_API berth_status berth_advice_remedy(const berth_advice* advice, size_t index,
                                           berth_remedy* out, berth_error** error);

/* ---- Traffic against the size of the memory --------------------------------------------------- */

typedef struct berth_sweep berth_sweep;
typedef struct berth_sweep_point {
  size_t struct_size;
  int64_t capacity;
  berth_outcome outcome;
  int64_t avoidable; /* Traffic of the best plan; -1: no plan. */
  int64_t spilled;
  int64_t retrieved;
  int64_t traffic_bound;
  int64_t traffic_by_sum;
  double seconds;
  /* Since version 2. With the option "recompute"; without it -1, 0 and NULL. */
  int64_t cost;       /* Of operators that run again and of copies; -1: no plan. */
  int64_t copy_cost;  /* The part of it that copies cost. */
  int64_t cost_bound; /* Proved: no plan within the capacity costs less. */
  int64_t repeats;    /* Executions after the first of each operator. */
  int64_t of_run;     /* The cost of running every operator once. */
  const char*
      cost_unit; /* Of all of these: that of the graph, or "bytes". Until the sweep is freed. */
} berth_sweep_point;
/* Plans with spills at many capacities: those of the option "budgets" ("MR,MH,256KiB"), or "points"
   of them from MP down to MR. The limits are for each point; without any, 50 seconds for all. With the
   option "recompute" the cost is minimised, not traffic; traffic_bound and traffic_by_sum are then 0.
   A plan for less memory counts for more: no point has a higher figure than one of less memory. */
BERTH_API berth_status berth_sweep_graph(const berth_graph* graph, const berth_options* options,
                                         berth_sweep** sweep, berth_error** error);
BERTH_API void berth_sweep_free(berth_sweep* sweep);
/* From the largest capacity to the smallest, or in the order of "budgets". */
BERTH_API size_t berth_sweep_count(const berth_sweep* sweep);
BERTH_API berth_status berth_sweep_at(const berth_sweep* sweep, size_t index,
                                      berth_sweep_point* out, berth_error** error);
BERTH_API berth_status berth_sweep_to_csv(const berth_sweep* sweep, berth_text** csv,
                                          berth_error** error);
BERTH_API berth_status berth_sweep_to_page(const berth_sweep* sweep, berth_text** html,
                                           berth_error** error);

/* What one memory of several is worth: the cost of the best plan where it has this capacity. Since
   version 4. */
typedef struct berth_memory_sweep berth_memory_sweep;
typedef struct berth_memory_point {
  size_t struct_size;
  int64_t capacity;
  berth_outcome outcome;
  size_t unplaced;       /* Tensors that have no place; */
  size_t unplaced_bound; /* no plan leaves fewer unplaced, */
  int64_t cost;          /* Of the plan; with "prefetch", the time of the run. */
  int64_t cost_bound;    /* and none that leaves as few costs less. */
  size_t copies;         /* Of tensors from one memory to another. */
  double seconds;        /* Wall clock. */
  const char* cost_unit; /* Until the sweep is freed. */
} berth_memory_point;
/* Plans a graph in the memories of the option "memory" for many capacities of the one called `name`,
   whose own capacity does not count: those of the option "budgets", in bytes, or "points" of them, from
   nearly nothing to the least peak found. "time_limit" is for each point, 1 second by default. A plan for
   less memory counts for more: no point costs more than one of less memory. Errors: INVALID_OPTIONS, also
   for a name that no memory has, and for "spill". */
BERTH_API berth_status berth_sweep_memory(const berth_graph* graph, const berth_options* options,
                                          const char* name, berth_memory_sweep** sweep,
                                          berth_error** error);
BERTH_API void berth_memory_sweep_free(berth_memory_sweep* sweep);
/* From the smallest capacity to the largest. */
BERTH_API size_t berth_memory_sweep_count(const berth_memory_sweep* sweep);
BERTH_API berth_status berth_memory_sweep_at(const berth_memory_sweep* sweep, size_t index,
                                             berth_memory_point* out, berth_error** error);
/* What the plan of a point takes of a memory, as the option "memory" numbers them. */
BERTH_API size_t berth_memory_sweep_memory_count(const berth_memory_sweep* sweep);
BERTH_API berth_status berth_memory_sweep_use(const berth_memory_sweep* sweep, size_t index,
                                              size_t memory, berth_memory* out,
                                              berth_error** error);
/* The same rows and page as `berth sweep --memory` writes. */
BERTH_API berth_status berth_memory_sweep_to_csv(const berth_memory_sweep* sweep, berth_text** csv,
                                                 berth_error** error);
BERTH_API berth_status berth_memory_sweep_to_page(const berth_memory_sweep* sweep,
                                                  berth_text** html, berth_error** error);

/* ---- How long a run with copies off chip takes ------------------------------------------------ */

/* The run of a plan if one channel (a DMA engine) makes the copies between the memory and the store behind
   it while operators run: of the copies that may begin, the one that an operator waits for first
   (docs/formats/device.md has more of it, and include/berth/off_chip.h the rules). Since version 5. */
typedef struct berth_off_chip_run berth_off_chip_run;
/* Times are in nanoseconds, at most 2^60 + 1; energies are in picojoules, and only that of the copied bytes:
   -1 if the link of the device has none. Traffic is that of the summary of the plan. */
typedef struct berth_off_chip_summary {
  size_t struct_size;
  int64_t time;         /* Until the last operator and the last copy have ended. */
  int64_t computing;    /* The sum of the times of the operators, */
  int64_t copying;      /* and of the copies; without any overlap the run takes both together. */
  int64_t stalled;      /* In which operators wait for copies. */
  double avoidable_pj;  /* Of what is spilled and retrieved, */
  double compulsory_pj; /* and of what is copied in any plan. */
} berth_off_chip_summary;
/* A copy of a tensor as a whole. */
typedef struct berth_off_chip_copy {
  size_t struct_size;
  size_t
      residency; /* Of berth_plan_residencies(): it begins with the copy, or is what is copied out. */
  int32_t out;   /* To the store; else back. */
  int32_t avoidable; /* Spilled or retrieved; else compulsory. */
  int64_t after;     /* It waits for the operators of all steps before this one, */
  int64_t before;    /* and that of this step for it; if it is the number of steps, none does. */
  int64_t begins;
  int64_t ends;
} berth_off_chip_copy;
/* [begins, ends). This struct never changes: arrays of it are returned. */
typedef struct berth_interval {
  int64_t begins;
  int64_t ends;
} berth_interval;
/* Of a plan of a graph whose option "device" has a link. Errors: INVALID_ARGUMENT for a plan of a table, or where
   there is no plan; INVALID_OPTIONS for a graph without such a device, and where an operator has no time in
   ns, naming it; INVALID_PLAN for a plan without offsets or in several memories. Cost: O(n log n) in
   residencies and uses. */
BERTH_API berth_status berth_run_off_chip(const berth_plan* plan, berth_off_chip_run** run,
                                          berth_error** error);
BERTH_API void berth_off_chip_run_free(berth_off_chip_run* run);
BERTH_API berth_status berth_off_chip_run_summary(const berth_off_chip_run* run,
                                                  berth_off_chip_summary* out, berth_error** error);
/* In the order in which they are made. */
BERTH_API size_t berth_off_chip_run_copy_count(const berth_off_chip_run* run);
BERTH_API berth_status berth_off_chip_run_copy(const berth_off_chip_run* run, size_t index,
                                               berth_off_chip_copy* out, berth_error** error);
/* When the operator of each step runs. NULL and 0 without steps. */
BERTH_API const berth_interval* berth_off_chip_run_operators(const berth_off_chip_run* run,
                                                             size_t* count);

/* ---- Proofs that can be checked --------------------------------------------------------------- */

/* Why there is no proof. Since version 5. */
typedef enum berth_no_proof {
  BERTH_NO_PROOF_NONE = 0,        /* There is one. */
  BERTH_NO_PROOF_BUDGET = 1,      /* Its time or its nodes ended first. */
  BERTH_NO_PROOF_INTERRUPTED = 2, /* It was cancelled. */
  BERTH_NO_PROOF_MEMORY = 3,      /* The logs would exceed 1 GiB. */
  BERTH_NO_PROOF_SIZE = 4,        /* Too many buffers meet for the only search that applies. */
  BERTH_NO_PROOF_ALGORITHM = 5    /* No search that can log its steps decides the question. */
} berth_no_proof;
/* "none", "budget", "interrupted", ... */
BERTH_API const char* berth_no_proof_name(berth_no_proof reason);
typedef struct berth_proof {
  size_t struct_size;
  berth_no_proof missing; /* Where it is, what the plan says stays true. */
  int64_t nodes;          /* Of the searches that logged their steps: 0 where a bound is enough. */
  double seconds;         /* Wall clock. */
} berth_proof;
/* Writes why the outcome of a plan is true. Of a table: why no plan fits, or that the plan fits and none is
   lower. Of a graph, where the outcome rests on a bound of all orders: why no order has a peak below the
   height of the plan, or within the capacity. What a file claims wrongly of its plan has no proof. `text`
   receives what `berth place --proof`, or `berth plan --proof`, writes (docs/algorithms/proofs.md), for
   berth-check-proof, or NULL where there is no proof; `out` may be NULL. Searches once more, unless a bound is
   enough. Options: "time_limit", "node_limit"; of a table "algorithm" ("niche" or "guided": that search
   alone), "seed"; without a limit it has twice the time of the first search, ten seconds at least. Error:
   INVALID_OPTIONS for an outcome that has nothing to prove, or does not rest on orders. Since version 5. */
BERTH_API berth_status berth_prove_plan(const berth_plan* plan, const berth_options* options,
                                        berth_proof* out, berth_text** text, berth_error** error);

#endif /* BERTH_BERTH_ANALYSIS_H_ */
