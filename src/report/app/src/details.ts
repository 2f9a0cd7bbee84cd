// What is known of the buffer or the operator that is selected.
import { CHANGES } from "./colors";
import { type Child, h, named } from "./dom";
import { abridged, bytes, difference, grouped, percent, sum } from "./format";
import { amount, button, some } from "./parts";
import type { PlanPage } from "./plan-page";

export function bufferLink(app: PlanPage, side: number, buffer: number): HTMLElement {
  const plan = app.plans[side]!;
  return h("button", { type: "button", class: "link", onclick: () => app.select(side, buffer, true) }, named(plan.name(buffer), 40));
}
export function stepLink(app: PlanPage, step: number): HTMLElement {
  const graph = app.plans[0]!.raw.graph!;
  const name = graph.operators.name[step]!;
  const type = graph.operators.type[step]!;
  return h("button", { type: "button", class: "link", onclick: () => app.selectStep(step) }, named(name, 40), h("small", {}, ` ${type && !name.toLowerCase().startsWith(type.toLowerCase()) ? abridged(type, 24) + ", " : ""}step ${grouped(step)}`));
}

export function bufferDetails(app: PlanPage, i: number): HTMLElement[] {
  const rows: Child[] = [];
  const fact = (title: string, ...value: Child[]) => rows.push(h("dt", {}, title), h("dd", {}, ...value));
  const plan = app.plan;
  const b = plan.raw.buffers;
  fact("Size", amount(b.size[i]!));
  if (b.offset) {
    fact("Offset", h("span", { "data-value": String(b.offset[i]!) }, grouped(b.offset[i]!)), ` to ${grouped(sum([b.offset[i]!, b.size[i]!]))}`);
  }
  fact("Live", `from step ${grouped(b.start[i]!)} to before ${grouped(b.end[i]!)} (${grouped(difference(b.end[i]!, b.start[i]!))} steps)`);
  for (const [start, end, lower, upper] of plan.gaps.get(i) ?? []) {
    fact("Gap", `[${grouped(start)}, ${grouped(end)})${Number(upper) > Number(lower) ? `, but bytes ${grouped(lower)} to ${grouped(upper)} stay live` : ""}`);
  }
  if (plan.atPeak.has(i)) fact("Of the peak", percent(b.size[i]!, plan.raw.peak.load));
  const relief = plan.raw.relief.find((r) => r.buffer === i);
  if (relief) fact("Without it", `the peak would be ${bytes(relief.peak)}`);
  if (plan.alignment.has(i)) fact("Alignment", grouped(plan.alignment.get(i)!));
  if (plan.pinned.has(i)) fact("Pinned at", grouped(plan.pinned.get(i)!));
  if (plan.hint.has(i)) fact("Preferred", grouped(plan.hint.get(i)!));
  if (app.data.diff) {
    const change = CHANGES[app.changes[app.side]![i]!]!;
    const other = app.twin(app.side, i);
    fact("Change", change);
    if (other >= 0) {
      const o = app.plans[1 - app.side]!.raw.buffers;
      fact(app.side ? "Was" : "Is now", `${bytes(o.size[other]!)}, at ${grouped(o.offset![other]!)}, steps ${grouped(o.start[other]!)} to ${grouped(o.end[other]!)}`);
    }
  }
  graphFacts(app, i, fact);
  const near = plan.neighbours(i);
  const names = { below: "Below", above: "Above", before: "Its bytes before", after: "Its bytes after" } as const;
  for (const [key, title] of Object.entries(names)) {
    const other = near[key as keyof typeof near];
    if (other >= 0) fact(title, bufferLink(app, app.side, other));
  }
  for (const move of app.data.spills) {
    if (move.from === i) fact("Leaves", `${bytes(move.written)} written; back at step ${grouped(b.start[move.to]!)}`);
    if (move.to === i) fact("Comes back", `${bytes(move.read)} read; gone since step ${grouped(b.end[move.from]!)}`);
  }
  return [h("h2", {}, named(plan.name(i), 120)), h("dl", {}, ...rows), button("Bring close", () => app.plots[app.side]!.reveal(i, true))];
}
function graphFacts(app: PlanPage, i: number, fact: (title: string, ...value: Child[]) => void): void {
  const { graph, buffers } = app.plan.raw;
  const uses = app.uses[app.side];
  if (!graph || !uses || !buffers.tensor) return;
  const t = buffers.tensor[i]!;
  const tensors = graph.tensors;
  fact("Tensor", [tensors.kind[t], tensors.output[t] ? "result of the graph" : ""].filter(Boolean).join(", "));
  if (tensors.dtype[t] || tensors.shape[t]) fact("Shape", h("bdi", {}, abridged(`${tensors.dtype[t]} ${tensors.shape[t]}`, 80)));
  const maker = uses.producer[t]!;
  fact("Made by", maker < 0 ? "there before the run" : stepLink(app, maker));
  const users = uses.usersOf(t).filter((step) => step !== maker);
  fact("Used by", users.length ? some(users, (step) => stepLink(app, step)) : "nobody");
  const views = uses.views[t]!;
  if (views.length) fact("Views of it", some(views, (view) => named(tensors.name[view]!, 40)));
  const twins = buffers.tensor.flatMap((other, k) => (other === t && k !== i ? [k] : []));
  if (twins.length) fact("Also in memory as", some(twins, (k) => bufferLink(app, app.side, k)));
}
export function stepDetails(app: PlanPage, step: number): HTMLElement[] {
  const plan = app.plans[0]!;
  const graph = plan.raw.graph!;
  const uses = app.uses[0]!;
  const tensors = graph.tensors;
  const item = (t: number) => {
    const base = tensors.base[t] ?? t;
    const buffer = uses.bufferOf[base]!;
    return h("span", {}, buffer >= 0 ? bufferLink(app, 0, buffer) : named(tensors.name[t]!, 40), h("small", {}, ` ${bytes(tensors.bytes[t]!)}${tensors.base[t] !== null ? ", a view" : buffer < 0 ? ", not in the plan" : ""}`));
  };
  const o = graph.operators;
  return [
    h("h2", {}, named(o.name[step]!, 120)),
    h("dl", {}, ...[
      h("dt", {}, "Step"), h("dd", {}, `${grouped(step)} of ${grouped(o.name.length)}${o.program[step] !== step ? `, number ${grouped(o.program[step]!)} as written` : ""}`),
      h("dt", {}, "Type"), h("dd", {}, h("bdi", {}, abridged(o.type[step] || "none", 60))),
      h("dt", {}, "Live then"), h("dd", {}, amount(plan.liveAt(step))),
      h("dt", {}, "Reads"), h("dd", {}, o.inputs[step]!.length ? some([...new Set(o.inputs[step]!)], item) : "nothing"),
      h("dt", {}, "Makes"), h("dd", {}, o.outputs[step]!.length ? some(o.outputs[step]!, item) : "nothing"),
      ...(o.mutates[step]!.length ? [h("dt", {}, "Writes in place"), h("dd", {}, some(o.mutates[step]!, item))] : []),
    ]),
    button("What is live then", () => {
      app.filter(`live:${step}`);
      app.openTab("buffers");
    }),
  ];
}
