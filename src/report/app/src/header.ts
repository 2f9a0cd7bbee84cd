// The top of the page of a plan, or of two: what came out, in figures, and why it does not fit.
import type { Data, Num, Plan } from "./data";
import { type Child, h, named } from "./dom";
import { bytes, difference, grouped, percent, sum } from "./format";
import { type Tone, amount, button, figure, top } from "./parts";
import type { PlanPage } from "./plan-page";

const OUTCOMES: Record<string, [Tone, string, string]> = {
  optimal: ["good", "✓", "Proved optimal"],
  feasible: ["unsure", "≈", "Fits; a lower plan may exist"],
  infeasible: ["bad", "✕", "Does not fit"],
  unknown: ["unsure", "?", "Not known whether it fits"],
};

export function planHeader(app: PlanPage): HTMLElement {
  const data = app.data;
  const plan = app.plans[0]!;
  const input = plan.raw.head["input"] as { name?: string } | undefined;
  if (data.diff) return diffHeader(app);
  const [tone, sign, text] = OUTCOMES[plan.text("outcome")] ?? ["unsure", "?", plan.text("outcome")];
  const ordered = data.command === "schedule";
  const { traffic } = data;
  const least = traffic !== null && tone === "good";
  const where = plan.raw.head["fixed_order"] ? " in program order" : "";
  const label = traffic
    ? Number(traffic.avoidable) === 0
      ? "Fits: nothing has to leave"
      : `Fits with spills: ${least ? `no plan${where} has less traffic` : "less traffic may be possible"}`
    : ordered
      ? tone === "good"
        ? "No order has a lower peak"
        : "A better order may exist"
      : text;
  const peak = plan.raw.peak;
  const height = plan.number("height");
  const figures: Child[] = [];
  const add = (title: string, value: Child, note: Child = null) => figures.push(figure(title, value, note));
  if (!ordered) {
    const capacity = plan.number("capacity");
    const over = height !== null && capacity !== null && Number(height) > Number(capacity);
    add(
      "Height",
      amount(height, "height"),
      over ? `${bytes(difference(height!, capacity!))} over the capacity` : height === null ? "no plan" : null,
    );
    if (capacity !== null) {
      add("Capacity", amount(capacity, "capacity"), height !== null ? `${percent(height, capacity)} needed` : null);
    }
  }
  if (traffic) {
    const gap = difference(traffic.avoidable, traffic.lower_bound);
    add(
      "Traffic off chip",
      amount(traffic.avoidable, "traffic"),
      `${bytes(traffic.spilled)} written, ${bytes(traffic.retrieved)} read; ${least ? `proved the least${where}` : `at most ${percent(gap, traffic.avoidable)} to gain`}`,
    );
    add("Compulsory traffic", amount(sum([traffic.compulsory_in, traffic.compulsory_out]), "compulsory"), `${bytes(traffic.compulsory_in)} in, ${bytes(traffic.compulsory_out)} out`);
  }
  const bound = plan.number("lower_bound");
  const reached = ordered ? plan.number("peak") : height;
  if (!traffic) add(
    "Lower bound",
    amount(bound, "lower_bound"),
    bound !== null && reached !== null
      ? Number(reached) === Number(bound)
        ? "reached: nothing is lower"
        : `at most ${percent(difference(reached, bound), bound)} to gain`
      : null,
  );
  const before = plan.number("program_order_peak");
  add(
    "Peak load",
    amount(peak.load, "load"),
    before !== null && before !== peak.load
      ? `${percent(difference(before, peak.load), before)} less than as written`
      : `at step ${grouped(peak.start)}`,
  );
  if (plan.placed) {
    const lost = sum([peak.padding, peak.fragmentation]);
    add("Lost at the peak", amount(lost, "lost"), height === null ? null : Number(lost) === 0 ? "nothing to gain by packing" : `${percent(lost, height)} of the height`);
  }
  const graph = plan.raw.graph;
  add("Buffers", h("b", {}, grouped(plan.n)), graph ? `${grouped(graph.operators.name.length)} operators` : null);
  return top(data.command, [named(input?.name ?? "plan", 80)], tone, [h("span", { "aria-hidden": "true" }, sign), label], figures);
}
function diffHeader(app: PlanPage): HTMLElement {
  const [before, after] = app.plans as [Plan, Plan];
  const diff = app.data.diff!;
  const row = (title: string, key: string, x: Num, y: Num) => {
    const delta = difference(y, x);
    const sign = Number(delta) > 0 ? "+" : "";
    const change = Number(delta) === 0 ? "unchanged" : `${sign}${bytes(delta)} (${sign}${percent(delta, x)})`;
    return figure(
      title,
      h("span", { class: "from" }, amount(x, `${key}-before`), h("span", { class: "arrow", "aria-label": "to" }, "→"), amount(y, `${key}-after`)),
      change,
      Number(delta) > 0 ? "bad" : Number(delta) < 0 ? "good" : "",
    );
  };
  // A buffer counts for each way in which it changed, as in the command's own summary.
  const count = (is: (change: number[]) => boolean) => diff.changed.filter(is).length;
  const growth = ([i, j]: number[]) => after.size[j!]! - before.size[i!]!;
  const counts: [number, string][] = [
    [diff.added.length, "new"],
    [diff.removed.length, "gone"],
    [count((change) => growth(change) > 0), "grown"],
    [count((change) => growth(change) < 0), "shrunk"],
    [count((change) => change[3] === 1), "moved"],
    [count((change) => change[4] === 1), "retimed"],
  ];
  const parts = counts.filter(([n]) => n > 0);
  const text = parts.length ? parts.map(([n, name]) => `${grouped(n)} ${name}`).join(", ") : "The plans are the same";
  return top("diff", [named(before.text("file"), 50), " → ", named(after.text("file"), 50)], "unsure", [text], [
    row("Height", "height", before.number("height")!, after.number("height")!),
    row("Peak load", "load", diff.before.load, diff.after.load),
    figure("Buffers", h("b", {}, `${grouped(before.n)} → ${grouped(after.n)}`), `${grouped(diff.unchanged)} unchanged${diff.same_order ? "" : ", other order of operators"}`),
  ]);
}

export function conflictSentence(c: NonNullable<Data["conflict"]>): string {
  const count = `${grouped(c.buffers.length)} buffer${c.buffers.length === 1 ? "" : "s"}`;
  if (c.pins_collide) return "Two pinned buffers overlap: no capacity would do. Move one of them.";
  if (c.capacity !== null && Number(c.load) > Number(c.capacity)) {
    return `Needs ${bytes(c.load)} of ${bytes(c.capacity)} at step ${grouped(c.step)}, short by ${bytes(c.short_by)}: ${c.buffers.length === 1 ? "this buffer alone does not fit." : `these ${count} are live together.`}`;
  }
  return `These ${count} cannot be placed together in ${bytes(c.capacity ?? 0)}, though at most ${bytes(c.load)} of them are live at once (step ${grouped(c.step)}): short by at least ${bytes(c.short_by)}.`;
}
export function conflictBox(app: PlanPage): HTMLElement {
  const c = app.data.conflict!;
  return h(
    "section",
    { class: "conflict", "aria-label": "Why it does not fit" },
    h("h2", {}, "Why it does not fit"),
    h("p", {}, conflictSentence(app.data.conflict!)),
    h(
      "p",
      { class: "note" },
      c.minimal && c.buffers.length > 1 && !c.pins_collide ? "Without any one of these the others fit. " : "",
      c.works_with !== null ? `Enough: ${bytes(c.works_with)} (${grouped(c.works_with)} B), the smallest capacity known to work. ` : "",
      button("Show these buffers", () => app.openTab("why")),
    ),
  );
}
