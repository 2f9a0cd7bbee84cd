// The panels below the picture: what the peak is made of, what would lower it, and tables of all.
import { CHANGES } from "./colors";
import { conflictSentence } from "./conflict";
import { type Num, type Plan, type Remedy, suffices } from "./data";
import { bufferLink, stepLink } from "./links";
import { type Child, h, named } from "./dom";
import { memoryColumn, memoryColumns } from "./memories";
import { abridged, bytes, difference, grouped, percent, sum, visible } from "./format";
import { amount, commandLine, plainTable } from "./parts";
import type { PlanApp } from "./plan-app";
import { type TableColumn, type TableSpec, names, numbers } from "./table";

const WIDE = "minmax(7rem, 1fr)";

const count = (n: number, what: string) => `${grouped(n)} ${what}${n === 1 ? "" : "s"}`;
const note = (...text: Child[]) => h("p", { class: "note" }, ...text);

function bufferColumns(app: PlanApp): TableColumn[] {
  const plan = app.plans[0]!;
  const b = plan.raw.buffers;
  return [
    names("Buffer", "minmax(9rem, 3fr)", 70, (i) => plan.name(i)),
    numbers("Bytes", WIDE, (i) => b.size[i]!),
    ...memoryColumns(plan),
    ...(b.offset ? [numbers("Offset", WIDE, (i) => b.offset![i]!)] : []),
    numbers("From step", "6rem", (i) => b.start[i]!),
    numbers("To before", "6rem", (i) => b.end[i]!),
    ...tensorColumns(app),
  ];
}
function tensorColumns(app: PlanApp): TableColumn[] {
  const { graph, buffers } = app.plans[0]!.raw;
  if (!graph || !buffers.tensor) return [];
  const { tensors, operators } = graph;
  const tensor = (i: number) => buffers.tensor![i]!;
  const maker = (i: number) => app.uses[0]!.producer[tensor(i)]!;
  const shape = (t: number) => [tensors.dtype[t], tensors.shape[t]].filter(Boolean).join(" ");
  const columns: TableColumn[] = [
    names("Kind", "6rem", 40, (i) => tensors.kind[tensor(i)]!),
    {
      title: "Made by",
      width: "minmax(8rem, 2fr)",
      text: (i) => (maker(i) < 0 ? "before the run" : named(operators.name[maker(i)]!, 50)),
      value: maker,
    },
  ];
  if (tensors.name.some((_, t) => shape(t))) {
    const text = (i: number) => named(shape(tensor(i)), 40);
    columns.push({ title: "Shape", width: "minmax(7rem, 1.4fr)", text });
  }
  return columns;
}
/** A table of buffers of the one plan. */
function bufferTable(app: PlanApp, spec: Omit<TableSpec, "select">): HTMLElement {
  return app.table({ ...spec, select: (i) => app.select(0, i, true) });
}

export function buffersPanel(app: PlanApp): HTMLElement {
  const rows = Array.from({ length: app.plans[0]!.n }, (_, i) => i);
  const empty = "No buffer passes the filter.";
  const columns = bufferColumns(app);
  return bufferTable(app, { name: "buffers", label: "Buffers", columns, rows, empty });
}

export function peakPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const { peak, graph } = plan.raw;
  if (!plan.n) return h("p", {}, "There are no buffers.");
  const live = new Map(peak.live);
  const columns = bufferColumns(app);
  columns[1] = numbers("Bytes", WIDE, (i) => live.get(i)!);
  columns.splice(2, 0, {
    ...columns[1],
    title: "Share",
    width: "6.5rem",
    text: (i) => percent(live.get(i)!, peak.load),
  });
  const runs = graph?.operators.name[Number(peak.start)] !== undefined;
  const rows = peak.live.map(([i]) => i);
  const label = "What the peak is made of";
  return h(
    "div",
    {},
    h(
      "p",
      {},
      `At step ${grouped(peak.start)} the most bytes are live`,
      ...(runs ? [", while ", stepLink(app, Number(peak.start)), " runs"] : []),
      `: ${bytes(peak.load)} in ${count(peak.live.length, "buffer")}.`,
    ),
    ...(plan.placed && plan.head.height !== null ? heightParts(plan, plan.head.height) : []),
    bufferTable(app, { name: "peak", label, columns, rows, empty: "Nothing is live." }),
    peak.holes.length ? holesTable(app) : null,
  );
}
/** How the height divides into live bytes, padding and holes. */
function heightParts(plan: Plan, height: Num): HTMLElement[] {
  const { peak } = plan.raw;
  const parts: [string, Num, string][] = [
    ["live", peak.load, "load"],
    ["padding for alignment", peak.padding, "padding"],
    ["holes", peak.fragmentation, "fragmentation"],
  ];
  const label = parts.map(([name, value]) => `${name} ${bytes(value)}`).join(", ");
  const bars = parts
    .filter(([, value]) => Number(value) > 0)
    .map(([name, value, key]) => {
      const style = `flex-grow:${(100 * Number(value)) / Math.max(1, Number(height))}`;
      return h("span", { class: key, style, title: `${name}: ${grouped(value)} B` });
    });
  const legend = parts.map(([name, value, key]) =>
    h(
      "span",
      {},
      h("i", { class: `key ${key}`, "aria-hidden": "true" }),
      `${name} `,
      h("b", { "data-figure": key, "data-value": String(value) }, bytes(value)),
      ` (${percent(value, height)})`,
    ),
  );
  const rest = difference(height, peak.load);
  const savings = difference(height, plan.head.placementBound ?? 0);
  const text =
    Number(rest) === 0
      ? "Nothing is lost between the buffers at the peak: " +
        "no better placement exists for these lifetimes."
      : `Height ${bytes(height)} = ${bytes(peak.load)} live + ${bytes(rest)} in ` +
        `${count(peak.holes.length, "hole")}. ` +
        `A better placement could save at most ${bytes(savings)}, as the bound proves.`;
  return [
    h("div", { class: "stack", role: "img", "aria-label": label }, ...bars),
    h("p", { class: "parts" }, ...legend),
    note(text),
  ];
}

const MOST_HOLES = 20;

function holesTable(app: PlanApp): HTMLElement {
  const { holes } = app.plans[0]!.raw.peak;
  const rows = holes
    .slice(0, MOST_HOLES)
    .map((hole): Child[] => [
      grouped(hole.lower),
      grouped(hole.upper),
      grouped(difference(hole.upper, hole.lower)),
      grouped(hole.padding),
      hole.above === null ? "top of the arena" : bufferLink(app, 0, hole.above),
    ]);
  return h(
    "details",
    { class: "holes" },
    h("summary", {}, `${count(holes.length, "hole")} at the peak`),
    plainTable("", ["From byte", "To byte", "Bytes", "of which padding", "Below"], rows, 4),
    holes.length > MOST_HOLES ? note(`and ${grouped(holes.length - MOST_HOLES)} more`) : null,
  );
}

export function operatorsPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const { tensors, operators: o } = plan.raw.graph!;
  const made = (step: number) =>
    sum(o.outputs[step]!.filter((t) => tensors.base[t] === null).map((t) => tensors.bytes[t]!));
  const columns: TableColumn[] = [
    numbers("Step", "5rem", (s) => s),
    names("Operator", "minmax(9rem, 3fr)", 70, (s) => o.name[s]!),
    names("Type", "minmax(6rem, 1.4fr)", 40, (s) => o.type[s]!),
    numbers("Live bytes", WIDE, (s) => plan.liveAt(s)),
    numbers("Makes", WIDE, made),
    numbers("As written", "6.5rem", (s) => o.program[s]!),
  ];
  const rows = o.name.map((_, s) => s);
  const label = "Operators in execution order";
  const empty = "There are no operators.";
  const select = (step: number) => app.selectStep(step);
  return app.table({ name: "operators", label, columns, rows, empty, select });
}

/** From each residency of a tensor to its next, in the order in which they begin. */
export function transfersPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const { moves } = app;
  const b = plan.raw.buffers;
  const left = (m: number) => b.end[moves[m]!.from]!;
  const back = (m: number) => b.start[moves[m]!.to]!;
  const tensor = (m: number) => plan.tensorName(moves[m]!.from);
  const columns: TableColumn[] = [
    names("Tensor", "minmax(9rem, 3fr)", 70, tensor),
    ...(plan.raw.memories ? [memoryColumn(plan, (m) => moves[m]!.from)] : []),
    numbers("Spilled before step", "9rem", left),
    numbers("Retrieved for step", "9rem", back),
    numbers("Steps away", "6.5rem", (m) => difference(back(m), left(m))),
    numbers("Bytes written", WIDE, (m) => moves[m]!.written),
    numbers("Bytes read", WIDE, (m) => moves[m]!.read),
  ];
  const written = sum(moves.map((move) => move.written));
  const read = sum(moves.map((move) => move.read));
  const select = (m: number) => app.select(0, moves[m]!.to, true);
  const rows = moves.map((_, m) => m).sort((x, y) => Number(left(x)) - Number(left(y)) || x - y);
  const label = "Tensors that are spilled and retrieved";
  const empty = moves.length ? "No transfer passes the filter." : "Nothing is spilled.";
  const again =
    "Nothing is written where the copy off chip still has the latest value. With a filter, a " +
    "transfer is listed if its tensor passes before or after it.";
  return h(
    "div",
    {},
    h(
      "p",
      {},
      `${count(moves.length, "transfer")}: ${bytes(written)} written, ${bytes(read)} read.`,
    ),
    moves.length ? note(again) : null,
    app.table({ name: "transfers", label, columns, rows, empty, select }),
  );
}

export function whyPanel(app: PlanApp): HTMLElement {
  const c = app.data.conflict!;
  const { size } = app.plans[0]!;
  const rows = [...c.buffers].sort((x, y) => size[y]! - size[x]! || x - y);
  const label = "Buffers that do not fit together";
  return h(
    "div",
    {},
    h("p", {}, conflictSentence(c)),
    bufferTable(app, { name: "why", label, columns: bufferColumns(app), rows, empty: "None." }),
  );
}

export function fitPanel(app: PlanApp): HTMLElement {
  const { conflict, remedies, notes } = app.data;
  // Facts, of which no plan was made, are neither.
  const lacks = (remedy: Remedy) => conflict !== null && remedy.needs !== null && !suffices(remedy);
  return h(
    "div",
    { class: "fit" },
    ...remedyParts(remedies.filter((remedy) => !lacks(remedy))),
    ...remedyParts(remedies.filter(lacks), "Not enough alone"),
    ...(app.plans[0]!.n ? reliefParts(app) : []),
    ...notes.map((text) => h("p", { class: "advice" }, h("bdi", {}, visible(text)))),
  );
}
function remedyParts(remedies: Remedy[], title = ""): HTMLElement[] {
  if (!remedies.length) return [];
  const items = remedies.map((remedy) =>
    h(
      "li",
      {},
      h("h3", {}, h("bdi", {}, remedy.title)),
      h("p", {}, h("bdi", {}, remedy.detail)),
      remedy.needs !== null
        ? h(
            "p",
            { class: "needs" },
            remedy.estimated ? "would then need, as an estimate, " : "would then need ",
            amount(remedy.needs),
          )
        : null,
      remedy.command === null ? null : commandLine(remedy.command),
    ),
  );
  return [...(title ? [h("h3", {}, title)] : []), h("ol", { class: "remedies" }, ...items)];
}
function reliefParts(app: PlanApp): HTMLElement[] {
  const { relief, peak, buffers } = app.plans[0]!.raw;
  if (!relief.length) {
    const none =
      "No single buffer holds the peak up: the same load is reached at several steps that have " +
      "no buffer in common, so several buffers would have to shrink.";
    return [h("p", {}, none)];
  }
  // Shown only if something is missing and shrinking one buffer would do.
  const enough = relief.some((r) => r.enough !== null);
  const titles = ["Buffer", "Its bytes", "Peak without it", "Saves"];
  if (enough) titles.push("To fit, shrink it by");
  const rows = relief.map((r) => {
    const saved = difference(peak.load, r.peak);
    const row: Child[] = [
      bufferLink(app, 0, r.buffer),
      grouped(buffers.size[r.buffer]!),
      grouped(r.peak),
      `${bytes(saved)} (${percent(saved, peak.load)})`,
    ];
    if (enough) row.push(r.enough === null ? "not enough" : grouped(r.enough));
    return row;
  });
  const how =
    "The peak load without each of these alone: spilled for that time, recomputed, or removed. " +
    "Computed over all steps, with everything else unchanged.";
  return [
    h("h3", {}, "Buffers that hold the peak up"),
    note(how),
    plainTable("relief", titles, rows, 0),
  ];
}

const shown = (value: unknown): string =>
  value === null || value === undefined
    ? "none"
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);

export function aboutPanel(app: PlanApp): HTMLElement {
  const { data } = app;
  const fact = ([title, key, value]: [string, string, unknown]): Child[] => [
    h("dt", {}, title),
    h("dd", { "data-key": key }, h("bdi", {}, abridged(shown(value), 300))),
  ];
  const sides = app.plans.map(({ head }, side) => {
    const rows = [...head.facts];
    if (!data.diff) {
      rows.unshift(["made by", "command", `berth ${data.command}`]);
      rows.push(["verifier", "verifier", data.verdict || "nothing to verify"]);
    }
    return h(
      "div",
      {},
      data.diff ? h("h3", {}, side ? "New" : "Old") : null,
      h("dl", {}, ...rows.flatMap(fact)),
      optionList(head.options),
    );
  });
  return h("div", { class: "about" }, ...sides);
}
function optionList(options: [string, unknown][]): HTMLElement | null {
  if (!options.length) return null;
  const rows = options.flatMap(([key, value]) => [
    h("dt", {}, key),
    h("dd", { "data-option": key }, shown(value)),
  ]);
  const title = h("summary", {}, `${options.length} options`);
  return h("details", {}, title, h("dl", { class: "options" }, ...rows));
}

/** Rows are buffers of the new plan, followed by those of the old plan that are gone. */
export function changesPanel(app: PlanApp): HTMLElement {
  const [before, after] = app.plans as [Plan, Plan];
  const n = after.n;
  const old = (row: number) => (row >= n ? row - n : app.twin(1, row));
  const now = (row: number) => (row >= n ? -1 : row);
  const name = (row: number) => (row >= n ? before.name(row - n) : after.name(row));
  const change = (row: number) => (row >= n ? "gone" : CHANGES[app.changes[1]![row]!]!);
  type Key = "size" | "offset" | "start" | "end";
  const was = (row: number, key: Key) =>
    old(row) < 0 ? null : before.raw.buffers[key]![old(row)]!;
  const is = (row: number, key: Key) => (now(row) < 0 ? null : after.raw.buffers[key]![now(row)]!);
  const column = (title: string, width: string, key: Key): TableColumn => ({
    ...numbers(title, width, (row) => is(row, key) ?? was(row, key)!),
    text: (row) => {
      const [a, b] = [was(row, key), is(row, key)];
      if (a === null || b === null || Number(a) === Number(b)) return grouped((b ?? a)!);
      return `${grouped(a)} → ${grouped(b)}`;
    },
  });
  const memoryOf = (plan: Plan, i: number) =>
    i < 0 ? "" : visible(plan.raw.memories![plan.laneOfBuffer(i)]!.name).slice(0, 30);
  const memory = names("Memory", "minmax(6rem, 1fr)", 70, (row) => {
    const [a, b] = [memoryOf(before, old(row)), memoryOf(after, now(row))];
    return !a || !b || a === b ? b || a : `${a} → ${b}`;
  });
  const growth = (row: number) => difference(is(row, "size") ?? 0, was(row, "size") ?? 0);
  const columns: TableColumn[] = [
    names("Buffer", "minmax(9rem, 2fr)", 60, name),
    names("Change", "6rem", 20, change),
    column("Bytes", "minmax(8rem, 2fr)", "size"),
    {
      ...numbers("Growth", "8rem", growth),
      text: (row) => {
        const delta = Number(growth(row));
        return delta === 0 ? "–" : (delta > 0 ? "+" : "") + bytes(growth(row));
      },
    },
    ...(after.raw.memories ? [memory] : []),
    column("Offset", "minmax(9rem, 2fr)", "offset"),
    column("From step", "minmax(6rem, 1fr)", "start"),
    column("To before", "minmax(6rem, 1fr)", "end"),
  ];
  const select = (row: number) =>
    row >= n ? app.select(0, row - n, true) : app.select(1, row, true);
  const empty = "Nothing changed.";
  return app.table({ name: "changes", label: "What changed", columns, rows: [], empty, select });
}
