// The points of a sweep: one in detail, and all as tables.
import type { Num } from "./data";
import { type Child, h, named, svg } from "./dom";
import {
  abridged,
  bytes,
  difference,
  duration,
  grouped,
  percent,
  percentFinely,
  visible,
} from "./format";
import { amount, facts } from "./parts";
import { OUTCOMES, type Summary, type Sweep, capital } from "./sweep";
import { type TableColumn, names, numbers } from "./table";

type Fact = [string, Child];

/** The meaning of the marks that the chart has. */
export function chartKey(sweep: Sweep): HTMLElement {
  const sample = (part: SVGElement) =>
    svg("svg", { width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": "true" }, part);
  const ink = { stroke: "currentColor", "stroke-width": 1.8 };
  const dot = (fill: string) => svg("circle", { cx: 9, cy: 6, r: 4, fill, ...ink });
  const line = (d: string) => svg("path", { d, fill: "none", ...ink });
  const area = { width: 18, height: 12, fill: "currentColor", "fill-opacity": 0.2 };
  const marks: [string | null, SVGElement, string][] = [
    ["optimal", dot("currentColor"), `proved the least${sweep.orders}`],
    ["feasible", dot("none"), "less may be possible"],
    ["unknown", line("M9 1l5 5l-5 5l-5 -5z"), "no plan found, at its bound"],
    ["infeasible", line("M5 2l8 8m0 -8l-8 8"), "does not fit"],
    [null, svg("path", { d: "M0 6H18", ...ink, "stroke-dasharray": "1 3" }), "proved lower bound"],
    [null, svg("rect", area), `where the least ${sweep.quantity.name} lies`],
  ];
  if (sweep.copiesAnything) {
    const dashed = svg("path", { d: "M0 6H18", ...ink, "stroke-dasharray": "6 3" });
    marks.push([null, dashed, "copies alone"]);
  }
  const found = new Set(sweep.curves.flatMap((curve) => curve.outcome));
  const rows = marks
    .filter(([outcome]) => outcome === null || found.has(outcome))
    .map(([, mark, text]) => h("li", {}, sample(mark), text));
  return h("ul", { class: "chart-key", "aria-label": "What the marks mean" }, ...rows);
}

export function pointDetails(
  sweep: Sweep,
  i: number,
  select: (point: number) => void,
): HTMLElement[] {
  const capacity = sweep.value(i, "capacity");
  const order = sweep.of(i).fixed_order ? " --order program" : "";
  const { memories, recomputation } = sweep.quantity;
  const own = memories ? costFacts : recomputation ? recomputeFacts : trafficFacts;
  const rows: Fact[] = [
    [memories ? `Capacity of ${sweep.quantity.memory}` : "Memory", amount(capacity)],
    ["Outcome", sweep.outcome(i)],
    ...own(sweep, i),
    ...modelFacts(sweep, sweep.curve[i]!),
    ...nextFacts(sweep, i, select),
    ["Search", duration(sweep.value(i, "seconds"))],
  ];
  const way = memories
    ? `--memory ${abridged(memories.memory, 30)}=${capacity}…`
    : `--budget ${capacity}${recomputation ? " --recompute" : ""}`;
  const command = h("code", {}, `berth plan … ${way}${order}`);
  return [
    h("h2", {}, sweep.many ? named(sweep.model(i), 120) : `In ${bytes(capacity)}`),
    h("dl", {}, ...facts(rows)),
    h("p", { class: "note" }, "To get this plan: ", command),
  ];
}

function trafficFacts(sweep: Sweep, i: number): Fact[] {
  const outcome = sweep.value(i, "outcome");
  const traffic = sweep.value(i, "avoidable");
  const bound = sweep.value(i, "traffic_bound");
  const rows: Fact[] = [];
  if (traffic !== null) {
    rows.push(
      ["Traffic", amount(traffic)],
      ["Written", bytes(sweep.value(i, "spilled"))],
      ["Read back", bytes(sweep.value(i, "retrieved"))],
    );
  }
  if (outcome !== "infeasible") rows.push(["At least", amount(bound)]);
  if (traffic === null) return rows;
  if (outcome === "feasible") {
    const gap = difference(traffic, bound);
    rows.push(["Gap", `${bytes(gap)}, ${percent(gap, traffic)} of the traffic`]);
  }
  const ideal = sweep.value(i, "traffic_by_sum");
  if (Number(traffic) > Number(ideal)) {
    const text = `${bytes(difference(traffic, ideal))} of the traffic avoid fragmentation`;
    rows.push(["For addresses", text]);
  }
  return rows;
}

/** Of a plan with recomputation: what runs again, and what is copied. */
function recomputeFacts(sweep: Sweep, i: number): Fact[] {
  const { run } = sweep.of(i).costs!;
  const worth = (value: Num, down = false) => {
    const exactly = sweep.inUnit(value, i);
    return h(
      "span",
      { class: "amount", "data-value": String(value) },
      h("b", {}, `${percentFinely(value, run, down)} of a run`),
      h("small", {}, exactly),
    );
  };
  const figure = sweep.figure(i);
  const rows: Fact[] = [];
  if (figure !== null) rows.push(["Cost", worth(figure)]);
  if (sweep.value(i, "outcome") !== "infeasible") {
    rows.push(["At least", worth(sweep.proved(i), sweep.value(i, "outcome") !== "optimal")]);
  }
  if (figure === null) return rows;
  if (sweep.value(i, "outcome") === "feasible") {
    const gap = difference(figure, sweep.proved(i));
    rows.push(["Gap", `${sweep.inUnit(gap, i)}, ${percent(gap, figure)} of the cost`]);
  }
  rows.push(["Run again", `${grouped(sweep.costs(i, "operators"))} executions`]);
  if (!sweep.copiesAnything) return rows;
  rows.push(
    ["They cost", worth(sweep.costs(i, "recomputed"))],
    ["Copies cost", worth(sweep.costs(i, "copies"))],
    ["Written", bytes(sweep.value(i, "spilled"))],
    ["Read back", bytes(sweep.value(i, "retrieved"))],
  );
  return rows;
}

/** Of a plan in several memories. */
function costFacts(sweep: Sweep, i: number): Fact[] {
  const { quantity } = sweep;
  const raw = quantity.memories!;
  const value = sweep.figure(i);
  const bound = sweep.proved(i);
  const rows: Fact[] = [];
  if (value !== null) rows.push([capital(quantity.name), h("b", {}, sweep.show(value, i))]);
  if (sweep.value(i, "outcome") !== "infeasible") rows.push(["At least", sweep.show(bound, i)]);
  if (value !== null && sweep.value(i, "outcome") === "feasible") {
    const gap = difference(value, bound);
    rows.push(["Gap", `${sweep.show(gap, i)}, ${percent(gap, value)}`]);
  }
  const heights = sweep.heights(i);
  raw.memories.forEach((name, m) => {
    if (heights[m] !== undefined) rows.push([`Used of ${abridged(name, 20)}`, bytes(heights[m])]);
  });
  if (raw.may_move) rows.push(["Copies", grouped(sweep.copies(i))]);
  return rows;
}

function modelFacts(sweep: Sweep, c: number): Fact[] {
  const { least, least_peak } = sweep.curves[c]!;
  const rows: Fact[] = [];
  const free = sweep.quantity.recomputation ? "nothing runs again" : "no spills";
  if (least !== null) rows.push(["MR", sweep.blame(c)]);
  if (least_peak !== null) rows.push(["MP", `${bytes(least_peak)}: ${free} from here on`]);
  return rows;
}

/** What the next smaller and the next larger memory with a plan would change. */
function nextFacts(sweep: Sweep, i: number, select: (point: number) => void): Fact[] {
  const plans = sweep.sorted[sweep.curve[i]!]!.filter(
    (k) => !Number.isNaN(sweep.traffic[k]!) && (k === i || sweep.capacity[k] !== sweep.capacity[i]),
  );
  const at = plans.indexOf(i);
  if (at < 0) return [];
  const step = (k: number | undefined, title: string, memory: string, sign: string): Fact[] => {
    if (k === undefined) return [];
    const [low, high] = sweep.capacity[k]! < sweep.capacity[i]! ? [k, i] : [i, k];
    const more = difference(sweep.value(high, "capacity"), sweep.value(low, "capacity"));
    const less = difference(sweep.figure(low)!, sweep.figure(high)!);
    const { quantity } = sweep;
    const amountOf = quantity.inBytes ? `${bytes(less)} of traffic` : sweep.show(less, i);
    const change = Number(less) === 0 ? `the same ${quantity.name}` : `${sign}${amountOf}`;
    const attributes = { type: "button", class: "link", onclick: () => select(k) };
    return [[title, h("button", attributes, `${bytes(more)} ${memory}: ${change}`)]];
  };
  return [
    ...step(plans[at - 1], "With less", "less", "+"),
    ...step(plans[at + 1], "With more", "more", "−"),
  ];
}

/** What each KiB more saves, up to the next larger capacity; null at the end. */
function perKiB(sweep: Sweep, i: number): Num | null {
  const points = sweep.sorted[sweep.curve[i]!]!;
  const next = points[points.indexOf(i) + 1];
  if (next === undefined) return null;
  const [now, then] = [sweep.traffic[i]!, sweep.traffic[next]!];
  const kib = (sweep.capacity[next]! - sweep.capacity[i]!) / 1024;
  return Number.isNaN(now) || Number.isNaN(then) || kib <= 0
    ? null
    : Math.trunc((now - then) / kib);
}
function costColumns(sweep: Sweep): TableColumn[] {
  const { quantity } = sweep;
  const wide = "minmax(7rem, 1fr)";
  const money = (title: string, value: (i: number) => Num | null): TableColumn => ({
    ...numbers(title, wide, value),
    text: (i) => {
      const found = value(i);
      return found === null ? "–" : sweep.show(found, i);
    },
  });
  const possible = (i: number) => sweep.value(i, "outcome") !== "infeasible";
  return [
    numbers("Capacity", wide, (i) => sweep.value(i, "capacity")),
    outcomeColumn(sweep),
    money(quantity.memories!.prefetch ? "Run" : "Cost", (i) => sweep.value(i, "avoidable")),
    money("Lower bound", (i) => (possible(i) ? sweep.value(i, "traffic_bound") : null)),
    money("Each KiB more saves", (i) => perKiB(sweep, i)),
    ...(quantity.memories!.may_move ? [numbers("Copies", "5rem", (i) => sweep.copies(i))] : []),
    timeColumn((i) => sweep.value(i, "seconds")),
  ];
}

function outcomeColumn(sweep: Sweep): TableColumn {
  return {
    ...names("Outcome", "6.5rem", 20, (i) => sweep.value(i, "outcome")),
    value: (i) => OUTCOMES.findIndex((outcome) => outcome === sweep.value(i, "outcome")),
  };
}

function recomputeColumns(sweep: Sweep): TableColumn[] {
  const wide = "minmax(7rem, 1fr)";
  const planned = (i: number) => sweep.figure(i) !== null;
  const share = (
    title: string,
    down: boolean,
    value: (i: number) => Num | null,
    place: (i: number) => number,
  ): TableColumn => ({
    title,
    width: "6rem",
    number: true,
    text: (i) => {
      const found = value(i);
      if (found === null) return "–";
      const proved = sweep.value(i, "outcome") === "optimal";
      return percentFinely(found, sweep.of(i).costs!.run, down && !proved);
    },
    value: (i) => (value(i) === null ? -1 : place(i)),
  });
  const cost = (title: string, value: (i: number) => Num | null): TableColumn => ({
    ...numbers(title, wide, value),
    text: (i) => {
      const found = value(i);
      return found === null ? "–" : sweep.inUnit(found, i);
    },
  });
  const known =
    <T>(of: (i: number) => T) =>
    (i: number) =>
      planned(i) ? of(i) : null;
  return [
    ...(sweep.many ? [names("Model", "minmax(9rem, 2fr)", 60, (i) => sweep.model(i))] : []),
    numbers("Memory", wide, (i) => sweep.value(i, "capacity")),
    outcomeColumn(sweep),
    share(
      "Of a run",
      false,
      (i) => sweep.figure(i),
      (i) => sweep.traffic[i]!,
    ),
    share(
      "At least",
      true,
      (i) => (sweep.value(i, "outcome") === "infeasible" ? null : sweep.proved(i)),
      (i) => sweep.bound[i]!,
    ),
    numbers(
      "Runs again",
      "6rem",
      known((i) => sweep.costs(i, "operators")),
    ),
    cost("Cost", (i) => sweep.figure(i)),
    ...(sweep.copiesAnything
      ? [
          cost(
            "Of copies",
            known((i) => sweep.costs(i, "copies")),
          ),
          numbers("Off-chip bytes", wide, (i) => sweep.value(i, "avoidable")),
        ]
      : []),
    timeColumn((i) => sweep.value(i, "seconds")),
  ];
}

export function pointColumns(sweep: Sweep): TableColumn[] {
  if (sweep.quantity.memories) return costColumns(sweep);
  if (sweep.quantity.recomputation) return recomputeColumns(sweep);
  type Key =
    "capacity" | "avoidable" | "spilled" | "retrieved" | "traffic_bound" | "traffic_by_sum";
  const planned = (i: number) => sweep.value(i, "avoidable") !== null;
  const possible = (i: number) => sweep.value(i, "outcome") !== "infeasible";
  const column = (title: string, key: Key, known: (i: number) => boolean, least = "7rem") =>
    numbers(title, `minmax(${least}, 1fr)`, (i) => (known(i) ? sweep.value(i, key) : null));
  const gap = (i: number): Num | null => (planned(i) ? sweep.gap(i) : null);
  return [
    ...(sweep.many ? [names("Model", "minmax(9rem, 2fr)", 60, (i) => sweep.model(i))] : []),
    column("Memory", "capacity", () => true),
    outcomeColumn(sweep),
    column("Off-chip bytes", "avoidable", planned),
    column("Written", "spilled", planned),
    column("Read back", "retrieved", planned),
    column("Lower bound", "traffic_bound", possible),
    {
      ...numbers("Gap", "5rem", gap),
      text: (i) => {
        if (!planned(i)) return "–";
        if (sweep.value(i, "outcome") === "optimal") return "0 %";
        const traffic = sweep.value(i, "avoidable")!;
        return percent(difference(traffic, sweep.value(i, "traffic_bound")), traffic);
      },
    },
    column("Without addresses", "traffic_by_sum", planned, "9rem"),
    timeColumn((i) => sweep.value(i, "seconds")),
  ];
}
function timeColumn(seconds: (row: number) => number): TableColumn {
  return { ...numbers("Time", "6rem", seconds), text: (row) => duration(seconds(row)) };
}

export function modelColumns(sweep: Sweep, summaries: Summary[]): TableColumn[] {
  type Key = "free" | "smallest" | "tooSmall";
  const wide = "minmax(8rem, 1fr)";
  const column = (title: string, point: Key) =>
    numbers(title, wide, (c) => {
      const i = summaries[c]![point];
      return i < 0 ? null : sweep.value(i, "capacity");
    });
  const { recomputation, freeFrom, name } = sweep.quantity;
  const smallest = (c: number) => summaries[c]!.smallest;
  const there: TableColumn = numbers(`${capital(name)} there`, wide, (c) =>
    smallest(c) < 0 ? null : sweep.figure(smallest(c)),
  );
  if (recomputation) {
    there.text = (c) =>
      smallest(c) < 0 ? "–" : sweep.show(sweep.figure(smallest(c))!, smallest(c));
    there.value = (c) => (smallest(c) < 0 ? -1 : sweep.traffic[smallest(c)]!);
  }
  const proved = (c: number) => summaries[c]!.proved + summaries[c]!.infeasible;
  return [
    names("Model", "minmax(9rem, 2fr)", 60, (c) => sweep.curves[c]!.model),
    numbers("Points", "6rem", (c) => sweep.sorted[c]!.length),
    numbers("Proved", "6rem", proved),
    column(freeFrom, "free"),
    column("Smallest that works", "smallest"),
    there,
    column("Too small", "tooSmall"),
    timeColumn((c) => summaries[c]!.seconds),
  ];
}

const MOST_INPUTS = 200;

export function sweepAbout(sweep: Sweep, provenance: [string, string][]): HTMLElement {
  const told = provenance.map(([title, text]): Fact => [
    title,
    h("bdi", { "data-key": title }, abridged(text, 600)),
  ]);
  const inputs = sweep.curves
    .slice(0, MOST_INPUTS)
    .flatMap(({ model, input }) => [
      h("dt", {}, named(model, 60)),
      h("dd", {}, h("bdi", { "data-key": "input" }, abridged(input, 300))),
    ]);
  const rest = sweep.curves.length - MOST_INPUTS;
  if (rest > 0) inputs.push(h("dt", {}, "and more"), h("dd", {}, `${grouped(rest)} models`));
  return h(
    "div",
    { class: "about" },
    h("div", {}, h("dl", {}, ...facts([["made by", "berth sweep"], ...told]))),
    h(
      "div",
      {},
      h("h3", {}, "Hash of each input, and the options that decide the answers"),
      h("dl", {}, ...inputs),
    ),
  );
}

/** All points as text, for logs. */
export function sweepSummary(sweep: Sweep): string {
  const lines = sweep.sorted.flatMap((points, c) => [
    visible(sweep.curves[c]!.model),
    ...points.map((i) => {
      const capacity = String(sweep.value(i, "capacity")).padStart(16);
      const traffic = String(sweep.figure(i) ?? "-").padStart(16);
      return `  ${capacity} ${traffic}  ${sweep.outcome(i)}`;
    }),
  ]);
  return lines.join("\n") + "\n";
}
