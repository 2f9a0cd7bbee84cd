// Details of the selected buffer or operator.
import { CHANGES } from "./colors";
import { type Remedy, suffices } from "./data";
import { copyFacts } from "./copies";
import { type Child, h, named } from "./dom";
import { abridged, bytes, difference, grouped, percent, sum } from "./format";
import { bufferLink, stepLink } from "./links";
import { costFacts, whyDetails } from "./memories";
import { amount, button, commandLine, facts, some } from "./parts";
import type { PlanApp } from "./plan-app";

/** Of the largest buffers at the peak, and of the changes that would lower it, while nothing is
 * selected. */
const MOST_AT_PEAK = 6;
const MOST_REMEDIES = 3;

type Fact = [string, ...Child[]];

export function bufferDetails(app: PlanApp, side: number, i: number): HTMLElement[] {
  const rows = [
    ...ownFacts(app, side, i),
    ...copyFacts(app, side, i),
    ...costFacts(app, side, i),
    ...changeFacts(app, side, i),
    ...graphFacts(app, side, i),
    ...neighbourFacts(app, side, i),
    ...spillFacts(app, i),
  ];
  return [
    h("h2", {}, named(app.plans[side]!.name(i), 120)),
    h("dl", {}, ...facts(rows)),
    ...whyDetails(app, side, i),
    button("Zoom to it", () => app.zoomTo(side, i)),
    ...stackDetails(app, side, i),
  ];
}

/** The calls that asked for a buffer, innermost first. */
function stackDetails(app: PlanApp, side: number, i: number): HTMLElement[] {
  const { stacks } = app.plans[side]!.raw;
  const stack = stacks?.of[i];
  if (!stacks || stack === null || stack === undefined) return [];
  const lines = stacks.stacks[stack]!.map((frame) =>
    h("li", {}, named(stacks.frames[frame]!, 120)),
  );
  return [h("h2", { class: "second" }, "Allocated by"), h("ol", { class: "calls" }, ...lines)];
}

function ownFacts(app: PlanApp, side: number, i: number): Fact[] {
  const plan = app.plans[side]!;
  const b = plan.raw.buffers;
  const rows: Fact[] = [["Size", amount(b.size[i]!)]];
  if (b.offset) {
    const offset = b.offset[i]!;
    const shown = h("span", { "data-value": String(offset) }, grouped(offset));
    rows.push(["Offset", shown, ` to ${grouped(sum([offset, b.size[i]!]))}`]);
  }
  const [start, end] = [b.start[i]!, b.end[i]!];
  const steps = `(${grouped(difference(end, start))} steps)`;
  rows.push(["Live", `from step ${grouped(start)} to before ${grouped(end)} ${steps}`]);
  for (const [from, to, lower, upper] of plan.gaps.get(i) ?? []) {
    const window = `, but bytes ${grouped(lower)} to ${grouped(upper)} stay live`;
    const partial = Number(upper) > Number(lower);
    rows.push(["Gap", `[${grouped(from)}, ${grouped(to)})${partial ? window : ""}`]);
  }
  if (plan.atPeak.has(i)) {
    const { load } = plan.lanes[plan.laneOfBuffer(i)]!.peak;
    rows.push(["Of the peak", percent(b.size[i]!, load)]);
  }
  const relief = plan.raw.relief.find((r) => r.buffer === i);
  if (relief) rows.push(["Without it", `the peak would be ${bytes(relief.peak)}`]);
  const alignment = plan.alignment.get(i);
  if (alignment !== undefined) rows.push(["Alignment", grouped(alignment)]);
  const pinned = plan.pinned.get(i);
  if (pinned !== undefined) rows.push(["Pinned at", grouped(pinned)]);
  const hint = plan.hint.get(i);
  if (hint !== undefined) rows.push(["Preferred", grouped(hint)]);
  return rows;
}

function changeFacts(app: PlanApp, side: number, i: number): Fact[] {
  const changes = app.changes[side];
  if (!changes) return [];
  const rows: Fact[] = [["Change", CHANGES[changes[i]!]!]];
  const other = app.twin(side, i);
  if (other < 0) return rows;
  const o = app.plans[1 - side]!.raw.buffers;
  const steps = `steps ${grouped(o.start[other]!)} to ${grouped(o.end[other]!)}`;
  const where = `at ${grouped(o.offset![other]!)}`;
  rows.push([side ? "Was" : "Is now", `${bytes(o.size[other]!)}, ${where}, ${steps}`]);
  return rows;
}

function graphFacts(app: PlanApp, side: number, i: number): Fact[] {
  const { graph, buffers } = app.plans[side]!.raw;
  const uses = app.uses[side];
  if (!graph || !uses || !buffers.tensor) return [];
  const { tensors } = graph;
  const t = buffers.tensor[i]!;
  const kind = [tensors.kind[t], tensors.output[t] ? "result of the graph" : ""];
  const rows: Fact[] = [["Tensor", kind.filter(Boolean).join(", ")]];
  if (tensors.dtype[t] || tensors.shape[t]) {
    rows.push(["Shape", h("bdi", {}, abridged(`${tensors.dtype[t]} ${tensors.shape[t]}`, 80))]);
  }
  const maker = uses.producer[t]!;
  rows.push(["Made by", maker < 0 ? "exists before the run" : stepLink(app, maker)]);
  const users = uses.usersOf(t).filter((step) => step !== maker);
  rows.push(["Used by", users.length ? some(users, (step) => stepLink(app, step)) : "never read"]);
  const views = uses.views[t]!;
  if (views.length) {
    rows.push(["Views of it", some(views, (view) => named(tensors.name[view]!, 40))]);
  }
  const twins = buffers.tensor.flatMap((other, k) => (other === t && k !== i ? [k] : []));
  if (twins.length) {
    rows.push(["Also in memory as", some(twins, (k) => bufferLink(app, side, k))]);
  }
  return rows;
}

function neighbourFacts(app: PlanApp, side: number, i: number): Fact[] {
  const { below, above, before, after } = app.plans[side]!.neighbours(i);
  const found: [string, number][] = [
    ["Below", below],
    ["Above", above],
    ["Same bytes before", before],
    ["Same bytes after", after],
  ];
  return found
    .filter(([, other]) => other >= 0)
    .map(([title, other]): Fact => [title, bufferLink(app, side, other)]);
}

function spillFacts(app: PlanApp, i: number): Fact[] {
  const b = app.plans[0]!.raw.buffers;
  const rows: Fact[] = [];
  for (const move of app.moves) {
    if (move.from === i) {
      const back = `retrieved at step ${grouped(b.start[move.to]!)}`;
      rows.push(["Spilled", `${bytes(move.written)} written; ${back}`]);
    }
    if (move.to === i) {
      const away = `off chip since step ${grouped(b.end[move.from]!)}`;
      rows.push(["Retrieved", `${bytes(move.read)} read; ${away}`]);
    }
  }
  return rows;
}

/** What is shown while nothing is selected: what the peak is made of, and what would lower it. */
export function peakDetails(app: PlanApp): HTMLElement[] {
  const plan = app.plans[0]!;
  const { peak, graph } = plan.raw;
  const missing = plan.head.sizesMissing;
  if (!plan.n) {
    const none = missing ? "No tensor has a known size." : "There are no buffers.";
    return [...(missing ? sizeDetails(app) : []), h("p", {}, none)];
  }
  const runs = graph?.operators.name[Number(peak.start)] !== undefined;
  const rows = peak.live
    .slice(0, MOST_AT_PEAK)
    .map(([i, size]) =>
      h(
        "li",
        {},
        bufferLink(app, 0, i),
        h("span", {}, bytes(size)),
        h("span", {}, percent(size, peak.load)),
        h("i", { style: `width:${(100 * Number(size)) / Math.max(1, Number(peak.load))}%` }),
      ),
    );
  const more = peak.live.length - rows.length;
  return [
    ...(missing ? sizeDetails(app) : []),
    h(
      "h2",
      missing ? { class: "second" } : {},
      missing ? "What is known of the peak" : "What the peak is made of",
    ),
    h(
      "p",
      {},
      `${bytes(peak.load)}${missing ? " with known sizes" : ""} are live `,
      `at step ${grouped(peak.start)}`,
      ...(runs ? [", while ", stepLink(app, Number(peak.start)), " runs"] : []),
      ".",
    ),
    h("ul", { class: "at-peak" }, ...rows),
    ...(more > 0 ? [button(`All ${grouped(peak.live.length)}`, () => app.openTab("peak"))] : []),
    ...(missing ? [] : remedyDetails(app)),
  ];
}
/** How to get an answer for a model whose sizes are not all known. */
function sizeDetails(app: PlanApp): HTMLElement[] {
  const remedy = app.data.remedies.find(({ command }) => command !== null);
  if (!remedy) return [];
  return [
    h("h2", {}, h("bdi", {}, remedy.title)),
    h("p", {}, h("bdi", {}, remedy.detail)),
    commandLine(remedy.command!),
  ];
}
function remedyDetails(app: PlanApp): HTMLElement[] {
  const { remedies, conflict } = app.data;
  if (!remedies.length) return [];
  // What was tried first: with a command, or of strips.
  const able = remedies.filter(({ command, estimated }) => command !== null || estimated);
  const enough = conflict ? remedies.filter(suffices) : [];
  const best = enough.length ? enough : able.length ? able : remedies;
  const rows = best.slice(0, MOST_REMEDIES).map((remedy) => {
    const text = remedyFigures(remedy);
    return h("li", {}, h("bdi", {}, remedy.title), text ? h("small", {}, ` ${text}`) : null);
  });
  return [
    h("h2", { class: "second" }, enough.length ? "What would make it fit" : "What would lower it"),
    h("ol", { class: "would" }, ...rows),
    button(able.length ? "Details and commands" : "Details", () => app.openTab("fit")),
  ];
}
/** "360 KiB, fits, 648 KiB of traffic": what the title does not say. */
function remedyFigures({ title, needs, fits, traffic, estimated }: Remedy): string {
  const figure = needs === null ? "" : bytes(needs);
  const told = title.includes(figure);
  const moved = traffic === null || Number(traffic) === 0 ? "" : `${bytes(traffic)} of traffic`;
  const about = estimated ? "estimate: " : "";
  return [told ? "" : about + figure, fits ? "fits" : "", moved].filter(Boolean).join(", ");
}

export function stepDetails(app: PlanApp, step: number): HTMLElement[] {
  const plan = app.plans[0]!;
  const { tensors, operators: o } = plan.raw.graph!;
  const uses = app.uses[0]!;
  const item = (t: number) => {
    const base = tensors.base[t] ?? t;
    const buffer = uses.bufferOf[base]!;
    const note = tensors.base[t] !== null ? ", a view" : buffer < 0 ? ", not in the plan" : "";
    const link = buffer >= 0 ? bufferLink(app, 0, buffer) : named(tensors.name[t]!, 40);
    return h("span", {}, link, h("small", {}, ` ${bytes(tensors.bytes[t]!)}${note}`));
  };
  const list = (ids: number[]) => (ids.length ? some([...new Set(ids)], item) : "nothing");
  const number = o.program[step]!;
  const moved = number !== step ? `, number ${grouped(number)} in program order` : "";
  const rows: Fact[] = [
    ["Step", `${grouped(step)} of ${grouped(o.name.length)}${moved}`],
    ["Type", h("bdi", {}, abridged(o.type[step] || "none", 60))],
    ["Live bytes", amount(plan.liveAt(step))],
    ["Reads", list(o.inputs[step]!)],
    ["Makes", list(o.outputs[step]!)],
  ];
  if (o.mutates[step]!.length) rows.push(["Writes in place", list(o.mutates[step]!)]);
  const showLive = () => {
    app.filter(`live:${step}`);
    app.openTab("buffers");
  };
  return [
    h("h2", {}, named(o.name[step]!, 120)),
    h("dl", {}, ...facts(rows)),
    button("List what is live", showLive),
  ];
}
