// Copies between memories: the lines that lead from one lane to another, the list of them, and when
// operators and copies are, if copies are made while operators run.
import type { Copy, Num, Plan, RawRun } from "./data";
import { type Child, h, svg } from "./dom";
import { abridged, bytes, cost, difference, grouped, percent, sum } from "./format";
import type { PlanApp } from "./plan-app";
import type { Plot } from "./plot";
import { type TableColumn, names, numbers } from "./table";

/** Up to so many lines are all drawn dark; of more, those of the selection. */
const MOST_DARK = 40;
/** Of a timeline: so many copies can be pointed at. */
const MOST_TITLES = 3000;
const WIDE = "minmax(6rem, 1fr)";

const memoryOf = (plan: Plan, row: number) =>
  abridged(plan.raw.memories![plan.laneOfBuffer(row)]!.name, 30);

/** When a copy is made, as far as the steps say it. */
export function whenOf(plan: Plan, { start, before, begins, ends }: Copy): string {
  const unit = plan.head.costUnit;
  if (begins !== null && ends !== null) {
    const steps = `after step ${grouped(Number(start) - 1)}, before step ${grouped(before)}`;
    return `${cost(begins, unit)} to ${cost(ends, unit)}, ${steps}`;
  }
  return `between steps ${grouped(Number(before) - 1)} and ${grouped(before)}`;
}

/** An overlay on all lanes. */
export class CopyLines {
  readonly root = svg("svg", { class: "copies", "aria-hidden": "true" });
  private pending = false;

  constructor(
    private readonly plan: Plan,
    private readonly plots: Plot[],
  ) {}

  draw(): void {
    if (this.pending || !this.plan.raw.copies.length) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }
  private plotOf(row: number): Plot | undefined {
    const lane = this.plan.lanes[this.plan.laneOfBuffer(row)];
    return this.plots.find((plot) => plot.lane === lane);
  }
  private drawNow(): void {
    const { copies, buffers } = this.plan.raw;
    const box = this.root.getBoundingClientRect();
    if (!box.width) return;
    this.root.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const chosen = new Set(
      this.plots
        .flatMap(({ marks }) => [marks.selected, marks.hovered])
        .filter((row) => row >= 0)
        .map((row) => buffers.tensor![row]!),
    );
    const quiet: string[] = [];
    const dark: string[] = [];
    for (const copy of copies) {
      const source = this.plotOf(copy.from)?.placeOf(copy.from, Number(copy.start));
      const target = this.plotOf(copy.to)?.placeOf(copy.to, Number(copy.before));
      if (!source || !target || !(source.inside || target.inside)) continue;
      const is = chosen.has(buffers.tensor![copy.from]!);
      const line = arrow(
        { x: source.x - box.left, y: source.y - box.top },
        { x: target.x - box.left, y: target.y - box.top },
      );
      (is || (!chosen.size && copies.length <= MOST_DARK) ? dark : quiet).push(line);
    }
    this.root.replaceChildren(
      svg("path", { class: "quiet", d: quiet.join("") }),
      svg("path", { class: "around", d: dark.join("") }),
      svg("path", { class: "dark", d: dark.join("") }),
    );
  }
}

interface Point {
  x: number;
  y: number;
}
const round = (value: number) => Math.round(value * 10) / 10;
/** A line with a dot at its beginning and a head at its end. */
function arrow(from: Point, to: Point): string {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.max(1, Math.hypot(dx, dy));
  const [ux, uy] = [dx / length, dy / length];
  const at = (back: number, aside: number) =>
    `${round(to.x - back * ux + aside * uy)} ${round(to.y - back * uy - aside * ux)}`;
  const head = Math.min(9, length);
  return (
    `M${round(from.x - 2)} ${round(from.y)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0` +
    `M${round(from.x)} ${round(from.y)}L${at(0, 0)}` +
    `M${at(0, 0)}L${at(head, 4)}L${at(head, -4)}z`
  );
}

// The panel.

export function copiesPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const { copies, run } = plan.raw;
  const unit = plan.head.costUnit;
  const of = (c: number) => copies[c]!;
  const money = (title: string, value: (c: number) => Num | null): TableColumn => ({
    ...numbers(title, "6.5rem", (c) => value(c) ?? 0),
    text: (c) => cost(value(c) ?? 0, unit),
  });
  const columns: TableColumn[] = [
    names("Tensor", "minmax(9rem, 3fr)", 70, (c) => plan.tensorName(of(c).from)),
    numbers("Bytes", WIDE, (c) => of(c).bytes),
    names("From", "5.5rem", 30, (c) => memoryOf(plan, of(c).from)),
    names("To", "5.5rem", 30, (c) => memoryOf(plan, of(c).to)),
    numbers("After step", "6rem", (c) => Number(of(c).start) - 1),
    numbers("Before step", "6.5rem", (c) => of(c).before),
    money(run ? "Takes" : "Cost", (c) => of(c).cost),
    ...(run
      ? [
          numbers("Begins, ns", WIDE, (c) => of(c).begins),
          numbers("Ends, ns", WIDE, (c) => of(c).ends),
        ]
      : []),
  ];
  const rows = copies.map((_, c) => c);
  const label = "Copies from one memory to another";
  const select = (c: number) => app.select(0, of(c).to, true);
  return h(
    "div",
    {},
    h("p", {}, copiesSentence(plan)),
    run ? timeline(app, run) : null,
    app.table({ name: "copies", label, columns, rows, empty: "Nothing is copied.", select }),
  );
}

const count = (n: number, what: string, whats = `${what}s`) =>
  `${grouped(n)} ${n === 1 ? what : whats}`;

export function copiesSentence(plan: Plan): string {
  const { copies, run } = plan.raw;
  const unit = plan.head.costUnit;
  if (!copies.length) return "Nothing is copied from one memory to another.";
  const moved = bytes(sum(copies.map((copy) => copy.bytes)));
  const all = sum(copies.map((copy) => copy.cost));
  const which = `${count(copies.length, "copy", "copies")} of ${moved} together`;
  if (!run) {
    return `${which}. Operators wait while they are made: ${cost(all, unit)}, a part of the cost.`;
  }
  return (
    `${which}, made one at a time while operators run. They take ${cost(all, unit)}; ` +
    `operators wait for ${cost(run.stalled, unit)}.`
  );
}

/** Where the time of a run goes, as a bar and a legend. */
function runParts(plan: Plan, run: RawRun): HTMLElement {
  const unit = plan.head.costUnit;
  const parts: [string, Num, string][] = [
    ["computing", run.computing, "computing"],
    ...plan.raw.memories!.map(({ name }, m): [string, Num, string] => [
      `accesses to ${abridged(name, 24)}`,
      run.accessing[m]!,
      `memory${m % 4}`,
    ]),
    ["waiting for copies", run.stalled, "stalled"],
  ];
  const shown = parts.filter(([, value]) => Number(value) > 0);
  const label = parts.map(([name, value]) => `${name} ${cost(value, unit)}`).join(", ");
  return h(
    "div",
    { class: "run-parts" },
    h(
      "div",
      { class: "bar", role: "img", "aria-label": label },
      ...shown.map(([, value, key]) =>
        h("span", {
          class: key,
          style: `flex-grow:${(1000 * Number(value)) / Math.max(1, Number(run.time))}`,
        }),
      ),
    ),
    h(
      "p",
      { class: "parts" },
      ...shown.map(([name, value, key]) =>
        h(
          "span",
          {},
          h("i", { class: `key ${key}`, "aria-hidden": "true" }),
          `${name} `,
          h("b", { "data-figure": key, "data-value": String(value) }, cost(value, unit)),
          ` (${percent(value, run.time)})`,
        ),
      ),
    ),
  );
}

/** Operators above, copies below, over the time of the run. */
function timeline(app: PlanApp, run: RawRun): HTMLElement {
  const plan = app.plans[0]!;
  const unit = plan.head.costUnit;
  const { copies } = plan.raw;
  const total = Math.max(1, Number(run.time));
  const width = 1000;
  const x = (time: Num) => round((Number(time) / total) * width);
  const bar = (from: Num, to: Num, y: number, height: number, least = 0.4) =>
    `M${x(from)} ${y}H${Math.max(x(to), x(from) + least)}V${y + height}H${x(from)}z`;
  const operators = ["", ""];
  let stalls = "";
  run.begin.forEach((begin, step) => {
    const end = run.end[step]!;
    const before = step > 0 ? run.end[step - 1]! : 0;
    operators[step % 2] += bar(begin, end, 4, 22);
    if (Number(begin) > Number(before)) stalls += bar(before, begin, 4, 22);
  });
  const drawn = copies.map((copy, c) => {
    const name = abridged(plan.tensorName(copy.from), 80);
    const way = `${memoryOf(plan, copy.from)} to ${memoryOf(plan, copy.to)}`;
    const text = `${name}: ${bytes(copy.bytes)}, ${way}, ${whenOf(plan, copy)}`;
    const look = `copy memory${plan.laneOfBuffer(copy.to) % 4}`;
    const path = svg(
      "path",
      { class: look, d: bar(copy.begins!, copy.ends!, 34, 22, 2) },
      c < MOST_TITLES ? svg("title", {}, text) : null,
    );
    path.addEventListener("click", () => app.select(0, copy.to, true));
    return path;
  });
  const picture = svg(
    "svg",
    {
      class: "timeline",
      viewBox: `0 0 ${width} 60`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Operators and copies over a run of ${cost(run.time, unit)}`,
    },
    svg("path", { class: "operators", d: operators[0]! }),
    svg("path", { class: "operators odd", d: operators[1]! }),
    svg("path", { class: "stalled", d: stalls }),
    ...drawn,
  );
  const targets = plan.raw.memories!.flatMap(({ name }, m): Child[] =>
    copies.some((copy) => plan.laneOfBuffer(copy.to) === m)
      ? [
          h(
            "span",
            {},
            h("i", { class: `key memory${m % 4}`, "aria-hidden": "true" }),
            `copies to ${abridged(name, 24)}`,
          ),
        ]
      : [],
  );
  const axis = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    h("span", {}, cost(Math.round(share * total), unit)),
  );
  return h(
    "div",
    { class: "run" },
    runParts(plan, run),
    h(
      "div",
      { class: "timeline-box" },
      h("span", { class: "row-name" }, "operators"),
      h("span", { class: "row-name" }, "copies"),
      picture as unknown as HTMLElement,
      h("div", { class: "time-axis", "aria-hidden": "true" }, ...axis),
    ),
    h(
      "p",
      { class: "parts" },
      Number(run.stalled) > 0
        ? h("span", {}, h("i", { class: "key stalled", "aria-hidden": "true" }), "operators wait")
        : null,
      ...targets,
    ),
  );
}

/** Of a selected residency: the copies that it begins and ends with. */
export function copyFacts(app: PlanApp, side: number, i: number): [string, ...Child[]][] {
  const plan = app.plans[side]!;
  return plan.copiesOf(i).map((copy): [string, ...Child[]] => {
    const other = copy.from === i ? copy.to : copy.from;
    const name = memoryOf(plan, other);
    const link = h(
      "button",
      { type: "button", class: "link", onclick: () => app.select(side, other, true) },
      name,
    );
    return [copy.from === i ? "Copied to" : "Copied from", link, `, ${whenOf(plan, copy)}`];
  });
}

/** The figure at the top. */
export function copiesNote(plan: Plan): string {
  const { copies, run } = plan.raw;
  if (!run) return `${bytes(sum(copies.map((copy) => copy.bytes)))} together`;
  const all = sum(copies.map((copy) => copy.cost));
  const hidden = difference(all, run.stalled);
  return Number(all) > 0 && Number(hidden) >= 0
    ? `${percent(hidden, all)} of their time beside operators`
    : "";
}
