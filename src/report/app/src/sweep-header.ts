// The top of the page of a sweep: the result in figures.
import { h, named } from "./dom";
import { bytes, difference, duration, grouped, percent, percentFinely } from "./format";
import { type Tone, amount, figure, top } from "./parts";
import type { Summary, Sweep } from "./sweep";

const count = (n: number, what: string) =>
  h("b", { "data-figure": what, "data-value": String(n) }, grouped(n));

export function sweepHeader(sweep: Sweep): HTMLElement {
  const all = Array.from({ length: sweep.n }, (_, i) => i);
  const s = sweep.summary(all);
  const parts: [number, string][] = [
    [s.proved, "proved"],
    [s.unproved, "not proved"],
    [s.unknown, "without a plan"],
    [s.infeasible, "too small"],
  ];
  const outcomes = parts.filter(([n]) => n).map(([n, what]) => `${grouped(n)} ${what}`);
  const seconds = { "data-figure": "seconds", "data-value": String(s.seconds) };
  const figures = [
    ...(sweep.many
      ? [figure("Models", count(sweep.curves.length, "models"))]
      : modelFigures(sweep, s)),
    figure("Points", count(sweep.n, "points"), outcomes.join(", ")),
    figure("Search", h("b", seconds, duration(s.seconds)), "all points together"),
  ];
  const title = sweep.many
    ? `${grouped(sweep.curves.length)} models`
    : named(sweep.curves[0]?.model ?? "nothing", 80);
  if (!sweep.n) return top("sweep", [title], "unsure", ["No points"], figures);
  const [tone, sign, text] = verdict(sweep, s);
  const mark = h("span", { "aria-hidden": "true" }, sign);
  return top("sweep", [title], tone, [mark, text], figures);
}

function verdict(sweep: Sweep, s: Summary): [Tone, string, string] {
  const decided = s.proved + s.infeasible;
  if (decided < sweep.n) {
    return ["unsure", "≈", `${grouped(decided)} of ${grouped(sweep.n)} points proved`];
  }
  const { inBytes, memories, name } = sweep.quantity;
  const less = inBytes ? "has less traffic" : memories?.prefetch ? "is shorter" : "costs less";
  const text = s.infeasible
    ? `Every point proved: least ${name}${sweep.orders}, or no plan exists`
    : `Every point proved: no plan${sweep.orders} ${less}`;
  return ["good", "✓", text];
}

/** Of a sweep of one model. */
function modelFigures(sweep: Sweep, s: Summary): HTMLElement[] {
  if (sweep.quantity.memories) return costFigures(sweep, s);
  const figures: HTMLElement[] = [];
  if (s.free >= 0) {
    const capacity = amount(sweep.value(s.free, "capacity"), "free");
    figures.push(figure(sweep.quantity.freeFrom, capacity, "smallest such point"));
  }
  if (s.smallest >= 0) {
    const capacity = amount(sweep.value(s.smallest, "capacity"), "smallest");
    const worth =
      sweep.value(s.smallest, "outcome") === "optimal"
        ? sweep.outcome(s.smallest)
        : `at least ${sweep.show(sweep.proved(s.smallest), s.smallest, true)}`;
    figures.push(
      figure("Smallest that works", capacity, "smallest point with a plan"),
      sweep.quantity.recomputation
        ? figure("Cost there", shareOfRun(sweep, s.smallest), `of one run; ${worth}`)
        : figure("Traffic there", amount(sweep.figure(s.smallest)!, "traffic"), worth),
    );
  }
  if (s.tooSmall >= 0) {
    const capacity = sweep.value(s.tooSmall, "capacity");
    const { least } = sweep.curves[0]!;
    const why = least !== null && Number(capacity) < Number(least) ? sweep.blame(0) : null;
    figures.push(figure("Too small", amount(capacity, "too_small"), why));
  }
  return figures;
}

/** The cost of a point, of one run of its model; exactly too. */
function shareOfRun(sweep: Sweep, i: number): HTMLElement {
  const value = sweep.figure(i)!;
  return h(
    "span",
    { class: "amount", "data-value": String(value), "data-figure": "cost" },
    h("b", {}, percentFinely(value, sweep.of(i).costs!.run)),
    h("small", {}, sweep.inUnit(value, i)),
  );
}

/** Of a sweep of one memory of several: what the least and the most of it give. */
function costFigures(sweep: Sweep, s: Summary): HTMLElement[] {
  const { quantity } = sweep;
  const points = sweep.sorted[0]!.filter((i) => !Number.isNaN(sweep.traffic[i]!));
  const [first, last] = [points[0], points.at(-1)];
  const memory = figure("Swept memory", h("b", {}, quantity.memory), "its capacity");
  if (first === undefined || last === undefined) return [memory];
  const shown = (i: number) => {
    const value = sweep.value(i, "avoidable")!;
    return h("b", { "data-value": String(value) }, sweep.show(value, i));
  };
  const saved = difference(sweep.value(first, "avoidable")!, sweep.value(last, "avoidable")!);
  // From here on more of it saves nothing that was found.
  const enough = points.find((i) => sweep.traffic[i] === sweep.traffic[last])!;
  const share = percent(saved, sweep.value(first, "avoidable")!);
  return [
    memory,
    figure(`With ${bytes(sweep.value(first, "capacity"))}`, shown(first), sweep.outcome(first)),
    figure(
      `With ${bytes(sweep.value(last, "capacity"))}`,
      shown(last),
      Number(saved) > 0 ? `${share} less` : "no less",
    ),
    figure("More saves nothing from", amount(sweep.value(enough, "capacity"), "enough"), null),
    ...(s.tooSmall >= 0
      ? [figure("Too small", amount(sweep.value(s.tooSmall, "capacity"), "too_small"), null)]
      : []),
  ];
}
