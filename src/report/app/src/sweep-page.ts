// The page of a sweep: the curves, what is known of the point that is selected, and every point in a
// table.
import { Chart, type Scale, lineOf } from "./chart";
import type { Num, SweepData } from "./data";
import { type Child, h, named, svg } from "./dom";
import { type Filter, parse } from "./filter";
import { abridged, bytes, difference, duration, grouped, percent, visible } from "./format";
import { type Keys, Page, type Panel, viewFrom } from "./page";
import { type Tone, amount, facts, figure, top } from "./parts";
import { OUTCOMES, Sweep, sweepCsv } from "./sweep";
import type { TableColumn } from "./table";
import { isDark, themeNow } from "./theme";

/** A range of values within which a straight axis still tells them apart. */
const STRAIGHT = 40;
const SCALES: Record<Scale, string> = { bytes: "in bytes", log: "logarithmic", share: "of the least peak" };

export class SweepPage extends Page {
  readonly sweep: Sweep;
  readonly chart: Chart;
  /** As the pages of plans name what they draw. */
  readonly plots: Chart[];
  selected = -1;
  private kept: number[] = [];
  private readonly hidden = new Set<number>();
  private readonly scale = h(
    "select",
    { "aria-label": "Memory" },
    ...Object.entries(SCALES).map(([value, title]) => h("option", { value }, title)),
  ) as HTMLSelectElement;
  private readonly log = h("input", { type: "checkbox" }) as HTMLInputElement;
  private readonly preset: { scale: Scale; log: boolean };

  constructor(readonly data: SweepData) {
    super("Search or filter: model, capacity<1MiB, is:feasible …", 0);
    this.sweep = new Sweep(data);
    this.chart = new Chart(this.sweep, "Traffic off chip against memory");
    this.plots = [this.chart];
    // Models of very different sizes do not share a straight axis.
    const wide = (values: Float64Array) => {
      const positive = values.filter((value) => value > 0);
      return positive.length > 0 && positive.reduce((a, b) => Math.max(a, b)) > STRAIGHT * positive.reduce((a, b) => Math.min(a, b));
    };
    const far = wide(this.sweep.capacity);
    this.preset = { scale: this.many ? "share" : far ? "log" : "bytes", log: this.many && wide(this.sweep.traffic) };
    this.chart.hidden = this.hidden;
    this.chart.setAxes(this.preset.scale, this.preset.log);
    this.chart.onHover = (point, x, y) => this.hover(point, x, y);
    this.chart.onSelect = (point) => this.select(point, false);
    this.chart.onView = () => this.remember();
  }
  private get many(): boolean {
    return this.sweep.curves.length > 1;
  }

  // The top.

  protected header(): HTMLElement {
    const { sweep } = this;
    const all = Array.from({ length: sweep.n }, (_, i) => i);
    const s = sweep.summary(all);
    const figures: Child[] = [];
    const count = (n: number, what: string) => h("b", { "data-figure": what, "data-value": String(n) }, grouped(n));
    if (this.many) figures.push(figure("Models", count(sweep.curves.length, "models")));
    if (!this.many && s.free >= 0) figures.push(figure("Nothing leaves from", amount(sweep.value(s.free, "capacity"), "free"), "the least such point"));
    if (!this.many && s.smallest >= 0) {
      const traffic = sweep.value(s.smallest, "avoidable")!;
      figures.push(figure("Smallest that works", amount(sweep.value(s.smallest, "capacity"), "smallest"), "the least point with a plan"));
      figures.push(figure("Traffic then", amount(traffic, "traffic"), sweep.value(s.smallest, "outcome") === "optimal" ? sweep.outcome(s.smallest) : `at least ${bytes(sweep.value(s.smallest, "lower_bound"))}`));
    }
    if (!this.many && s.tooSmall >= 0) figures.push(figure("Does not fit in", amount(sweep.value(s.tooSmall, "capacity"), "too_small"), sweep.curves[0]!.least === null ? null : `an operator needs ${bytes(sweep.curves[0]!.least)}`));
    const parts: [number, string][] = [[s.proved, "proved"], [s.unproved, "not proved"], [s.unknown, "without a plan"], [s.infeasible, "too small"]];
    figures.push(figure("Points", count(sweep.n, "points"), parts.filter(([n]) => n).map(([n, what]) => `${grouped(n)} ${what}`).join(", ")));
    figures.push(figure("Search", h("b", { "data-figure": "seconds", "data-value": String(s.seconds) }, duration(s.seconds)), "all points together"));
    const decided = s.proved + s.infeasible;
    const [tone, sign, text]: [Tone, string, string] =
      decided === sweep.n
        ? ["good", "✓", s.infeasible ? `Every point proved: the least traffic${sweep.orders}, or that there is no plan` : `Every point proved: no plan${sweep.orders} has less traffic`]
        : ["unsure", "≈", `${grouped(decided)} of ${grouped(sweep.n)} points proved`];
    const title = this.many ? [`${grouped(sweep.curves.length)} models`] : [named(sweep.curves[0]?.model ?? "nothing", 80)];
    return top("sweep", title, sweep.n ? tone : "unsure", sweep.n ? [h("span", { "aria-hidden": "true" }, sign), text] : ["No points"], figures);
  }
  protected notice(): null {
    return null;
  }
  protected tools() {
    const change = () => {
      this.chart.setAxes(this.scale.value as Scale, this.log.checked);
      this.remember();
    };
    for (const one of [this.scale, this.log]) one.addEventListener("change", change);
    const files: [string, string][] = [["svg", "Picture as SVG"], ["png", "Picture as PNG"], ["csv", "Points as CSV"], ["txt", "Summary as text"]];
    return { look: [h("label", {}, "Memory", this.scale), h("label", {}, this.log, "Log traffic")], group: [], files };
  }
  protected pictures() {
    const key = (mark: Child, text: string) => h("li", {}, mark, text);
    const sample = (...parts: SVGElement[]) => svg("svg", { width: 18, height: 12, viewBox: "0 0 18 12", "aria-hidden": "true" }, ...parts);
    const dot = (fill: string) => sample(svg("circle", { cx: 9, cy: 6, r: 4, fill, stroke: "currentColor", "stroke-width": 1.8 }));
    const line = (d: string, dashes = "") => sample(svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": 1.8, "stroke-dasharray": dashes }));
    const found = new Set(Array.from({ length: this.sweep.n }, (_, i) => this.sweep.value(i, "outcome")));
    return {
      kind: "picture",
      sections: [
        h("section", { class: "plot-box", "aria-label": this.chart.title }, h("h2", {}, this.chart.title), this.chart.root,
          h("ul", { class: "chart-key", "aria-label": "What the marks mean" },
            found.has("optimal") ? key(dot("currentColor"), `proved the least${this.sweep.orders}`) : null,
            found.has("feasible") ? key(dot("none"), "less may be possible") : null,
            found.has("unknown") ? key(line("M9 1l5 5l-5 5l-5 -5z"), "no plan found, at its bound") : null,
            found.has("infeasible") ? key(line("M5 2l8 8m0 -8l-8 8"), "does not fit") : null,
            key(line("M0 6H18", "1 3"), "proved lower bound"),
            key(sample(svg("rect", { width: 18, height: 12, fill: "currentColor", "fill-opacity": 0.2 })), "where the least traffic lies"),
          ),
        ),
      ],
    };
  }
  protected helpTexts() {
    return {
      spoken: "Arrow keys pan, plus and minus zoom, 0 shows all, comma and period step through the points from the smallest memory to the largest, brackets change the model, question mark lists all keys.",
      keys: [
        ["Wheel", "zoom; with Shift only memory, with Alt only traffic"],
        ["Drag", "pan"],
        ["Double click", "show all"],
        ["← → ↑ ↓", "pan"],
        ["+ −, 0", "zoom; show all"],
        [", .", "the point of less, of more memory"],
        ["[ ]", "previous, next model"],
        ["/ , N", "search; next match"],
        ["T", "light or dark"],
        ["Esc", "select nothing"],
      ] as [string, string][],
      filters: [
        ["cells \"two words\"", "names of models"],
        ["capacity<=1MiB traffic>0", "also written, read, bound, in bytes"],
        ["is:optimal is:feasible", "also infeasible, unknown"],
        ["gap>5 time>1", "in percent of the traffic; in seconds"],
      ] as [string, string][],
    };
  }
  protected listPanels(): Panel[] {
    const panels: Panel[] = [{ name: "points", title: "Points", make: () => this.pointsPanel() }];
    if (this.many) panels.push({ name: "models", title: "Models", make: () => this.modelsPanel() });
    panels.push({ name: "about", title: "Where it comes from", make: () => this.aboutPanel() });
    return panels;
  }
  protected movable(): Chart {
    return this.chart;
  }
  protected keys(): Keys {
    return { ".": () => this.walk(1), ",": () => this.walk(-1), "]": () => this.walkModel(1), "[": () => this.walkModel(-1) };
  }

  // Looks and filters.

  protected applyLooks(): void {
    this.scale.value = this.chart.scale;
    this.log.checked = this.chart.logTraffic;
    this.chart.setLooks(themeNow());
    this.legend.hidden = !this.many;
    this.legend.replaceChildren(
      ...this.sweep.curves.map((curve, c) => {
        const { color, dashes } = lineOf(c, isDark());
        const swatch = svg("svg", { width: 26, height: 10, viewBox: "0 0 26 10", "aria-hidden": "true" }, svg("path", { d: "M0 5H26", stroke: color, "stroke-width": 2.5, "stroke-dasharray": dashes }));
        return this.legendButton(this.hidden, c, swatch, abridged(curve.model, 40), grouped(curve.capacity.length));
      }),
    );
  }
  private parseFilter(): Filter {
    const { sweep } = this;
    return parse(this.query, {
      sizes: {
        capacity: (i) => sweep.capacity[i]!,
        traffic: (i) => sweep.traffic[i]!,
        bound: (i) => sweep.bound[i]!,
        written: (i) => Number(sweep.value(i, "spilled")),
        read: (i) => Number(sweep.value(i, "retrieved")),
      },
      numbers: { gap: (i) => 100 * sweep.gap(i), time: (i) => sweep.value(i, "seconds") },
      special: (_word, key, value) => (key === "is" && (OUTCOMES as readonly string[]).includes(value) ? (i) => sweep.value(i, "outcome") === value : null),
      contains: (text) => (i) => sweep.model(i).toLowerCase().includes(text),
    });
  }
  protected applyFilter(): void {
    const { test, fault } = this.parseFilter();
    const mask = new Uint8Array(this.sweep.n);
    this.kept = [];
    // In the order of the models, each from the smallest memory to the largest.
    for (const points of this.sweep.sorted) {
      for (const i of points) {
        if (this.hidden.has(this.sweep.curve[i]!) || (test && !test(i))) continue;
        mask[i] = 1;
        this.kept.push(i);
      }
    }
    const all = this.kept.length === this.sweep.n;
    this.chart.kept = all ? null : mask;
    this.chart.draw();
    this.showMatches(fault || (all ? "" : `${grouped(this.kept.length)} of ${grouped(this.sweep.n)}`), fault !== "");
    this.tables.get("points")?.setRows([...this.kept].sort((x, y) => x - y));
  }

  // Selection.

  select(point: number, reveal: boolean): void {
    this.selected = point;
    this.chart.selected = point;
    if (point >= 0) {
      this.say(`${this.many ? `${abridged(this.sweep.model(point), 80)}, ` : ""}${bytes(this.sweep.value(point, "capacity"))}: ${this.inWords(point)}`);
      if (reveal) this.chart.reveal(point);
    }
    this.chart.draw();
    this.tables.get("points")?.mark(point);
    this.tables.get("models")?.mark(point >= 0 ? this.sweep.curve[point]! : -1);
    this.showDetails();
    this.remember();
  }
  private inWords(i: number): string {
    const avoidable = this.sweep.value(i, "avoidable");
    const outcome = this.sweep.outcome(i);
    return avoidable === null ? outcome : `${bytes(avoidable)} of traffic, ${outcome}`;
  }
  /** Along the points that pass the filter. */
  private walk(direction: number): void {
    if (!this.kept.length) return;
    const at = this.kept.indexOf(this.selected);
    const next = at < 0 ? (direction > 0 ? 0 : this.kept.length - 1) : (at + direction + this.kept.length) % this.kept.length;
    this.select(this.kept[next]!, true);
  }
  /** To the point of most like memory of another model. */
  private walkModel(direction: number): void {
    const { sweep } = this;
    const models = [...new Set(this.kept.map((i) => sweep.curve[i]!))];
    if (!models.length) return;
    const at = this.selected < 0 ? -1 : models.indexOf(sweep.curve[this.selected]!);
    const model = models[at < 0 ? 0 : (at + direction + models.length) % models.length]!;
    const capacity = this.selected < 0 ? Number.MAX_VALUE : sweep.capacity[this.selected]!;
    const points = this.kept.filter((i) => sweep.curve[i] === model);
    const off = (i: number) => Math.abs(sweep.capacity[i]! - capacity);
    this.select(points.reduce((best, i) => (off(i) < off(best) ? i : best)), true);
  }
  protected nextMatch(direction: number): void {
    if (this.kept.length) this.walk(direction);
    else this.say("Nothing matches.");
  }
  protected selectNothing(): void {
    this.select(-1, false);
  }
  protected reselect(): void {
    this.select(this.selected, true);
  }
  private hover(i: number, x: number, y: number): void {
    if (i < 0) {
      this.tip.hidden = true;
      return;
    }
    const { sweep } = this;
    const avoidable = sweep.value(i, "avoidable");
    this.showTip(
      x, y,
      this.many ? h("b", {}, named(sweep.model(i), 60)) : null,
      h("span", {}, `in ${bytes(sweep.value(i, "capacity"))} (${grouped(sweep.value(i, "capacity"))} B)`),
      avoidable === null ? null : h("span", {}, `${bytes(avoidable)} off chip (${grouped(avoidable)} B)`),
      sweep.value(i, "outcome") === "feasible" || sweep.value(i, "outcome") === "unknown" ? h("span", {}, `at least ${bytes(sweep.value(i, "lower_bound"))}`) : null,
      h("span", { class: "peak" }, sweep.outcome(i)),
    );
  }
  protected showDetails(): void {
    const i = this.selected;
    this.details.classList.toggle("quiet", i < 0);
    this.details.replaceChildren(
      ...(i < 0
        ? [h("h2", {}, "Nothing selected"), h("p", {}, "Click a point, or step through them with , and . to see what it costs, what is proved of it, and what a little more or less memory would change.")]
        : this.pointDetails(i)),
    );
  }
  private pointDetails(i: number): HTMLElement[] {
    const { sweep } = this;
    const value = (key: Parameters<Sweep["value"]>[1]) => sweep.value(i, key) as Num;
    const outcome = sweep.value(i, "outcome");
    const rows: [string, Child][] = [["Memory", amount(value("capacity"))], ["Outcome", sweep.outcome(i)]];
    const avoidable = sweep.value(i, "avoidable");
    if (avoidable !== null) {
      rows.push(["Traffic", amount(avoidable)], ["Written", `${bytes(value("spilled"))}`], ["Read back", `${bytes(value("retrieved"))}`]);
    }
    if (outcome !== "infeasible") rows.push(["At least", amount(value("lower_bound"))]);
    if (avoidable !== null && outcome === "feasible") rows.push(["Gap", `${bytes(difference(avoidable, value("lower_bound")))}, ${percent(difference(avoidable, value("lower_bound")), avoidable)} of the traffic`]);
    if (avoidable !== null && Number(avoidable) > Number(value("without_addresses"))) rows.push(["For addresses", `${bytes(difference(avoidable, value("without_addresses")))} more than if bytes had to fit in sum only`]);
    const c = sweep.curve[i]!;
    const { least, least_peak } = sweep.curves[c]!;
    if (least !== null) rows.push(["MR", `${bytes(least)}: what one operator needs`]);
    if (least_peak !== null) rows.push(["MP", `${bytes(least_peak)}: from there nothing leaves`]);
    // What the next points on both sides change: of those that have a plan.
    const plans = sweep.sorted[c]!.filter((k) => !Number.isNaN(sweep.traffic[k]!) && (k === i || sweep.capacity[k] !== sweep.capacity[i]));
    const at = plans.indexOf(i);
    const step = (k: number | undefined, title: string, memory: string, sign: string) => {
      if (k === undefined || at < 0) return;
      const [low, high] = sweep.capacity[k]! < sweep.capacity[i]! ? [k, i] : [i, k];
      const more = difference(sweep.value(high, "capacity"), sweep.value(low, "capacity"));
      const less = difference(sweep.value(low, "avoidable")!, sweep.value(high, "avoidable")!);
      rows.push([title, h("button", { type: "button", class: "link", onclick: () => this.select(k, true) }, `${bytes(more)} ${memory}: ${Number(less) === 0 ? "the same traffic" : `${sign}${bytes(less)} of traffic`}`)]);
    };
    step(plans[at - 1], "With less", "less", "+");
    step(plans[at + 1], "With more", "more", "−");
    rows.push(["Search", duration(sweep.value(i, "seconds"))]);
    return [
      h("h2", {}, this.many ? named(sweep.model(i), 120) : `In ${bytes(value("capacity"))}`),
      h("dl", {}, ...facts(rows)),
      h("p", { class: "note" }, "The plan itself: ", h("code", {}, `berth plan … --budget ${value("capacity")}${sweep.curves[c]!.fixed_order ? " --order program" : ""}`)),
    ];
  }

  // Tables.

  private pointsPanel(): HTMLElement {
    const { sweep } = this;
    const number = (title: string, width: string, text: (i: number) => string, value: (i: number) => number): TableColumn => ({ title, width, number: true, text, value: (i) => (Number.isNaN(value(i)) ? -1 : value(i)) });
    const bytesOf = (title: string, key: "capacity" | "avoidable" | "spilled" | "retrieved" | "lower_bound" | "without_addresses", there: (i: number) => boolean) =>
      number(title, "minmax(7rem, 1fr)", (i) => (there(i) ? grouped(sweep.value(i, key)!) : "–"), (i) => (there(i) ? Number(sweep.value(i, key)) : NaN));
    const planned = (i: number) => sweep.value(i, "avoidable") !== null;
    const columns: TableColumn[] = [
      ...(this.many ? [{ title: "Model", width: "minmax(9rem, 2fr)", text: (i: number) => named(sweep.model(i), 60), value: (i: number) => sweep.model(i) }] : []),
      bytesOf("Memory", "capacity", () => true),
      { title: "Outcome", width: "6.5rem", text: (i) => sweep.value(i, "outcome"), value: (i) => OUTCOMES.indexOf(sweep.value(i, "outcome") as (typeof OUTCOMES)[number]) },
      bytesOf("Off-chip bytes", "avoidable", planned),
      bytesOf("Written", "spilled", planned),
      bytesOf("Read back", "retrieved", planned),
      bytesOf("Lower bound", "lower_bound", (i) => sweep.value(i, "outcome") !== "infeasible"),
      number("Gap", "5rem", (i) => (planned(i) ? (sweep.value(i, "outcome") === "optimal" ? "0 %" : percent(difference(sweep.value(i, "avoidable")!, sweep.value(i, "lower_bound")), sweep.value(i, "avoidable")!)) : "–"), (i) => sweep.gap(i)),
      bytesOf("Without addresses", "without_addresses", planned),
      number("Time", "6rem", (i) => duration(sweep.value(i, "seconds")), (i) => sweep.value(i, "seconds")),
    ];
    return this.table("points", "Points of the sweep", columns, [], "No point passes the filter.", (i) => this.select(i, true)).root;
  }
  private modelsPanel(): HTMLElement {
    const { sweep } = this;
    const summaries = sweep.sorted.map((points) => sweep.summary(points));
    const of = (title: string, point: (c: number) => number, key: "capacity" | "avoidable"): TableColumn => ({
      title, width: "minmax(8rem, 1fr)", number: true,
      text: (c) => (point(c) < 0 ? "–" : grouped(sweep.value(point(c), key)!)),
      value: (c) => (point(c) < 0 ? -1 : Number(sweep.value(point(c), key))),
    });
    const count = (title: string, value: (c: number) => number): TableColumn => ({ title, width: "6rem", number: true, text: (c) => grouped(value(c)), value });
    const columns: TableColumn[] = [
      { title: "Model", width: "minmax(9rem, 2fr)", text: (c) => named(sweep.curves[c]!.model, 60), value: (c) => sweep.curves[c]!.model },
      count("Points", (c) => sweep.sorted[c]!.length),
      count("Proved", (c) => summaries[c]!.proved + summaries[c]!.infeasible),
      of("Nothing leaves from", (c) => summaries[c]!.free, "capacity"),
      of("Smallest that works", (c) => summaries[c]!.smallest, "capacity"),
      of("Traffic then", (c) => summaries[c]!.smallest, "avoidable"),
      of("Does not fit in", (c) => summaries[c]!.tooSmall, "capacity"),
      { title: "Time", width: "6rem", number: true, text: (c) => duration(summaries[c]!.seconds), value: (c) => summaries[c]!.seconds },
    ];
    return this.table("models", "Models", columns, sweep.curves.map((_, c) => c), "There are no models.", (c) => this.select(summaries[c]!.smallest >= 0 ? summaries[c]!.smallest : sweep.sorted[c]![0] ?? -1, true)).root;
  }
  private aboutPanel(): HTMLElement {
    const most = 200;
    const inputs = this.sweep.curves.slice(0, most).flatMap((curve): [string, Child][] => [[visible(curve.model), h("bdi", { "data-key": "input" }, abridged(curve.input, 300))]]);
    if (this.sweep.curves.length > most) inputs.push(["and more", `${grouped(this.sweep.curves.length - most)} models`]);
    return h(
      "div",
      { class: "about" },
      h("div", {}, h("dl", {}, ...facts([["made by", "berth sweep"], ...this.data.provenance.map(([title, text]): [string, Child] => [title, h("bdi", { "data-key": title }, abridged(text, 600))])]))),
      h("div", {}, h("h3", {}, "Hash of each input, and the options that decide the answers"), h("dl", {}, ...inputs.flatMap(([title, value]) => [h("dt", {}, named(title, 60)), h("dd", {}, value)]))),
    );
  }

  // Links and files.

  protected stateTo(link: URLSearchParams): void {
    if (this.selected >= 0) {
      const model = this.sweep.model(this.selected);
      if (!this.many) link.set("point", String(this.sweep.value(this.selected, "number")));
      else if (model.length <= 200) {
        link.set("model", model);
        link.set("point", String(this.sweep.value(this.selected, "number")));
      } else link.set("number", String(this.selected));
    }
    const { scale, logTraffic } = this.chart;
    if (scale !== this.preset.scale) link.set("memory", scale);
    if (logTraffic !== this.preset.log) link.set("log", String(Number(logTraffic)));
    const { view, whole } = this.chart;
    const edges = [view.x0, view.x1, view.y0, view.y1];
    if (edges.some((edge, k) => edge !== [whole.x0, whole.x1, whole.y0, whole.y1][k])) {
      link.set("view", edges.map((edge) => String(Number(edge.toPrecision(10)))).join(","));
    }
  }
  protected stateFrom(link: URLSearchParams): void {
    const asked = link.get("memory") ?? "";
    const scale = Object.hasOwn(SCALES, asked) ? (asked as Scale) : this.preset.scale;
    const log = link.has("log") ? link.get("log") === "1" : this.preset.log;
    if (scale !== this.chart.scale || log !== this.chart.logTraffic) this.chart.setAxes(scale, log);
    const view = viewFrom(link.get("view"));
    if (view) this.chart.show(view, false);
    const number = Number(link.get("number") ?? -1);
    const point = link.get("point");
    const model = link.get("model") ?? this.sweep.curves[0]?.model ?? "";
    this.selected = point !== null ? this.sweep.find(model, Number(point)) : Number.isInteger(number) && number < this.sweep.n ? number : -1;
    queueMicrotask(() => this.selected >= 0 && this.select(this.selected, !view));
  }
  protected fileStem(): string {
    return this.many ? "sweep" : `${this.sweep.curves[0]?.model ?? "sweep"}.sweep`;
  }
  protected async file(kind: string): Promise<Blob | null> {
    if (kind === "png") return this.chart.toPng();
    if (kind === "svg") return new Blob([this.chart.toSvg()], { type: "image/svg+xml" });
    if (kind === "csv") return new Blob([sweepCsv(this.sweep, [...this.kept].sort((x, y) => x - y))], { type: "text/csv" });
    return new Blob([this.textSummary()], { type: "text/plain" });
  }
  private textSummary(): string {
    const { sweep } = this;
    const lines: string[] = [];
    sweep.sorted.forEach((points, c) => {
      lines.push(visible(sweep.curves[c]!.model));
      for (const i of points) {
        const avoidable = sweep.value(i, "avoidable");
        lines.push(`  ${String(sweep.value(i, "capacity")).padStart(16)} ${(avoidable === null ? "-" : String(avoidable)).padStart(16)}  ${sweep.outcome(i)}`);
      }
    });
    return lines.join("\n") + "\n";
  }
}
