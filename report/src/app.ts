// The page: figures, the picture, what is known of what is selected, and everything as tables.
import { CHANGES, type Classes, changesOf, classesOf, modesOf } from "./colors";
import { type Data, type Num, Plan, Uses, parseExactly } from "./data";
import { type Child, h, named } from "./dom";
import { parseFilter } from "./filter";
import { abridged, bytes, difference, grouped, percent, sum, visible } from "./format";
import { Plot } from "./plot";
import { type TableColumn, VirtualTable } from "./table";

const MOST_LINKS = 12;

/** Exact bytes beside the short form, both from the plan. */
function amount(value: Num | null, what = ""): HTMLElement {
  if (value === null) return h("span", { class: "none" }, "none");
  const short = bytes(value);
  const exact = `${grouped(value)} B`;
  return h(
    "span",
    { class: "amount", "data-value": String(value), ...(what ? { "data-figure": what } : {}) },
    h("b", {}, short),
    short === exact ? null : h("small", {}, exact),
  );
}

const OUTCOMES: Record<string, [string, string, string]> = {
  optimal: ["good", "✓", "Proved optimal"],
  feasible: ["unsure", "≈", "Fits; a lower plan may exist"],
  infeasible: ["bad", "✕", "Does not fit"],
  unknown: ["unsure", "?", "Not known whether it fits"],
};

class App {
  readonly plans: Plan[];
  readonly plots: Plot[];
  readonly uses: (Uses | null)[];
  readonly changes: (Uint8Array | null)[];
  private classes: Classes[] = [];
  private mode: string;
  private side = 0; // Which plan the selection is of.
  private selected = -1;
  private step: number | null = null;
  private query = "";
  private tab = "";
  private hidden = new Set<number>(); // Classes switched off in the legend.
  private readonly tables = new Map<string, VirtualTable>();
  private readonly panels = new Map<string, { button: HTMLButtonElement; panel: HTMLElement }>();
  private readonly details = h("aside", { class: "details", "aria-label": "Selection" });
  private readonly legend = h("div", { class: "legend", role: "group", "aria-label": "Legend and filter" });
  private readonly matches = h("span", { class: "matches", role: "status" });
  private readonly status = h("div", { class: "sr", role: "status", "aria-live": "polite" });
  private readonly tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  private readonly search = h("input", {
    type: "search",
    placeholder: "Search or filter: name, size>1MiB, at:peak …",
    "aria-label": "Search or filter",
    spellcheck: "false",
  }) as HTMLInputElement;
  private readonly colorBy = h("select", { "aria-label": "Colour by" }) as HTMLSelectElement;
  private readonly help = h("dialog", { "aria-labelledby": "help-title" }) as HTMLDialogElement;
  private hashTimer = 0;

  constructor(readonly data: Data) {
    this.plans = data.plans.map((raw) => new Plan(raw));
    this.uses = this.plans.map((plan) => (plan.raw.graph ? new Uses(plan) : null));
    this.changes = this.plans.map((plan, side) => (data.diff ? changesOf(data, plan, side) : null));
    this.plots = this.plans.map((plan, side) => new Plot(plan, this.plotTitle(plan, side)));
    this.mode = modesOf(this.plans[0]!, data.diff !== null)[0]![0];
    const together = this.plots.length > 1;
    if (together) {
      // One scale for both: what is taller is drawn taller.
      const all = this.plots.map((plot) => plot.whole);
      for (const whole of all) {
        whole.x0 = Math.min(...all.map((w) => w.x0));
        whole.x1 = Math.max(...all.map((w) => w.x1));
        whole.y1 = Math.max(...all.map((w) => w.y1));
      }
      for (const plot of this.plots) plot.view = { ...plot.whole };
    }
    this.plots.forEach((plot, side) => {
      plot.onHover = (buffer, x, y) => this.hover(side, buffer, x, y);
      plot.onSelect = (buffer) => this.select(side, buffer, false);
      plot.onView = () => {
        for (const other of this.plots) if (other !== plot) other.show(plot.view, false);
        this.remember();
      };
      plot.marks.spills = data.spills;
      plot.marks.conflict = data.conflict ? new Set(data.conflict.buffers) : null;
    });
  }

  private get plan(): Plan {
    return this.plans[this.side]!;
  }
  private plotTitle(plan: Plan, side: number): string {
    const what = plan.placed ? "Addresses over time" : "Lifetimes, a row for each buffer (no addresses)";
    return this.data.diff ? `${side === 0 ? "Old" : "New"} plan: ${visible(plan.text("file"))}` : what;
  }
  private get dark(): boolean {
    const forced = document.documentElement.dataset.theme;
    return forced ? forced === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  start(root: HTMLElement): void {
    const tabs = this.makeTabs();
    root.replaceChildren(
      h("a", { class: "skip", href: "#panels" }, "Skip to the tables"),
      this.header(),
      h(
        "main",
        {},
        this.data.conflict ? this.conflictBox() : null,
        this.toolbar(),
        this.legend,
        h(
          "div",
          { class: this.data.diff ? "picture two" : "picture" },
          ...this.plots.map((plot) => h("section", { class: "plot-box", "aria-label": plot.title }, h("h2", {}, h("bdi", {}, plot.title)), plot.root)),
          this.details,
        ),
        tabs,
      ),
      h("p", { class: "sr", id: "plot-keys" }, "Arrow keys pan, plus and minus zoom, 0 shows all, comma and period step through the buffers, P shows the peak, Enter brings the selection close, question mark lists all keys."),
      this.status,
      this.tip,
      this.makeHelp(),
    );
    this.restore();
    this.applyLooks();
    this.applyFilter();
    this.showDetails();
    document.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.applyLooks());
    window.addEventListener("hashchange", () => {
      this.restore();
      this.applyLooks();
      this.applyFilter();
      this.select(this.side, this.selected, true);
    });
    const print = (on: boolean) => {
      for (const table of this.tables.values()) table.setPrinting(on);
      document.documentElement.classList.toggle("printing", on);
      this.applyLooks();
    };
    matchMedia("print").addEventListener("change", (event) => print(event.matches));
    window.addEventListener("beforeprint", () => print(true));
    window.addEventListener("afterprint", () => print(false));
  }

  // The top.

  private header(): HTMLElement {
    const data = this.data;
    const plan = this.plans[0]!;
    const input = plan.raw.head["input"] as { name?: string } | undefined;
    if (data.diff) return this.diffHeader();
    const [tone, sign, text] = OUTCOMES[plan.text("outcome")] ?? ["unsure", "?", plan.text("outcome")];
    const ordered = data.command === "schedule";
    const { traffic } = data;
    const least = traffic !== null && tone === "good";
    const label = traffic
      ? Number(traffic.avoidable) === 0
        ? "Fits: nothing has to leave"
        : `Fits with spills: ${least ? "no plan has less traffic" : "less traffic may be possible"}`
      : ordered
        ? tone === "good"
          ? "No order has a lower peak"
          : "A better order may exist"
        : text;
    const peak = plan.raw.peak;
    const height = plan.number("height");
    const figures: Child[] = [];
    const figure = (title: string, value: Child, note: Child = null) =>
      figures.push(h("div", {}, h("dt", {}, title), h("dd", {}, value, note ? h("span", { class: "note" }, note) : null)));
    if (!ordered) {
      const capacity = plan.number("capacity");
      const over = height !== null && capacity !== null && Number(height) > Number(capacity);
      figure(
        "Height",
        amount(height, "height"),
        over ? `${bytes(difference(height!, capacity!))} over the capacity` : height === null ? "no plan" : null,
      );
      if (capacity !== null) {
        figure("Capacity", amount(capacity, "capacity"), height !== null ? `${percent(height, capacity)} needed` : null);
      }
    }
    if (traffic) {
      const gap = difference(traffic.avoidable, traffic.lower_bound);
      figure(
        "Traffic off chip",
        amount(traffic.avoidable, "traffic"),
        `${bytes(traffic.spilled)} written, ${bytes(traffic.retrieved)} read; ${least ? "proved the least" : `at most ${percent(gap, traffic.avoidable)} to gain`}`,
      );
      figure("Compulsory traffic", amount(sum([traffic.compulsory_in, traffic.compulsory_out]), "compulsory"), `${bytes(traffic.compulsory_in)} in, ${bytes(traffic.compulsory_out)} out`);
    }
    const bound = plan.number("lower_bound");
    const reached = ordered ? plan.number("peak") : height;
    if (!traffic) figure(
      "Lower bound",
      amount(bound, "lower_bound"),
      bound !== null && reached !== null
        ? Number(reached) === Number(bound)
          ? "reached: nothing is lower"
          : `at most ${percent(difference(reached, bound), bound)} to gain`
        : null,
    );
    const before = plan.number("program_order_peak");
    figure(
      "Peak load",
      amount(peak.load, "load"),
      before !== null && before !== peak.load
        ? `${percent(difference(before, peak.load), before)} less than as written`
        : `at step ${grouped(peak.start)}`,
    );
    if (plan.placed) {
      const lost = sum([peak.padding, peak.fragmentation]);
      figure("Lost at the peak", amount(lost, "lost"), height === null ? null : Number(lost) === 0 ? "nothing to gain by packing" : `${percent(lost, height)} of the height`);
    }
    const graph = plan.raw.graph;
    figure("Buffers", h("b", {}, grouped(plan.n)), graph ? `${grouped(graph.operators.name.length)} operators` : null);
    return h(
      "header",
      {},
      h("div", { class: "title" }, h("p", { class: "eyebrow" }, `Berth ${data.command}`), h("h1", {}, named(input?.name ?? "plan", 80)), h("p", { class: `badge ${tone}` }, h("span", { "aria-hidden": "true" }, sign), label)),
      h("dl", { class: "figures" }, ...figures),
    );
  }
  private diffHeader(): HTMLElement {
    const [before, after] = this.plans as [Plan, Plan];
    const diff = this.data.diff!;
    const row = (title: string, key: string, x: Num, y: Num) => {
      const delta = difference(y, x);
      const sign = Number(delta) > 0 ? "+" : "";
      const change = Number(delta) === 0 ? "unchanged" : `${sign}${bytes(delta)} (${sign}${percent(delta, x)})`;
      return h(
        "div",
        {},
        h("dt", {}, title),
        h("dd", {}, h("span", { class: "from" }, amount(x, `${key}-before`), h("span", { class: "arrow", "aria-label": "to" }, "→"), amount(y, `${key}-after`)), h("span", { class: `note ${Number(delta) > 0 ? "bad" : Number(delta) < 0 ? "good" : ""}` }, change)),
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
    return h(
      "header",
      {},
      h("div", { class: "title" }, h("p", { class: "eyebrow" }, "Berth diff"), h("h1", {}, named(before.text("file"), 50), " → ", named(after.text("file"), 50)), h("p", { class: "badge unsure" }, text)),
      h("dl", { class: "figures" }, row("Height", "height", before.number("height")!, after.number("height")!), row("Peak load", "load", diff.before.load, diff.after.load), h("div", {}, h("dt", {}, "Buffers"), h("dd", {}, h("b", {}, `${grouped(before.n)} → ${grouped(after.n)}`), h("span", { class: "note" }, `${grouped(diff.unchanged)} unchanged${diff.same_order ? "" : ", other order of operators"}`)))),
    );
  }
  private conflictSentence(): string {
    const c = this.data.conflict!;
    const count = `${grouped(c.buffers.length)} buffer${c.buffers.length === 1 ? "" : "s"}`;
    if (c.pins_collide) return "Two pinned buffers overlap: no capacity would do. Move one of them.";
    if (c.capacity !== null && Number(c.load) > Number(c.capacity)) {
      return `Needs ${bytes(c.load)} of ${bytes(c.capacity)} at step ${grouped(c.step)}, short by ${bytes(c.short_by)}: ${c.buffers.length === 1 ? "this buffer alone does not fit." : `these ${count} are live together.`}`;
    }
    return `These ${count} cannot be placed together in ${bytes(c.capacity ?? 0)}, though at most ${bytes(c.load)} of them are live at once (step ${grouped(c.step)}): short by at least ${bytes(c.short_by)}.`;
  }
  private conflictBox(): HTMLElement {
    const c = this.data.conflict!;
    return h(
      "section",
      { class: "conflict", "aria-label": "Why it does not fit" },
      h("h2", {}, "Why it does not fit"),
      h("p", {}, this.conflictSentence()),
      h(
        "p",
        { class: "note" },
        c.minimal && c.buffers.length > 1 && !c.pins_collide ? "Without any one of these the others fit. " : "",
        c.works_with !== null ? `Enough: ${bytes(c.works_with)} (${grouped(c.works_with)} B), the smallest capacity known to work. ` : "",
        this.button("Show these buffers", () => this.openTab("why")),
      ),
    );
  }

  // Above the picture.

  private button(text: string, act: () => void, title = ""): HTMLElement {
    return h("button", { type: "button", onclick: act, ...(title ? { title, "aria-label": title } : {}) }, text);
  }
  private toolbar(): HTMLElement {
    for (const [value, title] of modesOf(this.plans[0]!, this.data.diff !== null)) {
      this.colorBy.append(h("option", { value }, title));
    }
    this.colorBy.addEventListener("change", () => {
      this.mode = this.colorBy.value;
      this.hidden.clear();
      this.applyLooks();
      this.applyFilter();
      this.remember();
    });
    let timer = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => {
        this.query = this.search.value;
        this.applyFilter();
        this.remember();
      }, this.plan.n > 20000 ? 120 : 0);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.query = this.search.value;
        this.applyFilter();
        this.nextMatch(event.shiftKey ? -1 : 1);
      }
    });
    const save = h("select", { "aria-label": "Save" }) as HTMLSelectElement;
    for (const [value, title] of [["", "Save …"], ["svg", "Picture as SVG"], ["png", "Picture as PNG"], ["csv", "Buffers as CSV"], ["txt", "Summary as text"]]) {
      save.append(h("option", { value: value! }, title!));
    }
    save.addEventListener("change", () => {
      this.save(save.value);
      save.value = "";
    });
    const all = (act: (plot: Plot) => void) => () => act(this.plots[this.side]!);
    return h(
      "div",
      { class: "toolbar", role: "toolbar", "aria-label": "Picture" },
      h("span", { class: "search" }, this.search, this.matches),
      h("label", {}, "Colour", this.colorBy),
      h("span", { class: "group" }, this.button("−", all((plot) => plot.zoom(1.5)), "Zoom out"), this.button("+", all((plot) => plot.zoom(1 / 1.5)), "Zoom in"), this.button("All", all((plot) => plot.reset()), "Show all"), this.button("Peak", () => this.goToPeak(), "Go to the peak")),
      save,
      h("span", { class: "group" }, this.button("◐", () => this.toggleTheme(), "Light or dark"), this.button("?", () => this.help.showModal(), "Keys and filters")),
    );
  }
  private toggleTheme(): void {
    document.documentElement.dataset.theme = this.dark ? "light" : "dark";
    this.applyLooks();
  }
  private makeHelp(): HTMLElement {
    const list = (rows: [string, string][]) => h("dl", { class: "keys" }, ...rows.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)]));
    this.help.append(
      h("h2", { id: "help-title" }, "Keys and filters"),
      h("h3", {}, "Picture"),
      list([
        ["Wheel", "zoom; with Shift only time, with Alt only addresses"],
        ["Drag", "pan; on the map, go there"],
        ["Double click", "bring a buffer close; on nothing, show all"],
        ["← → ↑ ↓", "pan"],
        ["+ −, 0", "zoom; show all"],
        [", .", "previous, next buffer in time"],
        ["Enter", "bring the selection close"],
        ["P", "go to the peak"],
        ["/ , N", "search; next match"],
        ["T", "light or dark"],
        ["Esc", "select nothing"],
      ]),
      h("h3", {}, "Filter: all of these together"),
      list([
        ["conv \"two words\"", "names of buffers and of the operators that make them"],
        ["size>1MiB offset<64K", "also >= <= = ; lifetime, start, end in steps"],
        ["live:120", "live at step 120"],
        ["at:peak", "live at the peak"],
        ["is:pinned is:aligned", "with an offset or an alignment of their own"],
        ["kind:gradient op:Conv", "of graphs"],
        ["is:moved is:grown is:new …", "of two plans"],
      ]),
      this.button("Close", () => this.help.close()),
    );
    return this.help;
  }

  // Looks and filters.

  private applyLooks(): void {
    const printing = document.documentElement.classList.contains("printing");
    const dark = this.dark && !printing;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const theme = {
      dark,
      background: color("--background"),
      surface: color("--surface"),
      text: color("--text"),
      muted: color("--muted"),
      grid: color("--grid"),
      accent: color("--accent"),
      bad: color("--bad"),
      good: color("--good"),
      curve: color("--curve"),
    };
    this.colorBy.value = this.mode;
    this.classes = this.plans.map((plan, side) =>
      classesOf(plan, this.mode, dark, this.changes[side]!, (i) => this.makerType(side, i)),
    );
    this.plots.forEach((plot, side) => plot.setLooks(this.classes[side]!, theme));
    this.showLegend();
  }
  private makerType(side: number, i: number): string {
    const { graph, buffers } = this.plans[side]!.raw;
    const step = this.uses[side]!.producer[buffers.tensor![i]!]!;
    return step < 0 ? "not made" : visible(graph!.operators.type[step]! || "no type").slice(0, 40);
  }
  private showLegend(): void {
    const classes = this.classes[0]!;
    const counts = classes.names.map((_, k) =>
      this.mode === "change" ? Math.max(...this.classes.map((each) => each.counts[k]!)) : classes.counts[k]!,
    );
    this.legend.replaceChildren(
      ...classes.names.map((name, k) => {
        if (!counts[k]) return null;
        const look = classes.looks[k]!;
        const button = h(
          "button",
          { type: "button", "aria-pressed": String(!this.hidden.has(k)), title: "Show or hide these", onclick: () => {
            if (!this.hidden.delete(k)) this.hidden.add(k);
            button.setAttribute("aria-pressed", String(!this.hidden.has(k)));
            this.applyFilter();
          } },
          h("span", { class: `swatch pattern${look.pattern}`, style: `--swatch:${look.color}`, "aria-hidden": "true" }),
          h("bdi", {}, name),
          h("small", {}, grouped(counts[k]!)),
        );
        return button;
      }).filter((button) => button !== null),
    );
  }
  private kept: number[][] = [];
  private applyFilter(): void {
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
      const plot = this.plots[side]!;
      plot.kept = rows.length === plan.n ? null : mask;
      plot.refresh();
      found += rows.length;
      return rows;
    });
    const total = this.plans.reduce((all, plan) => all + plan.n, 0);
    this.matches.textContent = fault || (found === total ? "" : `${grouped(found)} of ${grouped(total)}`);
    this.matches.classList.toggle("fault", fault !== "");
    this.fillTable();
  }
  private fillTable(): void {
    this.tables.get("buffers")?.setRows(this.kept[0]!);
    const diff = this.data.diff;
    if (!diff) return;
    // Rows are buffers of the new plan, and after them those of the old that are gone.
    const n = this.plans[1]!.n;
    const [oldMask, newMask] = this.kept.map((rows) => new Set(rows)) as [Set<number>, Set<number>];
    this.tables.get("changes")?.setRows([
      ...diff.added.filter((i) => newMask.has(i)),
      ...diff.changed.map((change) => change[1]).filter((i) => newMask.has(i)),
      ...diff.removed.filter((i) => oldMask.has(i)).map((i) => n + i),
    ]);
  }
  private nextMatch(direction: number): void {
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
    const plot = this.plots[side]!;
    this.plots.forEach((each) => (each.marks = { ...each.marks, selected: -1, related: [], step: null }));
    if (buffer >= 0) {
      const near = plan.neighbours(buffer);
      plot.marks.related = [near.below, near.above, near.before, near.after].filter((i) => i >= 0).map((i) => ({ buffer: i, kind: "neighbour" }));
      const tensor = plan.raw.buffers.tensor;
      if (tensor) {
        // The other residencies of the same tensor.
        tensor.forEach((t, i) => {
          if (i !== buffer && t === tensor[buffer]) plot.marks.related.push({ buffer: i, kind: "same" });
        });
      }
      plot.marks.selected = buffer;
      this.say(`${abridged(plan.name(buffer), 80)}, ${bytes(plan.raw.buffers.size[buffer]!)}, live from step ${plan.raw.buffers.start[buffer]} to before ${plan.raw.buffers.end[buffer]}${plan.placed ? `, at ${plan.raw.buffers.offset![buffer]}` : ""}`);
      if (this.data.diff) {
        const other = this.twin(side, buffer);
        if (other >= 0) this.plots[1 - side]!.marks.selected = other;
      }
      if (reveal) plot.reveal(buffer, false);
    }
    for (const each of this.plots) each.draw();
    this.tables.get("buffers")?.mark(buffer);
    this.showDetails();
    this.remember();
  }
  private twins: Map<number, number>[] | null = null;
  /** The same buffer in the other plan; -1 where that has none. */
  private twin(side: number, buffer: number): number {
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
  selectStep(step: number): void {
    this.selected = -1;
    this.step = step;
    const plot = this.plots[0]!;
    const plan = this.plans[0]!;
    plot.marks = { ...plot.marks, selected: -1, step, related: [] };
    const uses = this.uses[0];
    if (uses) {
      plot.marks.related = uses.basesAt(plan, step).map((t) => uses.bufferOf[t]!).filter((i) => i >= 0).map((i) => ({ buffer: i, kind: "used" }));
    }
    plot.revealStep(step);
    this.tables.get("operators")?.mark(step);
    this.showDetails();
    this.say(`Step ${step}: ${abridged(plan.raw.graph?.operators.name[step] ?? "", 80)}`);
    this.remember();
  }
  private goToPeak(): void {
    this.plots.forEach((plot) => {
      const start = Number(plot.plan.raw.peak.start);
      const span = Math.max(20, (plot.whole.x1 - plot.whole.x0) / 20);
      plot.show({ ...plot.whole, x0: start + 0.5 - span / 2, x1: start + 0.5 + span / 2 }, plot === this.plots[0]);
    });
    this.openTab("peak");
  }
  private say(text: string): void {
    this.status.textContent = text;
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
    const shape = graph && t !== undefined ? [graph.tensors.dtype[t], graph.tensors.shape[t]].filter(Boolean).join(" ") : "";
    this.tip.replaceChildren(
      h("b", {}, named(plan.name(buffer), 60)),
      h("span", {}, `${bytes(b.size[buffer]!)}${shape ? `, ${abridged(shape, 40)}` : ""}`),
      h("span", {}, `steps ${grouped(b.start[buffer]!)} to ${grouped(b.end[buffer]!)}${plan.placed ? `, at ${grouped(b.offset![buffer]!)}` : ""}`),
      plan.atPeak.has(buffer) ? h("span", { class: "peak" }, `${percent(b.size[buffer]!, plan.raw.peak.load)} of the peak`) : "",
    );
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(x + 14, innerWidth - box.width - 8)}px`;
    this.tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
  }

  private link(side: number, buffer: number): HTMLElement {
    const plan = this.plans[side]!;
    return h("button", { type: "button", class: "link", onclick: () => this.select(side, buffer, true) }, named(plan.name(buffer), 40));
  }
  private stepLink(step: number): HTMLElement {
    const graph = this.plans[0]!.raw.graph!;
    const name = graph.operators.name[step]!;
    const type = graph.operators.type[step]!;
    return h("button", { type: "button", class: "link", onclick: () => this.selectStep(step) }, named(name, 40), h("small", {}, ` ${type && !name.toLowerCase().startsWith(type.toLowerCase()) ? abridged(type, 24) + ", " : ""}step ${grouped(step)}`));
  }
  private some(items: number[], make: (item: number) => HTMLElement): HTMLElement {
    const list = h("ul", {}, ...items.slice(0, MOST_LINKS).map((item) => h("li", {}, make(item))));
    if (items.length > MOST_LINKS) list.append(h("li", {}, `and ${grouped(items.length - MOST_LINKS)} more`));
    return list;
  }
  private showDetails(): void {
    const rows: Child[] = [];
    const fact = (title: string, ...value: Child[]) => rows.push(h("dt", {}, title), h("dd", {}, ...value));
    const plan = this.plan;
    const i = this.selected;
    if (i < 0 && this.step === null) {
      this.details.replaceChildren(h("h2", {}, "Nothing selected"), h("p", {}, "Click a buffer, or step through them with , and . to see what it is, who makes and uses it, and what lies around it."));
      this.details.classList.add("quiet");
      return;
    }
    this.details.classList.remove("quiet");
    if (i < 0) {
      this.stepDetails(this.step!);
      return;
    }
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
    if (this.data.diff) {
      const change = CHANGES[this.changes[this.side]![i]!]!;
      const other = this.twin(this.side, i);
      fact("Change", change);
      if (other >= 0) {
        const o = this.plans[1 - this.side]!.raw.buffers;
        fact(this.side ? "Was" : "Is now", `${bytes(o.size[other]!)}, at ${grouped(o.offset![other]!)}, steps ${grouped(o.start[other]!)} to ${grouped(o.end[other]!)}`);
      }
    }
    this.graphFacts(i, fact);
    const near = plan.neighbours(i);
    const names = { below: "Below", above: "Above", before: "Its bytes before", after: "Its bytes after" } as const;
    for (const [key, title] of Object.entries(names)) {
      const other = near[key as keyof typeof near];
      if (other >= 0) fact(title, this.link(this.side, other));
    }
    for (const move of this.data.spills) {
      if (move.from === i) fact("Leaves", `${bytes(move.written)} written; back at step ${grouped(b.start[move.to]!)}`);
      if (move.to === i) fact("Comes back", `${bytes(move.read)} read; gone since step ${grouped(b.end[move.from]!)}`);
    }
    this.details.replaceChildren(h("h2", {}, named(plan.name(i), 120)), h("dl", {}, ...rows), this.button("Bring close", () => this.plots[this.side]!.reveal(i, true)));
  }
  private graphFacts(i: number, fact: (title: string, ...value: Child[]) => void): void {
    const { graph, buffers } = this.plan.raw;
    const uses = this.uses[this.side];
    if (!graph || !uses || !buffers.tensor) return;
    const t = buffers.tensor[i]!;
    const tensors = graph.tensors;
    fact("Tensor", [tensors.kind[t], tensors.output[t] ? "result of the graph" : ""].filter(Boolean).join(", "));
    if (tensors.dtype[t] || tensors.shape[t]) fact("Shape", h("bdi", {}, abridged(`${tensors.dtype[t]} ${tensors.shape[t]}`, 80)));
    const maker = uses.producer[t]!;
    fact("Made by", maker < 0 ? "there before the run" : this.stepLink(maker));
    const users = uses.usersOf(t).filter((step) => step !== maker);
    fact("Used by", users.length ? this.some(users, (step) => this.stepLink(step)) : "nobody");
    const views = uses.views[t]!;
    if (views.length) fact("Views of it", this.some(views, (view) => named(tensors.name[view]!, 40)));
    const twins = buffers.tensor.flatMap((other, k) => (other === t && k !== i ? [k] : []));
    if (twins.length) fact("Also in memory as", this.some(twins, (k) => this.link(this.side, k)));
  }
  private stepDetails(step: number): void {
    const plan = this.plans[0]!;
    const graph = plan.raw.graph!;
    const uses = this.uses[0]!;
    const tensors = graph.tensors;
    const item = (t: number) => {
      const base = tensors.base[t] ?? t;
      const buffer = uses.bufferOf[base]!;
      return h("span", {}, buffer >= 0 ? this.link(0, buffer) : named(tensors.name[t]!, 40), h("small", {}, ` ${bytes(tensors.bytes[t]!)}${tensors.base[t] !== null ? ", a view" : buffer < 0 ? ", not in the plan" : ""}`));
    };
    const o = graph.operators;
    this.details.replaceChildren(
      h("h2", {}, named(o.name[step]!, 120)),
      h("dl", {}, ...[
        h("dt", {}, "Step"), h("dd", {}, `${grouped(step)} of ${grouped(o.name.length)}${o.program[step] !== step ? `, number ${grouped(o.program[step]!)} as written` : ""}`),
        h("dt", {}, "Type"), h("dd", {}, h("bdi", {}, abridged(o.type[step] || "none", 60))),
        h("dt", {}, "Live then"), h("dd", {}, amount(plan.liveAt(step))),
        h("dt", {}, "Reads"), h("dd", {}, o.inputs[step]!.length ? this.some([...new Set(o.inputs[step]!)], item) : "nothing"),
        h("dt", {}, "Makes"), h("dd", {}, o.outputs[step]!.length ? this.some(o.outputs[step]!, item) : "nothing"),
        ...(o.mutates[step]!.length ? [h("dt", {}, "Writes in place"), h("dd", {}, this.some(o.mutates[step]!, item))] : []),
      ]),
      this.button("What is live then", () => {
        this.search.value = this.query = `live:${step}`;
        this.applyFilter();
        this.openTab("buffers");
      }),
    );
  }

  // Tabs.

  private makeTabs(): HTMLElement {
    const bar = h("div", { role: "tablist", "aria-label": "Tables" });
    const box = h("section", { class: "panels", id: "panels", "aria-label": "Tables" }, bar);
    const add = (name: string, title: string, make: () => HTMLElement) => {
      const button = h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, tabindex: "-1", onclick: () => this.openTab(name, false) }, title) as HTMLButtonElement;
      const panel = h("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true }, h("h2", { class: "print-only" }, title), make());
      this.panels.set(name, { button, panel });
      bar.append(button);
      box.append(panel);
    };
    const plan = this.plans[0]!;
    if (this.data.diff) {
      add("changes", "Changes", () => this.changesPanel());
    } else {
      if (this.data.conflict) add("why", "Why it does not fit", () => this.whyPanel());
      add("peak", "The peak", () => this.peakPanel());
      add("fit", this.data.conflict ? "What would make it fit" : "What would lower it", () => this.fitPanel());
      if (plan.raw.graph) add("operators", "Operators", () => this.operatorsPanel());
      add("buffers", "Buffers", () => this.buffersPanel());
    }
    add("about", "Where it comes from", () => this.aboutPanel());
    bar.addEventListener("keydown", (event) => {
      const names = [...this.panels.keys()];
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      const at = names.indexOf(this.tab);
      this.openTab(names[(at + move + names.length) % names.length]!, false);
      this.panels.get(this.tab)!.button.focus();
      event.stopPropagation();
    });
    this.openTab([...this.panels.keys()][0]!, false);
    return box;
  }
  private openTab(name: string, scroll = true): void {
    if (!this.panels.has(name)) return;
    this.tab = name;
    for (const [key, { button, panel }] of this.panels) {
      const on = key === name;
      button.setAttribute("aria-selected", String(on));
      button.tabIndex = on ? 0 : -1;
      panel.hidden = !on;
    }
    this.tables.get(name)?.render();
    const { panel } = this.panels.get(name)!;
    if (scroll && panel.getBoundingClientRect().top > innerHeight - 80) panel.scrollIntoView({ block: "end" });
    this.remember();
  }
  private table(name: string, label: string, columns: TableColumn[], rows: number[], empty: string, select: (row: number) => void): VirtualTable {
    const table = new VirtualTable(label, columns, empty);
    table.setRows(rows);
    table.onSelect = select;
    this.tables.set(name, table);
    return table;
  }
  private bufferColumns(side: number): TableColumn[] {
    const plan = this.plans[side]!;
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
      const uses = this.uses[side]!;
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
  private buffersPanel(): HTMLElement {
    const plan = this.plans[0]!;
    const rows = Array.from({ length: plan.n }, (_, i) => i);
    return this.table("buffers", "Buffers", this.bufferColumns(0), rows, "No buffer passes the filter.", (i) => this.select(0, i, true)).root;
  }
  private peakPanel(): HTMLElement {
    const plan = this.plans[0]!;
    const peak = plan.raw.peak;
    const graph = plan.raw.graph;
    if (!plan.n) return h("p", {}, "There are no buffers.");
    const height = plan.number("height");
    const live = new Map(peak.live.map(([i, size]) => [i, size]));
    const op = graph?.operators.name[Number(peak.start)];
    const columns = this.bufferColumns(0);
    columns.splice(2, 0, { title: "Share", width: "6.5rem", number: true, text: (i) => percent(live.get(i)!, peak.load), value: (i) => Number(live.get(i)!) });
    columns[1] = { title: "Bytes", width: "minmax(7rem, 1fr)", number: true, text: (i) => grouped(live.get(i)!), value: (i) => Number(live.get(i)!) };
    const rest = height !== null ? difference(height, peak.load) : 0;
    const parts: [string, Num, string][] = [["live", peak.load, "load"], ["padding for alignment", peak.padding, "padding"], ["holes", peak.fragmentation, "fragmentation"]];
    return h(
      "div",
      {},
      h("p", {}, `At step ${grouped(peak.start)} the most bytes are live`, op ? ", while " : "", op ? this.stepLink(Number(peak.start)) : "", op ? " runs" : "", `: ${bytes(peak.load)} in ${grouped(peak.live.length)} buffers.`),
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
      this.table("peak", "What the peak is made of", columns, peak.live.map(([i]) => i), "Nothing is live.", (i) => this.select(0, i, true)).root,
      peak.holes.length ? this.holesTable() : null,
    );
  }
  private holesTable(): HTMLElement {
    const plan = this.plans[0]!;
    const holes = plan.raw.peak.holes;
    const most = 20;
    const body = holes.slice(0, most).map((hole) =>
      h("tr", {}, h("td", { class: "number" }, grouped(hole.lower)), h("td", { class: "number" }, grouped(hole.upper)), h("td", { class: "number" }, grouped(difference(hole.upper, hole.lower))), h("td", { class: "number" }, grouped(hole.padding)), h("td", {}, hole.above === null ? "top of the arena" : this.link(0, hole.above))),
    );
    return h("details", { class: "holes" }, h("summary", {}, `${grouped(holes.length)} ${holes.length === 1 ? "hole" : "holes"} at the peak`), h("table", {}, h("thead", {}, h("tr", {}, ...["From byte", "To byte", "Bytes", "of which padding", "Below"].map((title, k) => h("th", { scope: "col", class: k < 4 ? "number" : "" }, title)))), h("tbody", {}, ...body)), holes.length > most ? h("p", { class: "note" }, `and ${grouped(holes.length - most)} more`) : null);
  }
  private operatorsPanel(): HTMLElement {
    const plan = this.plans[0]!;
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
    return this.table("operators", "Operators in the order in which they run", columns, o.name.map((_, s) => s), "There are no operators.", (s) => this.selectStep(s)).root;
  }
  private whyPanel(): HTMLElement {
    const c = this.data.conflict!;
    const plan = this.plans[0]!;
    const rows = [...c.buffers].sort((x, y) => plan.size[y]! - plan.size[x]! || x - y);
    return h("div", {}, h("p", {}, this.conflictSentence()), this.table("why", "Buffers that do not fit together", this.bufferColumns(0), rows, "None.", (i) => this.select(0, i, true)).root);
  }
  private fitPanel(): HTMLElement {
    const plan = this.plans[0]!;
    const box = h("div", { class: "fit" });
    if (this.data.remedies.length) {
      box.append(h("ol", { class: "remedies" }, ...this.data.remedies.map((remedy) => h("li", {}, h("h3", {}, h("bdi", {}, remedy.title)), h("p", {}, h("bdi", {}, remedy.detail)), remedy.needs !== null ? h("p", { class: "needs" }, "then needed ", amount(remedy.needs)) : null))));
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
          h("tbody", {}, ...relief.map((r) => h("tr", {}, h("td", {}, this.link(0, r.buffer)), h("td", { class: "number" }, grouped(plan.raw.buffers.size[r.buffer]!)), h("td", { class: "number" }, grouped(r.peak)), h("td", { class: "number" }, `${bytes(difference(plan.raw.peak.load, r.peak))} (${percent(difference(plan.raw.peak.load, r.peak), plan.raw.peak.load)})`), enough ? h("td", { class: "number" }, r.enough === null ? "not enough" : grouped(r.enough)) : null)))),
      );
    } else if (plan.n) {
      box.append(h("p", {}, "No buffer by itself holds the peak up: the same load is reached at several steps with nothing in common, so several would have to shrink."));
    }
    for (const note of this.data.notes) box.append(h("p", { class: "advice" }, h("bdi", {}, visible(note))));
    return box;
  }
  private aboutPanel(): HTMLElement {
    const flat = (value: unknown): string => (value === null || value === undefined ? "none" : typeof value === "object" ? JSON.stringify(value) : String(value));
    const skipped = new Set(["options", "schedule_options", "order", "format", "format_version"]);
    return h("div", { class: "about" }, ...this.plans.map((plan, side) => {
      const head = plan.raw.head;
      const rows: Child[] = [];
      const row = (title: string, value: string, key = "") => rows.push(h("dt", {}, title.replaceAll("_", " ")), h("dd", key ? { "data-key": key } : {}, h("bdi", {}, abridged(value, 300))));
      if (!this.data.diff) row("made by", `berth ${this.data.command}`);
      for (const [key, value] of Object.entries(head)) {
        if (skipped.has(key)) continue;
        if (key === "input") {
          const input = value as { name: string | null; hash: string | null };
          row("input", flat(input.name), "input.name");
          row("hash of the input", flat(input.hash), "input.hash");
        } else if (key === "count") {
          const count = value as Record<string, boolean>;
          row("counted besides", Object.entries(count).filter(([, on]) => on).map(([name]) => name).join(", ") || "nothing");
        } else {
          row(key, flat(value), key);
        }
      }
      if (!this.data.diff) row("verifier", this.data.verdict || "nothing to verify");
      const options = { ...(head["options"] as object), ...(head["schedule_options"] as object) } as Record<string, unknown>;
      const changed = Object.entries(options);
      return h("div", {}, this.data.diff ? h("h3", {}, side ? "New" : "Old") : null, h("dl", {}, ...rows), changed.length ? h("details", {}, h("summary", {}, `${changed.length} options`), h("dl", { class: "options" }, ...changed.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, flat(value))]))) : null);
    }));
  }
  private changesPanel(): HTMLElement {
    const [before, after] = this.plans as [Plan, Plan];
    const n = after.n;
    const [x, y] = [before.raw.buffers, after.raw.buffers];
    const old = (row: number) => (row >= n ? row - n : this.twin(1, row));
    const now = (row: number) => (row >= n ? -1 : row);
    const change = (row: number) => CHANGES[row >= n ? 6 : this.changes[1]![row]!]!;
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
    return this.table("changes", "What changed", columns, [], "Nothing changed.", (row) => (row >= n ? this.select(0, row - n, true) : this.select(1, row, true))).root;
  }

  // Keys, links, files.

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && target === this.search) this.search.blur();
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || this.help.open) return;
    const onButton = target.tagName === "BUTTON" || target.tagName === "SUMMARY";
    const plot = this.plots[this.side]!;
    const onPlot = target.classList.contains("stage");
    const actions: Record<string, () => void> = {
      "+": () => plot.zoom(1 / 1.3),
      "=": () => plot.zoom(1 / 1.3),
      "-": () => plot.zoom(1.3),
      "0": () => plot.reset(),
      p: () => this.goToPeak(),
      n: () => this.nextMatch(1),
      N: () => this.nextMatch(-1),
      ".": () => this.walk(1),
      ",": () => this.walk(-1),
      "/": () => this.search.focus(),
      t: () => this.toggleTheme(),
      "?": () => this.help.showModal(),
      Escape: () => this.select(this.side, -1, false),
    };
    if (onPlot) {
      actions["ArrowLeft"] = () => plot.pan(-0.1, 0);
      actions["ArrowRight"] = () => plot.pan(0.1, 0);
      actions["ArrowUp"] = () => plot.pan(0, 0.1);
      actions["ArrowDown"] = () => plot.pan(0, -0.1);
    }
    if (!onButton && this.selected >= 0) actions["Enter"] = () => plot.reveal(this.selected, true);
    const action = actions[event.key] ?? (event.key.length === 1 ? actions[event.key.toLowerCase()] : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  }
  private orders: number[][] = [];
  /** To the next buffer in time that passes the filter. */
  private walk(direction: number): void {
    const plan = this.plan;
    const order = (this.orders[this.side] ??= Array.from({ length: plan.n }, (_, i) => i).sort((i, j) => plan.start[i]! - plan.start[j]! || plan.y[i]! - plan.y[j]!));
    const kept = this.plots[this.side]!.kept;
    let at = this.selected < 0 ? (direction > 0 ? -1 : 0) : order.indexOf(this.selected);
    for (let tried = 0; tried < order.length; ++tried) {
      at = (at + direction + order.length) % order.length;
      if (!kept || kept[order[at]!]) {
        this.select(this.side, order[at]!, true);
        return;
      }
    }
  }

  /** Keeps the address of the page a link to what is shown. */
  private remember(): void {
    clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => {
      const link = new URLSearchParams();
      link.set("tab", this.tab);
      if (this.selected >= 0) {
        const name = this.plan.name(this.selected);
        if (name.length <= 200) link.set("buffer", name);
        else link.set("number", String(this.selected));
        if (this.side) link.set("plan", String(this.side));
      }
      if (this.step !== null) link.set("step", String(this.step));
      if (this.query) link.set("filter", this.query);
      link.set("colour", this.mode);
      const { view, whole } = this.plots[0]!;
      if (view.x0 !== whole.x0 || view.x1 !== whole.x1 || view.y0 !== whole.y0 || view.y1 !== whole.y1) {
        link.set("view", [view.x0, view.x1, view.y0, view.y1].map((each) => Math.round(each * 100) / 100).join(","));
      }
      history.replaceState(null, "", `#${link}`);
    }, 200);
  }
  private restore(): void {
    const link = new URLSearchParams(location.hash.slice(1));
    const side = Number(link.get("plan"));
    if (side === 1 && this.plans.length > 1) this.side = 1;
    const mode = link.get("colour");
    if (mode && modesOf(this.plans[0]!, this.data.diff !== null).some(([name]) => name === mode)) this.mode = mode;
    this.query = this.search.value = link.get("filter") ?? "";
    const tab = link.get("tab");
    if (tab) this.openTab(tab, false);
    const view = link.get("view")?.split(",").map(Number);
    if (view?.length === 4 && view.every(Number.isFinite) && view[0]! < view[1]! && view[2]! < view[3]!) {
      for (const plot of this.plots) plot.show({ x0: view[0]!, x1: view[1]!, y0: view[2]!, y1: view[3]! }, false);
    }
    const name = link.get("buffer");
    const number = link.get("number");
    this.selected = name !== null ? this.plan.raw.buffers.id.indexOf(name) : number !== null && Number(number) < this.plan.n ? Number(number) : -1;
    const step = link.get("step");
    const steps = this.plans[0]!.raw.graph?.operators.name.length ?? 0;
    queueMicrotask(() => {
      if (this.selected >= 0) this.select(this.side, this.selected, !view);
      else if (step !== null && Number(step) >= 0 && Number(step) < steps) this.selectStep(Math.floor(Number(step)));
    });
  }

  private save(format: string): void {
    const plot = this.plots[this.side]!;
    const input = this.plans[0]!.raw.head["input"] as { name?: string } | undefined;
    const stem = (input?.name ?? "plan").replace(/[^\w.-]+/g, "_").slice(0, 60) || "plan";
    const download = (content: Blob, ending: string) => {
      const link = h("a", { download: `${stem}.${ending}`, href: URL.createObjectURL(content) }) as HTMLAnchorElement;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    };
    const text = (content: string, type: string, ending: string) => download(new Blob([content], { type }), ending);
    if (format === "svg") text(plot.toSvg(), "image/svg+xml", "svg");
    if (format === "png") plot.toCanvas().toBlob((blob) => blob && download(blob, "png"), "image/png");
    if (format === "csv") text(this.csv(), "text/csv", "csv");
    if (format === "txt") text(this.summary(), "text/plain", "txt");
  }
  /** The buffers that pass the filter, as a table that Berth reads. */
  private csv(): string {
    const plan = this.plan;
    const b = plan.raw.buffers;
    const quoted = (id: string) => (/[",\r\n]|^\s|\s$/.test(id) ? `"${id.replaceAll('"', '""')}"` : id);
    const rows = this.kept[this.side]!.map((i) => [quoted(b.id[i]!), b.start[i], b.end[i], b.size[i], ...(b.offset ? [b.offset[i]] : [])].join(","));
    return [`id,lower,upper,size${b.offset ? ",offset" : ""}`, ...rows].join("\n") + "\n";
  }
  private summary(): string {
    const lines: string[] = [];
    for (const plan of this.plans) {
      const head = plan.raw.head as Record<string, unknown>;
      const input = head["input"] as { name?: string } | undefined;
      lines.push(visible(String(head["file"] ?? input?.name ?? "plan")));
      for (const key of ["outcome", "capacity", "height", "lower_bound", "program_order_peak"]) {
        const value = head[key];
        if (value !== undefined && value !== null) lines.push(`  ${key.replaceAll("_", " ").padEnd(20)} ${value}`);
      }
      const peak = plan.raw.peak;
      lines.push(`  ${"peak load".padEnd(20)} ${peak.load} at step ${peak.start}`, `  ${"padding, holes".padEnd(20)} ${peak.padding}, ${peak.fragmentation}`);
      for (const [i, size] of peak.live.slice(0, 20)) lines.push(`    ${String(size).padStart(16)}  ${abridged(plan.name(i), 100)}`);
      if (peak.live.length > 20) lines.push(`    and ${peak.live.length - 20} smaller ones`);
    }
    if (this.data.conflict) lines.push(this.conflictSentence());
    for (const remedy of this.data.remedies) lines.push(visible(`* ${remedy.title}: ${remedy.detail}`));
    return lines.join("\n") + "\n";
  }
}

const app = new App(parseExactly(document.getElementById("data")!.textContent!));
app.start(document.getElementById("app")!);
// For whoever looks at the page from its console; the tests count frames here.
Object.assign(window, { berth: app });
