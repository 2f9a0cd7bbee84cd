// The panels below the picture: what the peak is made of, what would lower it, and everything as tables.
import { CHANGES } from "./colors";
import type { Num, Plan } from "./data";
import { bufferLink, stepLink } from "./details";
import { type Child, h, named } from "./dom";
import { abridged, bytes, difference, grouped, percent, sum, visible } from "./format";
import { conflictSentence } from "./header";
import { amount } from "./parts";
import type { PlanPage } from "./plan-page";
import type { TableColumn } from "./table";

function bufferColumns(app: PlanPage, side: number): TableColumn[] {
  const plan = app.plans[side]!;
  const b = plan.raw.buffers;
  const columns: TableColumn[] = [
    { title: "Buffer", width: "minmax(9rem, 3fr)", text: (i) => named(plan.name(i), 70), value: (i) => plan.name(i) },
    { title: "Bytes", width: "minmax(7rem, 1fr)", number: true, text: (i) => grouped(b.size[i]!), value: (i) => plan.size[i]! },
  ];
  if (b.offset) columns.push({ title: "Offset", width: "minmax(7rem, 1fr)", number: true, text: (i) => grouped(b.offset![i]!), value: (i) => plan.y[i]! });
  columns.push(
    { title: "From step", width: "6rem", number: true, text: (i) => grouped(b.start[i]!), value: (i) => plan.start[i]! },
    { title: "To before", width: "6rem", number: true, text: (i) => grouped(b.end[i]!), value: (i) => plan.end[i]! },
  );
  const graph = plan.raw.graph;
  if (graph && b.tensor) {
    const uses = app.uses[side]!;
    columns.push(
      { title: "Kind", width: "6rem", text: (i) => graph.tensors.kind[b.tensor![i]!]!, value: (i) => graph.tensors.kind[b.tensor![i]!]! },
      { title: "Made by", width: "minmax(8rem, 2fr)", text: (i) => (uses.producer[b.tensor![i]!]! < 0 ? "before the run" : named(graph.operators.name[uses.producer[b.tensor![i]!]!]!, 50)), value: (i) => uses.producer[b.tensor![i]!]! },
    );
    if (graph.tensors.shape.some((shape) => shape) || graph.tensors.dtype.some((dtype) => dtype)) columns.push(
      { title: "Shape", width: "minmax(7rem, 1.4fr)", text: (i) => named([graph.tensors.dtype[b.tensor![i]!], graph.tensors.shape[b.tensor![i]!]].filter(Boolean).join(" "), 40) },
    );
  }
  return columns;
}

export function buffersPanel(app: PlanPage): HTMLElement {
  const plan = app.plans[0]!;
  const rows = Array.from({ length: plan.n }, (_, i) => i);
  return app.table("buffers", "Buffers", bufferColumns(app, 0), rows, "No buffer passes the filter.", (i) => app.select(0, i, true)).root;
}

export function peakPanel(app: PlanPage): HTMLElement {
  const plan = app.plans[0]!;
  const peak = plan.raw.peak;
  const graph = plan.raw.graph;
  if (!plan.n) return h("p", {}, "There are no buffers.");
  const height = plan.number("height");
  const live = new Map(peak.live.map(([i, size]) => [i, size]));
  const op = graph?.operators.name[Number(peak.start)];
  const columns = bufferColumns(app, 0);
  columns.splice(2, 0, { title: "Share", width: "6.5rem", number: true, text: (i) => percent(live.get(i)!, peak.load), value: (i) => Number(live.get(i)!) });
  columns[1] = { title: "Bytes", width: "minmax(7rem, 1fr)", number: true, text: (i) => grouped(live.get(i)!), value: (i) => Number(live.get(i)!) };
  const rest = height !== null ? difference(height, peak.load) : 0;
  const parts: [string, Num, string][] = [["live", peak.load, "load"], ["padding for alignment", peak.padding, "padding"], ["holes", peak.fragmentation, "fragmentation"]];
  return h(
    "div",
    {},
    h("p", {}, `At step ${grouped(peak.start)} the most bytes are live`, op ? ", while " : "", op ? stepLink(app, Number(peak.start)) : "", op ? " runs" : "", `: ${bytes(peak.load)} in ${grouped(peak.live.length)} buffers.`),
    plan.placed && height !== null
      ? h("div", { class: "stack", role: "img", "aria-label": parts.map(([name, value]) => `${name} ${bytes(value)}`).join(", ") }, ...parts.filter(([, value]) => Number(value) > 0).map(([name, value, key]) => {
          const share = (100 * Number(value)) / Math.max(1, Number(height));
          return h("span", { class: key, style: `flex-grow:${share}`, title: `${name}: ${grouped(value)} B` });
        }))
      : null,
    plan.placed && height !== null
      ? h("p", { class: "parts" }, ...parts.map(([name, value, key]) => h("span", {}, h("i", { class: `key ${key}`, "aria-hidden": "true" }), `${name} `, h("b", { "data-figure": key, "data-value": String(value) }, bytes(value)), ` (${percent(value, height)})`)))
      : null,
    plan.placed && height !== null
      ? h("p", { class: "note" }, Number(rest) === 0 ? "Nothing is lost between the buffers at the peak: no better placement exists for these lifetimes." : `Height ${bytes(height)} = ${bytes(peak.load)} live + ${bytes(rest)} in ${grouped(peak.holes.length)} ${peak.holes.length === 1 ? "hole" : "holes"}. A better placement could save ${bytes(difference(height, plan.number("order_lower_bound") ?? plan.number("lower_bound") ?? 0))} at most, as the bound proves.`)
      : null,
    app.table("peak", "What the peak is made of", columns, peak.live.map(([i]) => i), "Nothing is live.", (i) => app.select(0, i, true)).root,
    peak.holes.length ? holesTable(app) : null,
  );
}

function holesTable(app: PlanPage): HTMLElement {
  const plan = app.plans[0]!;
  const holes = plan.raw.peak.holes;
  const most = 20;
  const body = holes.slice(0, most).map((hole) =>
    h("tr", {}, h("td", { class: "number" }, grouped(hole.lower)), h("td", { class: "number" }, grouped(hole.upper)), h("td", { class: "number" }, grouped(difference(hole.upper, hole.lower))), h("td", { class: "number" }, grouped(hole.padding)), h("td", {}, hole.above === null ? "top of the arena" : bufferLink(app, 0, hole.above))),
  );
  return h("details", { class: "holes" }, h("summary", {}, `${grouped(holes.length)} ${holes.length === 1 ? "hole" : "holes"} at the peak`), h("table", {}, h("thead", {}, h("tr", {}, ...["From byte", "To byte", "Bytes", "of which padding", "Below"].map((title, k) => h("th", { scope: "col", class: k < 4 ? "number" : "" }, title)))), h("tbody", {}, ...body)), holes.length > most ? h("p", { class: "note" }, `and ${grouped(holes.length - most)} more`) : null);
}

export function operatorsPanel(app: PlanPage): HTMLElement {
  const plan = app.plans[0]!;
  const graph = plan.raw.graph!;
  const o = graph.operators;
  const made = (step: number) => sum(o.outputs[step]!.filter((t) => graph.tensors.base[t] === null).map((t) => graph.tensors.bytes[t]!));
  const columns: TableColumn[] = [
    { title: "Step", width: "5rem", number: true, text: (s) => grouped(s), value: (s) => s },
    { title: "Operator", width: "minmax(9rem, 3fr)", text: (s) => named(o.name[s]!, 70), value: (s) => o.name[s]! },
    { title: "Type", width: "minmax(6rem, 1.4fr)", text: (s) => named(o.type[s]!, 40), value: (s) => o.type[s]! },
    { title: "Live bytes", width: "minmax(7rem, 1fr)", number: true, text: (s) => grouped(plan.liveAt(s)), value: (s) => Number(plan.liveAt(s)) },
    { title: "Makes", width: "minmax(7rem, 1fr)", number: true, text: (s) => grouped(made(s)), value: (s) => Number(made(s)) },
    { title: "As written", width: "6.5rem", number: true, text: (s) => grouped(o.program[s]!), value: (s) => o.program[s]! },
  ];
  return app.table("operators", "Operators in the order in which they run", columns, o.name.map((_, s) => s), "There are no operators.", (s) => app.selectStep(s)).root;
}

export function whyPanel(app: PlanPage): HTMLElement {
  const c = app.data.conflict!;
  const plan = app.plans[0]!;
  const rows = [...c.buffers].sort((x, y) => plan.size[y]! - plan.size[x]! || x - y);
  return h("div", {}, h("p", {}, conflictSentence(app.data.conflict!)), app.table("why", "Buffers that do not fit together", bufferColumns(app, 0), rows, "None.", (i) => app.select(0, i, true)).root);
}

export function fitPanel(app: PlanPage): HTMLElement {
  const plan = app.plans[0]!;
  const box = h("div", { class: "fit" });
  if (app.data.remedies.length) {
    box.append(h("ol", { class: "remedies" }, ...app.data.remedies.map((remedy) => h("li", {}, h("h3", {}, h("bdi", {}, remedy.title)), h("p", {}, h("bdi", {}, remedy.detail)), remedy.needs !== null ? h("p", { class: "needs" }, "then needed ", amount(remedy.needs)) : null))));
  }
  const relief = plan.raw.relief;
  // Where nothing is missing, or no buffer alone would do, there is nothing to say of shrinking.
  const enough = relief.some((r) => r.enough !== null);
  if (relief.length) {
    box.append(
      h("h3", {}, "Buffers that hold the peak up"),
      h("p", { class: "note" }, "The peak load without each by itself: moved off for the time, recomputed, or gone. Computed from all steps, with everything else as it is."),
      h("table", { class: "relief" },
        h("thead", {}, h("tr", {}, ...["Buffer", "Its bytes", "Peak without it", "Saves", ...(enough ? ["To fit, shrink it by"] : [])].map((title, k) => h("th", { scope: "col", class: k ? "number" : "" }, title)))),
        h("tbody", {}, ...relief.map((r) => h("tr", {}, h("td", {}, bufferLink(app, 0, r.buffer)), h("td", { class: "number" }, grouped(plan.raw.buffers.size[r.buffer]!)), h("td", { class: "number" }, grouped(r.peak)), h("td", { class: "number" }, `${bytes(difference(plan.raw.peak.load, r.peak))} (${percent(difference(plan.raw.peak.load, r.peak), plan.raw.peak.load)})`), enough ? h("td", { class: "number" }, r.enough === null ? "not enough" : grouped(r.enough)) : null)))),
    );
  } else if (plan.n) {
    box.append(h("p", {}, "No buffer by itself holds the peak up: the same load is reached at several steps with nothing in common, so several would have to shrink."));
  }
  for (const note of app.data.notes) box.append(h("p", { class: "advice" }, h("bdi", {}, visible(note))));
  return box;
}

export function aboutPanel(app: PlanPage): HTMLElement {
  const flat = (value: unknown): string => (value === null || value === undefined ? "none" : typeof value === "object" ? JSON.stringify(value) : String(value));
  const skipped = new Set(["options", "schedule_options", "order", "format", "format_version"]);
  const { data } = app;
  return h("div", { class: "about" }, ...app.plans.map((plan, side) => {
    const head = plan.raw.head;
    const rows: Child[] = [];
    const row = (title: string, value: string, key: string) => rows.push(h("dt", {}, title.replaceAll("_", " ")), h("dd", { "data-key": key }, h("bdi", {}, abridged(value, 300))));
    if (!data.diff) row("made by", `berth ${data.command}`, "command");
    for (const [key, value] of Object.entries(head)) {
      if (skipped.has(key)) continue;
      if (key === "input") {
        const input = value as { name: string | null; hash: string | null };
        row("input", flat(input.name), "input.name");
        row("hash of the input", flat(input.hash), "input.hash");
      } else if (key === "count") {
        const count = value as Record<string, boolean>;
        row("counted besides", Object.entries(count).filter(([, on]) => on).map(([name]) => name).join(", ") || "nothing", key);
      } else if (key === "lower_bound" && data.traffic) {
        // What such a plan proves is of its traffic; the height's own bound is another thing.
        row("lower bound of the traffic", flat(data.traffic.lower_bound), key);
        row("lower bound of the height", flat(value), "height_bound");
      } else {
        row(key, flat(value), key);
      }
    }
    if (!data.diff) row("verifier", data.verdict || "nothing to verify", "verifier");
    const options = Object.entries({ ...(head["options"] as object), ...(head["schedule_options"] as object) } as Record<string, unknown>);
    return h("div", {}, data.diff ? h("h3", {}, side ? "New" : "Old") : null, h("dl", {}, ...rows), options.length ? h("details", {}, h("summary", {}, `${options.length} options`), h("dl", { class: "options" }, ...options.flatMap(([key, value]) => [h("dt", {}, key), h("dd", { "data-option": key }, flat(value))]))) : null);
  }));
}

export function changesPanel(app: PlanPage): HTMLElement {
  const [before, after] = app.plans as [Plan, Plan];
  const n = after.n;
  const [x, y] = [before.raw.buffers, after.raw.buffers];
  const old = (row: number) => (row >= n ? row - n : app.twin(1, row));
  const now = (row: number) => (row >= n ? -1 : row);
  const change = (row: number) => CHANGES[row >= n ? 6 : app.changes[1]![row]!]!;
  const column = (title: string, width: string, key: "size" | "offset" | "start" | "end"): TableColumn => ({
    title, width, number: true,
    text: (row) => {
      const a = old(row) < 0 ? null : x[key]![old(row)]!;
      const b = now(row) < 0 ? null : y[key]![now(row)]!;
      if (a === null || b === null) return grouped((a ?? b)!);
      return Number(a) === Number(b) ? grouped(b) : `${grouped(a)} → ${grouped(b)}`;
    },
    value: (row) => Number(now(row) < 0 ? x[key]![old(row)]! : y[key]![now(row)]!),
  });
  const columns: TableColumn[] = [
    { title: "Buffer", width: "minmax(9rem, 2fr)", text: (row) => named(row >= n ? before.name(row - n) : after.name(row), 60), value: (row) => (row >= n ? before.name(row - n) : after.name(row)) },
    { title: "Change", width: "6rem", text: change, value: change },
    column("Bytes", "minmax(8rem, 2fr)", "size"),
    { title: "Growth", width: "8rem", number: true, text: (row) => {
      const delta = difference(now(row) < 0 ? 0 : y.size[now(row)]!, old(row) < 0 ? 0 : x.size[old(row)]!);
      return Number(delta) === 0 ? "–" : (Number(delta) > 0 ? "+" : "") + bytes(delta);
    }, value: (row) => Number(now(row) < 0 ? 0 : y.size[now(row)]!) - Number(old(row) < 0 ? 0 : x.size[old(row)]!) },
    column("Offset", "minmax(9rem, 2fr)", "offset"),
    column("From step", "minmax(6rem, 1fr)", "start"),
    column("To before", "minmax(6rem, 1fr)", "end"),
  ];
  return app.table("changes", "What changed", columns, [], "Nothing changed.", (row) => (row >= n ? app.select(0, row - n, true) : app.select(1, row, true))).root;
}
