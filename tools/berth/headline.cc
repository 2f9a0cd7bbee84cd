#include "tools/berth/headline.h"

#include <algorithm>

#include "berth/bytes.h"
#include "berth/memory_io.h"
#include "berth/recompute.h"
#include "tools/berth/model.h"
#include "tools/berth/terminal.h"

namespace berth::cli {

constexpr std::size_t kName = 40;

std::string NameOfOperator(const Graph& graph, OperatorIndex op) {
  return Abridged(graph.operators[op].name, kName);
}

double ShareOfRun(const Graph& graph, std::int64_t cost) {
  double all = 0;
  for (const std::int64_t each : CostsOf(graph).of) all += static_cast<double>(each);
  return all > 0 ? static_cast<double>(cost) / all : 0;
}

namespace {

// "step 6", "steps 6 and 9", "4 times from step 6 on".
std::string WhereItRuns(const std::vector<Step>& steps) {
  if (steps.size() == 1) return "step " + FormatCount(steps[0]);
  if (steps.size() == 2) {
    return "steps " + FormatCount(steps[0]) + " and " + FormatCount(steps[1]);
  }
  return FormatCount(static_cast<std::int64_t>(steps.size())) + " times from step " +
         FormatCount(steps[0]) + " on";
}

}  // namespace

std::string RunAgainFact(const Graph& graph, const MemoryPlan& plan) {
  const std::vector<RunsAgain> again = OperatorsRunAgain(graph, plan);
  constexpr std::size_t kMostNamed = 3;
  std::string names;
  const std::size_t named = std::min(again.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) {
    names += (i == 0           ? ""
              : i + 1 == named ? " and "
                               : ", ") +
             NameOfOperator(graph, again[i].op) + " (" + WhereItRuns(again[i].steps) + ")";
  }
  return Plural(static_cast<std::int64_t>(plan.recomputed.operators), "execution") +
         (again.size() <= kMostNamed ? ", of " : "; the dearest are those of ") + names;
}

namespace {

std::string Interruption(const Planned& planned) {
  return planned.interrupted ? "Interrupted. " : "";
}

std::string NothingFound(const Planned& planned) {
  return Paint(Tone::kUnsure, Interruption(planned) + (planned.interrupted ? "No" : "Gave up: no") +
                                  " plan that fits was found, nor a proof that none does.");
}

// What is known where sizes of tensors are not: a bound.
std::string UnsizedHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Bytes bytes = planned.only_ordered() ? answer.peak_bound : answer.height_bound;
  return Paint(Tone::kUnsure, Interruption(planned) + "At least " + FormatBytes(bytes) + ": " +
                                  UnsizedClause(answer.unsized, answer.tensors) + ".") +
         OpenDimensionsLine(*planned.model, planned.command);
}

// "The same requests fit into 6.53 GiB, and no plan is lower; PyTorch reserved 6.74 GiB." `bytes` are
// those of another plan, 0 if they are not known; `other` says whose: "PyTorch reserved". `of`: "Pool 1
// of 3: ", if there are others. `exact`:
// the problem asks for no more than that plan had to place, so that what is proved holds for it, too.
std::string ComparingHeadline(const Planned& planned, const std::string& what,
                              const std::string& other, Bytes bytes, bool exact,
                              const std::string& of = "") {
  const PlanAnswer& answer = planned.answer;
  const bool proved = answer.outcome == Outcome::kOptimal && exact;
  const auto shown = FormatBytesApart({answer.best->height(), bytes});
  return Paint(proved ? Tone::kGood : Tone::kUnsure,
               Interruption(planned) + of + (of.empty() ? "The same " : "the same ") + what +
                   " fit into " + shown[0] +
                   (proved ? ", and no plan is lower" : "; a lower plan may exist") +
                   (bytes > 0 ? "; " + other + " " + shown[1] : "") + ".");
}

std::string TableHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  if (answer.best && answer.fits() && !answer.capacity) {
    if (planned.given != nullptr) {
      return ComparingHeadline(planned, "buffers", planned.given->maker + " took",
                               planned.given->height.value_or(0), planned.given->exact);
    }
    if (planned.snapshot != nullptr) {
      return ComparingHeadline(planned, "requests", "PyTorch reserved",
                               planned.snapshot->chosen().most_reserved, true,
                               PoolPrefix(*planned.snapshot));
    }
  }
  switch (answer.outcome) {
    case Outcome::kOptimal:
      return Paint(Tone::kGood,
                   answer.capacity ? "Fits, and no plan is lower." : "No plan is lower.");
    case Outcome::kFeasible:
      if (answer.capacity) return Paint(Tone::kGood, Interruption(planned) + "Fits.");
      return Paint(Tone::kUnsure, Interruption(planned) + "Placed; a lower plan may exist.");
    case Outcome::kInfeasible:
      if (planned.collision) return Paint(Tone::kBad, "There is no plan: pins collide.");
      return Paint(Tone::kBad, "Does not fit: proved that no plan does.");
    case Outcome::kUnknown:
      break;
  }
  return NothingFound(planned);
}

std::string OrderHeadline(const Planned& planned) {
  return planned.answer.outcome == Outcome::kOptimal
             ? Paint(Tone::kGood, "No order has a lower peak.")
             : Paint(Tone::kUnsure,
                     Interruption(planned) + "Ordered; an order with a lower peak may exist.");
}

std::string GraphHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  switch (answer.outcome) {
    case Outcome::kOptimal:
      if (answer.tensors == 0) {
        return Paint(Tone::kGood, "Planned in 0 B: the model has no tensor to plan.");
      }
      return Paint(Tone::kGood, (answer.capacity ? "Fits in " : "Planned in ") +
                                    FormatBytes(answer.best->height()) +
                                    ": proved that no order and no placement needs less.");
    case Outcome::kFeasible: {
      const std::string in = Interruption(planned) +
                             (answer.capacity ? "Fits in " : "Planned in ") +
                             FormatBytes(answer.best->height());
      if (answer.capacity) return Paint(Tone::kGood, in + ".");
      const bool order_known = answer.best->peak() == answer.peak_bound;
      return Paint(
          Tone::kUnsure,
          in + (order_known ? "; no order has a lower peak, but a lower placement may exist."
                            : "; a better plan may exist."));
    }
    case Outcome::kInfeasible:
      return Paint(Tone::kBad, "Does not fit: proved that no order does.");
    case Outcome::kUnknown:
      break;
  }
  return NothingFound(planned);
}

std::string SpillHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  if (answer.outcome == Outcome::kInfeasible) {
    return Paint(Tone::kBad, "Does not fit: operator " +
                                 NameOfOperator(planned.model->graph, answer.least.op) +
                                 " alone needs " + FormatBytes(answer.least.bytes) + ", " +
                                 FormatBytesExactly(answer.least.bytes - *answer.capacity) +
                                 " more than there is.");
  }
  if (!planned.placed()) {
    return Paint(Tone::kUnsure,
                 Interruption(planned) + "Gave up: no plan with addresses was found.");
  }
  const Bytes traffic = answer.best->traffic.avoidable();
  const bool proved = answer.outcome == Outcome::kOptimal;
  if (traffic == 0) {
    return Paint(Tone::kGood, Interruption(planned) + "Fits: nothing has to be spilled.");
  }
  return Paint(proved ? Tone::kGood : Tone::kUnsure,
               Interruption(planned) + FormatBytes(traffic) + " of avoidable traffic" +
                   (!proved ? "; less may be possible."
                    : answer.fixed_order
                        ? ": proved the least in " + std::string(planned.provenance.options.order
                                                                     ? "the given order."
                                                                     : "program order.")
                        : ": proved the least of any plan."));
}

// "12 operators run again", or "7 operators run again, in all 12 times".
std::string RunAgain(const Graph& graph, const MemoryPlan& plan) {
  std::vector<int> runs(graph.operators.size(), 0);
  for (const OperatorIndex v : plan.order) ++runs[v];
  const auto count = std::count_if(runs.begin(), runs.end(), [](int n) { return n > 1; });
  const auto times = static_cast<std::int64_t>(plan.recomputed.operators);
  return Plural(count, "operator") + (count == 1 ? " runs again" : " run again") +
         (times > count ? ", in all " + FormatCount(times) + " times," : "");
}

// Which plans a proof of the cost is about.
std::string AmongPlans(const Planned& planned) {
  const std::string order =
      planned.provenance.options.order ? "in the given order" : "in program order";
  if (planned.answer.spills) return planned.answer.fixed_order ? order : "";
  return planned.answer.fixed_order ? "without spills " + order : "without spills";
}

// Of a plan in which tensors are made again or copied, whichever takes less time.
std::string JointHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.model->graph;
  const MemoryPlan& plan = *answer.best;
  const std::string fits = Interruption(planned) + "Fits " + FormatBytes(*answer.capacity) + ": ";
  const Bytes copied = plan.traffic.avoidable();
  if (plan.recomputed.operators == 0 && copied == 0) {
    return Paint(Tone::kGood, fits + "no operator has to run again, and nothing is copied.");
  }
  const bool proved = answer.outcome == Outcome::kOptimal;
  const std::string again =
      plan.recomputed.operators == 0 ? "no operator runs again" : RunAgain(graph, plan);
  const std::string copies =
      copied == 0 ? "nothing is copied" : FormatBytes(copied) + " are copied";
  const std::string among = AmongPlans(planned);
  std::string proof = ": proved the least of any plan" + (among.empty() ? "" : " " + among) + ".";
  if (!proved && answer.recompute_bound > 0) {
    proof = " (proved: at least " +
            FormatPercentFinely(ShareOfRun(graph, answer.recompute_bound), /*down=*/true) +
            (among.empty() ? "" : " " + among) + ").";
  } else if (!proved) {
    proof = "; less may be possible.";
  }
  return Paint(proved ? Tone::kGood : Tone::kUnsure,
               fits + again + " and " + copies + ", together " +
                   FormatPercentFinely(ShareOfRun(graph, plan.overhead())) +
                   " of the time of one run" + proof);
}

std::string RecomputeHeadline(const Planned& planned) {
  const PlanAnswer& answer = planned.answer;
  const Graph& graph = planned.model->graph;
  if (answer.outcome == Outcome::kInfeasible) {
    if (answer.least.bytes > *answer.capacity && graph.operators.empty()) {
      return Paint(Tone::kBad, "Does not fit: the parameters need " +
                                   FormatBytes(answer.least.bytes) + ", " +
                                   FormatBytesExactly(answer.least.bytes - *answer.capacity) +
                                   " more than there is.");
    }
    if (answer.least.bytes > *answer.capacity) {
      return Paint(
          Tone::kBad,
          "Does not fit: operator " + NameOfOperator(graph, answer.least.op) +
              (planned.counting().parameters ? " and the parameters need " : " alone needs ") +
              FormatBytes(answer.least.bytes) + ", " +
              FormatBytesExactly(answer.least.bytes - *answer.capacity) + " more than there is.");
    }
    return Paint(Tone::kBad, "Does not fit: proved that " + FormatBytes(*answer.capacity) +
                                 " are too little for every plan " + AmongPlans(planned) + ".");
  }
  if (!planned.placed()) return NothingFound(planned);
  if (answer.spills) return JointHeadline(planned);
  const Recomputed& again = answer.best->recomputed;
  const std::string fits = Interruption(planned) + "Fits " + FormatBytes(*answer.capacity) + ": ";
  if (again.operators == 0) return Paint(Tone::kGood, fits + "no operator has to run again.");
  const bool proved = answer.outcome == Outcome::kOptimal;
  const double share = ShareOfRun(graph, again.cost);
  const std::string cost = again.cost == 0
                               ? " at no cost"
                               : " at " + FormatPercentFinely(share) + " of the cost of one run";
  std::string proof = ": proved the least of any plan " + AmongPlans(planned) + ".";
  if (!proved && answer.recompute_bound > 0) {
    proof = " (proved: at least " +
            FormatPercentFinely(ShareOfRun(graph, answer.recompute_bound), /*down=*/true) + " " +
            AmongPlans(planned) + ").";
  } else if (!proved) {
    proof = "; less may be possible.";
  } else if (again.cost == 0) {
    proof = ".";
  }
  return Paint(proved ? Tone::kGood : Tone::kUnsure,
               fits + RunAgain(graph, *answer.best) + cost + proof);
}

}  // namespace

std::string Headline(const Planned& planned) {
  if (planned.model == nullptr) return TableHeadline(planned);
  const PlanAnswer& answer = planned.answer;
  if (planned.sizes_missing() && answer.outcome == Outcome::kUnknown) {
    return UnsizedHeadline(planned);
  }
  if (planned.only_ordered() && answer.outcome == Outcome::kUnknown) return NothingFound(planned);
  std::string text = answer.recomputes        ? RecomputeHeadline(planned)
                     : answer.spills          ? SpillHeadline(planned)
                     : planned.only_ordered() ? OrderHeadline(planned)
                                              : GraphHeadline(planned);
  if (answer.unsized == 0) return text;
  return text + " " + UnsizedClause(answer.unsized, answer.tensors) +
         (planned.counting().unsized_as_zero ? " and count as 0 bytes." : ".");
}

}  // namespace berth::cli
