// The page of a plan, or of two side by side: pictures, selection and filter.
import { type Classes, changesOf, classesOf, modesOf } from "./colors";
import { conflictBox } from "./conflict";
import { CopyLines, copiesPanel } from "./copies";
import { type Data, type Lane, type Move, Plan, Uses, movesOf } from "./data";
import { bufferDetails, peakDetails, stepDetails } from "./details";
import { h, named, withKeys } from "./dom";
import { parseFilter } from "./filter";
import { abridged, bytes, cost, grouped, percent, visible } from "./format";
import { same } from "./gestures";
import { planHeader } from "./header";
import {
  costDetails,
  displacedPanel,
  leftOutPanel,
  memoriesPanel,
  trafficDetails,
} from "./memories";
import { Page, type Keys, type Panel, viewFrom } from "./page";
import {
  aboutPanel,
  buffersPanel,
  changesPanel,
  fitPanel,
  operatorsPanel,
  peakPanel,
  transfersPanel,
  whyPanel,
} from "./panels";
import { button, nothingSelected, pictureBox } from "./parts";
import type { PlanApp } from "./plan-app";
import { NO_MARKS, Plot } from "./plot";
import { csv, summary } from "./save";
import { isDark, themeNow } from "./theme";

/** The lanes that have a picture: all but empty memories. */
function drawn(plan: Plan): Lane[] {
  const lanes = plan.lanes.filter((lane) => !lane.empty);
  return lanes.length ? lanes : plan.lanes.slice(0, 1);
}

export class PlanPage extends Page implements PlanApp {
  data!: Data;
  plans!: Plan[];
  plots: Plot[] = []; // Of each plan its lanes, one plan after the other.
  uses!: (Uses | null)[];
  changes!: (Uint8Array | null)[];
  moves!: Move[];
  private lines: CopyLines | null = null; // Of a plan with copies between memories.
  private classes: Classes[] = [];
  private readonly looked = new Map<string, Classes[]>(); // The newest of each way to colour.
  private mode = "";
  private side = 0; // The plan that the selection belongs to.
  selected = -1;
  private step: number | null = null;
  private hidden = new Set<number>(); // Classes switched off in the legend.
  private readonly colorBy = h("select", { "aria-label": "Colour by" }) as HTMLSelectElement;

  constructor(data: Data) {
    super("Filter: name, size>1MiB, at:peak", data.plans[0]!.buffers.id.length > 20000 ? 120 : 0);
    this.load(data);
    if (this.plans.length > 1) this.shareScale();
  }
  /** Another plan of the same file, in place of the one that is shown: what is selected, filtered
   * and in view stays, as far as it is there. */
  setData(data: Data): void {
    const name = this.selected < 0 ? null : this.plan.name(this.selected);
    const { step } = this;
    this.load(data);
    this.selected = name === null ? -1 : this.plan.raw.buffers.id.indexOf(name);
    this.step = step !== null && step < this.steps ? step : null;
    this.renew();
  }
  private load(data: Data): void {
    const before = this.plots;
    this.data = data;
    this.plans = data.plans.map((raw) => new Plan(raw));
    this.moves = movesOf(data);
    this.uses = this.plans.map((plan) => (plan.raw.graph ? new Uses(plan) : null));
    this.changes = this.plans.map((plan, side) => (data.diff ? changesOf(data, plan, side) : null));
    [this.kept, this.orders, this.twins] = [[], [], null];
    this.plots = this.plans.flatMap((plan, side) =>
      drawn(plan).map((lane) => {
        const title = this.plotTitle(plan, lane, side);
        const plot = before.find(
          (each) => each.lane.name === lane.name && each.plan.placed === plan.placed,
        );
        if (!plot) return this.plotFor(plan, lane, title);
        plot.setPlan(plan, lane, title);
        return plot;
      }),
    );
    for (const plot of this.plots) {
      plot.marks = {
        ...NO_MARKS,
        moves: this.moves.filter(
          ({ from }) => plot.plan.lanes[plot.plan.laneOfBuffer(from)] === plot.lane,
        ),
        copies: plot.plan.raw.copies.filter(({ from, to }) =>
          [from, to].some((row) => plot.plan.lanes[plot.plan.laneOfBuffer(row)] === plot.lane),
        ),
        conflict: data.conflict ? new Set(data.conflict.buffers) : null,
      };
    }
    this.fillModes();
  }
  private plotFor(plan: Plan, lane: Lane, title: string): Plot {
    const plot = new Plot(plan, lane, title);
    const side = () => this.plans.indexOf(plot.plan);
    plot.onHover = (buffer, x, y) => this.hover(side(), buffer, x, y);
    plot.onSelect = (buffer) => this.select(side(), buffer, false);
    plot.onView = () => {
      // Lanes share their steps, two plans also their addresses.
      const { x0, x1 } = plot.view;
      for (const other of this.plots) {
        if (other === plot) continue;
        const same = other.plan !== plot.plan && other.lane.name === plot.lane.name;
        other.show(same ? plot.view : { ...other.view, x0, x1 }, false);
      }
      this.remember();
    };
    plot.onDraw = () => this.lines?.draw();
    return plot;
  }
  /** The picture that a buffer of a plan is in; for none, the first that is not empty. */
  private plotOf(side: number, buffer: number): Plot {
    const plan = this.plans[side]!;
    const lane = buffer < 0 ? drawn(plan)[0] : plan.lanes[plan.laneOfBuffer(buffer)];
    return this.plots.find((plot) => plot.lane === lane)!;
  }
  /** One scale for both plans: the taller one is drawn taller. */
  private shareScale(): void {
    const all = this.plots.map((plot) => plot.whole);
    const x0 = Math.min(...all.map((whole) => whole.x0));
    const x1 = Math.max(...all.map((whole) => whole.x1));
    for (const plot of this.plots) {
      const same = this.plots.filter((other) => other.lane.name === plot.lane.name);
      const y1 = Math.max(...same.map(({ whole }) => whole.y1));
      plot.whole = { ...plot.whole, x0, x1, y1 };
      plot.view = { ...plot.whole };
    }
  }

  private get plan(): Plan {
    return this.plans[this.side]!;
  }
  private get steps(): number {
    return this.plans[0]!.raw.graph?.operators.name.length ?? 0;
  }
  private plotTitle(plan: Plan, lane: Lane, side: number): string {
    if (lane.name) {
      const which = this.data.diff ? `${side === 0 ? "Old" : "New"} plan, ` : "";
      return which + this.laneTitle(lane);
    }
    const what = plan.placed
      ? "Addresses over time"
      : "Lifetimes, one row per buffer (no addresses)";
    return this.data.diff ? `${side === 0 ? "Old" : "New"} plan: ${visible(plan.head.file)}` : what;
  }
  private laneTitle({ name, height, capacity, empty }: Lane): string {
    if (empty) {
      const size = capacity === null ? "" : ` (${bytes(capacity)})`;
      return `${visible(name)}${size}: empty`;
    }
    if (capacity === null) return `${visible(name)}: ${bytes(height!)}`;
    const filled = Number(capacity) > 0 ? `, ${percent(height!, capacity)} filled` : "";
    return `${visible(name)}: ${bytes(height!)} of ${bytes(capacity)}${filled}`;
  }

  protected header(): HTMLElement {
    return planHeader(this.data, this.plans);
  }
  protected notice(): HTMLElement | null {
    const { conflict } = this.data;
    return conflict ? conflictBox(conflict, this.plans[0]!.head, () => this.openTab("why")) : null;
  }
  protected tools() {
    this.colorBy.addEventListener("change", () => {
      this.mode = this.colorBy.value;
      this.hidden.clear();
      this.applyLooks();
      this.applyFilter();
      this.remember();
    });
    const files: [string, string][] = [
      ["svg", "Picture as SVG"],
      ["png", "Picture as PNG"],
      ["csv", "Buffers as CSV"],
      ["txt", "Summary as text"],
    ];
    return {
      look: [h("label", {}, "Colour", this.colorBy)],
      group: [button("Peak", () => this.goToPeak(), "Go to the peak")],
      files,
    };
  }
  private fillModes(): void {
    const modes = modesOf(this.plans[0]!, this.data.diff !== null);
    if (!modes.some(([value]) => value === this.mode)) {
      this.mode = modes[0]![0];
      this.hidden.clear();
    }
    this.colorBy.replaceChildren(...modes.map(([value, title]) => h("option", { value }, title)));
  }
  protected pictures() {
    this.lines = null;
    // Of an empty memory among several there is its title alone.
    const sections = this.plans.map((plan, side) =>
      plan.lanes.map((lane) => {
        const plot = this.plots.find((each) => each.lane === lane);
        const title = this.plotTitle(plan, lane, side);
        return plot ? pictureBox(title, plot.root) : pictureBox(title);
      }),
    );
    // Memories stand in one column, one below the other.
    const lanes = this.plans[0]!.raw.memories !== null;
    const columns = sections.map((column) => h("div", { class: "lanes" }, ...column));
    if (this.data.diff) {
      return lanes
        ? { kind: "picture two lanes", sections: columns }
        : { kind: "picture two", sections: sections.flat() };
    }
    if (!lanes) return { kind: "picture", sections: sections.flat() };
    if (this.plans[0]!.raw.copies.length) {
      this.lines = new CopyLines(this.plans[0]!, this.plots);
      columns[0]!.append(this.lines.root);
    }
    return { kind: "picture lanes", sections: columns };
  }
  protected helpTexts() {
    return {
      spoken:
        "Arrow keys pan, plus and minus zoom, 0 shows all, comma and period step through the " +
        "buffers, P shows the peak, Enter zooms to the selection, question mark lists all keys.",
      keys: [
        ["Wheel", "zoom; with Shift only time, with Alt only addresses"],
        ["Drag", "pan; on the map, move the view"],
        ["Double click", "zoom to a buffer; elsewhere, show all"],
        [", .", "previous, next buffer in time"],
        ["Enter", "zoom to the selection"],
        ["P", "go to the peak"],
      ] as [string, string][],
      filters: [
        ['conv "two words"', "names of buffers and of the operators that make them"],
        ["size>1MiB offset<64K", "also >= <= = ; lifetime, start, end in steps"],
        ["live:120", "live at step 120"],
        ["at:peak", "live at the peak"],
        ["in:sram is:displaced", "in a memory; not where it costs the least (several memories)"],
        ["is:pinned is:aligned", "with a fixed offset, with an alignment"],
        ["kind:gradient op:Conv", "kind of tensor, operator (graphs)"],
        ["is:moved is:grown is:new …", "how it changed (two plans)"],
      ] as [string, string][],
    };
  }
  protected listPanels(): Panel[] {
    const panels: Panel[] = [];
    const add = (name: string, title: string, make: (app: PlanApp) => HTMLElement) =>
      panels.push({ name, title, make: () => make(this) });
    if (this.data.diff) {
      add("changes", "Changes", changesPanel);
    } else {
      if (this.data.conflict) add("why", "Why it does not fit", whyPanel);
      if (this.plans[0]!.raw.memories) {
        add("memories", "Memories", memoriesPanel);
        if (this.plans[0]!.raw.copies.length || this.plans[0]!.raw.run)
          add("copies", this.plans[0]!.raw.run ? "Copies and time" : "Copies", copiesPanel);
        if (this.plans[0]!.scratchpads) add("transfers", "Transfers", transfersPanel);
        if (this.plans[0]!.raw.costs)
          add("displaced", "Not where they cost the least", displacedPanel);
        if (this.plans[0]!.raw.left_out!.length) add("left-out", "Left out", leftOutPanel);
        if (this.plans[0]!.raw.graph) add("operators", "Operators", operatorsPanel);
        add("buffers", "Buffers", buffersPanel);
        add("about", "Where it comes from", aboutPanel);
        return panels;
      }
      add("peak", "The peak", peakPanel);
      const would = this.plans[0]!.head.sizesMissing
        ? "What is unknown"
        : this.data.conflict
          ? "What would make it fit"
          : "What would lower it";
      add("fit", would, fitPanel);
      if (this.plans[0]!.head.traffic) add("transfers", "Transfers", transfersPanel);
      if (this.plans[0]!.raw.graph) add("operators", "Operators", operatorsPanel);
      add("buffers", "Buffers", buffersPanel);
    }
    add("about", "Where it comes from", aboutPanel);
    return panels;
  }
  protected movable(): Plot {
    return this.plotOf(this.side, this.selected);
  }
  protected keys(onButton: boolean): Keys {
    const keys: Keys = {
      p: () => this.goToPeak(),
      ".": () => this.walk(1),
      ",": () => this.walk(-1),
    };
    if (!onButton && this.selected >= 0)
      keys["Enter"] = () => this.movable().reveal(this.selected, true);
    return keys;
  }

  // Looks and filters.

  protected applyLooks(): void {
    this.colorBy.value = this.mode;
    const before = this.looked.get(this.mode);
    this.classes = this.plans.map((plan, side) =>
      classesOf(
        plan,
        this.plans,
        this.mode,
        isDark(),
        this.changes[side]!,
        (i) => this.makerType(side, i),
        before?.[side] ?? null,
      ),
    );
    this.looked.set(this.mode, this.classes);
    const theme = themeNow();
    for (const plot of this.plots) {
      plot.setLooks(this.classes[this.plans.indexOf(plot.plan)]!, theme);
    }
    this.showLegend();
  }
  private makerType(side: number, i: number): string {
    const { graph, buffers } = this.plans[side]!.raw;
    const step = this.uses[side]!.producer[buffers.tensor![i]!]!;
    return step < 0
      ? "no operator"
      : visible(graph!.operators.type[step]! || "no type").slice(0, 40);
  }
  private showLegend(): void {
    const classes = this.classes[0]!;
    const counts = classes.names.map((_, k) =>
      Math.max(...this.classes.map((each) => each.counts[k]!)),
    );
    this.legend.replaceChildren(
      ...classes.names.flatMap((name, k) => {
        if (!counts[k]) return [];
        const look = classes.looks[k]!;
        const swatch = h("span", {
          class: `swatch pattern${look.pattern}`,
          style: `--swatch:${look.color}`,
          "aria-hidden": "true",
        });
        return [this.legendButton(this.hidden, k, swatch, name, grouped(counts[k]!))];
      }),
    );
  }
  private kept: number[][] = [];
  protected applyFilter(): void {
    let fault = "";
    let found = 0;
    this.kept = this.plans.map((plan, side) => {
      const filter = parseFilter(this.query, plan, this.uses[side]!, this.changes[side]!);
      fault ||= filter.fault;
      const rows: number[] = [];
      const mask = new Uint8Array(plan.n);
      for (let i = 0; i < plan.n; ++i) {
        if (this.hidden.size && this.hidden.has(this.classes[side]!.of[i]!)) continue;
        if (filter.test && !filter.test(i)) continue;
        mask[i] = 1;
        rows.push(i);
      }
      for (const plot of this.plots) {
        if (plot.plan !== plan) continue;
        plot.kept = rows.length === plan.n ? null : mask;
        plot.refresh();
      }
      found += rows.length;
      return rows;
    });
    const total = this.plans.reduce((all, plan) => all + plan.n, 0);
    this.showMatches(
      fault || (found === total ? "" : `${grouped(found)} of ${grouped(total)}`),
      fault !== "",
    );
    this.fillTables();
  }
  protected fillTables(): void {
    if (!this.kept.length) return;
    this.tables.get("buffers")?.setRows(this.kept[0]!);
    const transfers = this.tables.get("transfers");
    if (transfers) {
      const kept = this.plots[0]!.kept;
      const end = (m: number) => this.plans[0]!.end[this.moves[m]!.from]!;
      const rows = this.moves.flatMap(({ from, to }, m) =>
        !kept || kept[from] || kept[to] ? [m] : [],
      );
      transfers.setRows(rows.sort((x, y) => end(x) - end(y) || x - y));
    }
    const diff = this.data.diff;
    if (diff) this.fillChanges(diff);
    this.markTables();
  }
  /** Rows as changesPanel() has them. */
  private fillChanges(diff: NonNullable<Data["diff"]>): void {
    const n = this.plans[1]!.n;
    const [oldMask, newMask] = this.kept.map((rows) => new Set(rows)) as [Set<number>, Set<number>];
    this.tables
      .get("changes")
      ?.setRows([
        ...diff.added.filter((i) => newMask.has(i)),
        ...diff.changed.map((change) => change[1]).filter((i) => newMask.has(i)),
        ...diff.removed.filter((i) => oldMask.has(i)).map((i) => n + i),
      ]);
  }
  private markTables(): void {
    const { selected, step } = this;
    const of = (ends: { from: number; to: number }[]) =>
      selected < 0 ? -1 : ends.findIndex(({ from, to }) => from === selected || to === selected);
    this.tables.get("buffers")?.mark(selected);
    this.tables.get("displaced")?.mark(selected);
    this.tables.get("copies")?.mark(of(this.plan.raw.copies));
    this.tables.get("transfers")?.mark(of(this.moves));
    this.tables.get("operators")?.mark(step ?? -1);
  }
  protected nextMatch(direction: number): void {
    const rows = this.kept[this.side]!;
    if (!rows.length) {
      this.say("Nothing matches.");
      return;
    }
    const at = rows.indexOf(this.selected);
    this.select(this.side, rows[(at + direction + rows.length) % rows.length]!, true);
  }

  // Selection.

  select(side: number, buffer: number, reveal: boolean): void {
    this.side = side;
    this.selected = buffer;
    this.step = null;
    const plan = this.plan;
    const plot = this.plotOf(side, buffer);
    this.plots.forEach(
      (each) => (each.marks = { ...each.marks, selected: -1, related: [], step: null }),
    );
    if (buffer >= 0) {
      const near = plan.neighbours(buffer);
      plot.marks.related = [near.below, near.above, near.before, near.after]
        .filter((i) => i >= 0)
        .map((i) => ({ buffer: i, kind: "neighbour" }));
      const tensor = plan.raw.buffers.tensor;
      if (tensor) {
        // The other residencies of the same tensor.
        tensor.forEach((t, i) => {
          if (i !== buffer && t === tensor[buffer])
            plot.marks.related.push({ buffer: i, kind: "same" });
        });
      }
      plot.marks.selected = buffer;
      const b = plan.raw.buffers;
      const where = b.offset ? `, at ${b.offset[buffer]}` : "";
      this.say(
        `${abridged(plan.name(buffer), 80)}, ${bytes(b.size[buffer]!)}, ` +
          `live from step ${b.start[buffer]} to before ${b.end[buffer]}${where}`,
      );
      if (this.data.diff) {
        const other = this.twin(side, buffer);
        if (other >= 0) this.plotOf(1 - side, other).marks.selected = other;
      }
      for (const each of plan.displaced.get(buffer) ?? []) {
        for (const i of each.in_the_way) {
          this.plotOf(side, i).marks.related.push({ buffer: i, kind: "same" });
        }
      }
      if (reveal) plot.reveal(buffer, false);
    }
    for (const each of this.plots) each.draw();
    this.markTables();
    this.showDetails();
    this.remember();
  }
  zoomTo(side: number, buffer: number): void {
    this.plotOf(side, buffer).reveal(buffer, true);
  }
  private twins: Map<number, number>[] | null = null;
  twin(side: number, buffer: number): number {
    if (!this.twins) {
      const [before, after] = this.plans as [Plan, Plan];
      const byName = new Map(before.raw.buffers.id.map((id, i) => [id, i]));
      this.twins = [new Map(), new Map()];
      after.raw.buffers.id.forEach((id, j) => {
        const i = byName.get(id);
        if (i === undefined) return;
        this.twins![0]!.set(i, j);
        this.twins![1]!.set(j, i);
      });
    }
    return this.twins[side]!.get(buffer) ?? -1;
  }
  selectStep(step: number, reveal = true): void {
    this.selected = -1;
    this.step = step;
    const plan = this.plans[0]!;
    for (const plot of this.plots) {
      plot.marks = { ...plot.marks, selected: -1, step, related: [] };
      if (reveal) plot.revealStep(step);
      else plot.draw();
    }
    const uses = this.uses[0];
    for (const t of uses?.basesAt(plan, step) ?? []) {
      const buffer = uses!.bufferOf[t]!;
      if (buffer >= 0) this.plotOf(0, buffer).marks.related.push({ buffer, kind: "used" });
    }
    this.markTables();
    this.showDetails();
    this.say(`Step ${step}: ${abridged(plan.raw.graph?.operators.name[step] ?? "", 80)}`);
    this.remember();
  }
  private goToPeak(): void {
    // Lanes move together: to the peak of the first, or of the one with the selection.
    const lanes = this.plans[0]!.raw.memories !== null;
    const pictures = lanes ? [this.movable()] : this.plots;
    pictures.forEach((plot) => {
      const start = Number(plot.lane.peak.start);
      const span = Math.max(20, (plot.whole.x1 - plot.whole.x0) / 20);
      plot.show(
        { ...plot.whole, x0: start + 0.5 - span / 2, x1: start + 0.5 + span / 2 },
        plot === pictures[0],
      );
    });
    this.openTab(lanes ? "memories" : "peak");
  }
  private hover(side: number, buffer: number, x: number, y: number): void {
    if (buffer < 0) {
      this.tip.hidden = true;
      return;
    }
    const plan = this.plans[side]!;
    const b = plan.raw.buffers;
    const graph = plan.raw.graph;
    const t = b.tensor?.[buffer];
    const shape =
      graph && t !== undefined
        ? [graph.tensors.dtype[t], graph.tensors.shape[t]].filter(Boolean).join(" ")
        : "";
    const steps = `steps ${grouped(b.start[buffer]!)} to ${grouped(b.end[buffer]!)}`;
    this.showTip(
      x,
      y,
      h("b", {}, named(plan.name(buffer), 60)),
      h("span", {}, `${bytes(b.size[buffer]!)}${shape ? `, ${abridged(shape, 40)}` : ""}`),
      h("span", {}, `${steps}${b.offset ? `, at ${grouped(b.offset[buffer]!)}` : ""}`),
      plan.atPeak.has(buffer)
        ? h(
            "span",
            { class: "peak" },
            `${percent(b.size[buffer]!, plan.loadOf(buffer))} of the peak`,
          )
        : null,
      plan.raw.costs
        ? h("span", {}, `costs ${cost(plan.costOf(buffer) ?? 0, plan.head.costUnit)}`)
        : null,
    );
  }
  protected showDetails(): void {
    const nothing = this.selected < 0 && this.step === null;
    this.details.classList.toggle("quiet", nothing);
    const hint =
      "Select a buffer by a click, or with `,` and `.` to see its size and lifetime, " +
      "the operators that make and use it, and its neighbours in memory.";
    this.details.replaceChildren(
      ...(nothing
        ? this.data.diff
          ? nothingSelected(hint)
          : [
              ...(this.plan.scratchpads
                ? trafficDetails(this)
                : this.plan.raw.costs
                  ? costDetails(this)
                  : peakDetails(this)),
              h("p", { class: "note" }, ...withKeys(hint)),
            ]
        : this.selected < 0
          ? stepDetails(this, this.step!)
          : bufferDetails(this, this.side, this.selected)),
    );
  }

  private orders: number[][] = [];
  /** To the next buffer in time that passes the filter. */
  private walk(direction: number): void {
    const plan = this.plan;
    const order = (this.orders[this.side] ??= Array.from({ length: plan.n }, (_, i) => i).sort(
      (i, j) => plan.start[i]! - plan.start[j]! || plan.y[i]! - plan.y[j]!,
    ));
    const kept = this.plotOf(this.side, -1).kept;
    let at = this.selected < 0 ? (direction > 0 ? -1 : 0) : order.indexOf(this.selected);
    for (let tried = 0; tried < order.length; ++tried) {
      at = (at + direction + order.length) % order.length;
      if (!kept || kept[order[at]!]) {
        this.select(this.side, order[at]!, true);
        return;
      }
    }
  }

  protected selectNothing(): void {
    this.select(this.side, -1, false);
  }
  protected reselect(reveal: boolean): void {
    if (this.step === null) this.select(this.side, this.selected, reveal);
    else this.selectStep(this.step, reveal);
  }

  // Links and files.

  protected stateTo(link: URLSearchParams): void {
    if (this.selected >= 0) {
      const name = this.plan.name(this.selected);
      if (name.length <= 200) link.set("buffer", name);
      else link.set("number", String(this.selected));
      if (this.side) link.set("plan", String(this.side));
    }
    if (this.step !== null) link.set("step", String(this.step));
    link.set("colour", this.mode);
    const { view, whole } = this.plots[0]!;
    if (!same(view, whole)) {
      link.set(
        "view",
        [view.x0, view.x1, view.y0, view.y1].map((each) => Math.round(each * 100) / 100).join(","),
      );
    }
  }
  protected stateFrom(link: URLSearchParams): void {
    const side = Number(link.get("plan"));
    if (side === 1 && this.plans.length > 1) this.side = 1;
    const mode = link.get("colour");
    if (mode && modesOf(this.plans[0]!, this.data.diff !== null).some(([name]) => name === mode))
      this.mode = mode;
    const view = viewFrom(link.get("view"));
    if (view) this.plots[0]!.show(view, true);
    const name = link.get("buffer");
    const number = link.get("number");
    this.selected =
      name !== null
        ? this.plan.raw.buffers.id.indexOf(name)
        : number !== null && Number(number) < this.plan.n
          ? Number(number)
          : -1;
    this.step = null;
    const step = link.get("step");
    queueMicrotask(() => {
      if (this.selected >= 0) this.select(this.side, this.selected, !view);
      else if (step !== null && Number(step) >= 0 && Number(step) < this.steps)
        this.selectStep(Math.floor(Number(step)));
    });
  }
  protected fileStem(): string {
    return this.plans[0]!.head.input;
  }
  protected async file(kind: string): Promise<Blob | null> {
    const plot = this.movable();
    if (kind === "png") return new Promise((done) => plot.toCanvas().toBlob(done, "image/png"));
    if (kind === "svg") return new Blob([plot.toSvg()], { type: "image/svg+xml" });
    if (kind === "csv")
      return new Blob([csv(this.plan, this.kept[this.side]!)], { type: "text/csv" });
    return new Blob([summary(this.data, this.plans)], { type: "text/plain" });
  }
}
