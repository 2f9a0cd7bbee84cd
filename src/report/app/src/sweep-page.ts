// The page of a sweep: chart, selection and filter.
import { Chart, type Scale, lineOf } from "./chart";
import type { SweepData } from "./data";
import { h, named, svg } from "./dom";
import { type Filter, parse } from "./filter";
import { abridged, bytes, grouped } from "./format";
import { same } from "./gestures";
import { type Keys, Page, type Panel, viewFrom } from "./page";
import { nothingSelected, pictureBox } from "./parts";
import { OUTCOMES, Sweep, sweepCsv } from "./sweep";
import { sweepHeader } from "./sweep-header";
import {
  chartKey,
  modelColumns,
  pointColumns,
  pointDetails,
  sweepAbout,
  sweepSummary,
} from "./sweep-panels";
import { isDark, themeNow } from "./theme";

/** A range of values within which a straight axis still tells them apart. */
const STRAIGHT = 40;
const SCALES: Record<Scale, string> = {
  bytes: "in bytes",
  log: "logarithmic",
  share: "of the least peak",
};

export class SweepPage extends Page {
  readonly sweep: Sweep;
  readonly chart: Chart;
  /** By the name that plan pages use. */
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
    super("Filter: model, capacity<1MiB, is:feasible", 0);
    this.sweep = new Sweep(data);
    const { quantity } = this.sweep;
    const over = quantity.memories ? `the capacity of ${quantity.memory}` : "memory";
    this.chart = new Chart(this.sweep, `${quantity.title} against ${over}`);
    this.plots = [this.chart];
    // Models of very different sizes do not share a straight axis.
    const wide = (values: Float64Array) => {
      const positive = values.filter((value) => value > 0);
      return (
        positive.length > 0 &&
        positive.reduce((a, b) => Math.max(a, b)) >
          STRAIGHT * positive.reduce((a, b) => Math.min(a, b))
      );
    };
    const far = wide(this.sweep.capacity);
    this.preset = {
      scale: this.many ? "share" : far ? "log" : "bytes",
      log: this.many && wide(this.sweep.traffic),
    };
    this.chart.hidden = this.hidden;
    this.chart.setAxes(this.preset.scale, this.preset.log);
    this.chart.onHover = (point, x, y) => this.hover(point, x, y);
    this.chart.onSelect = (point) => this.select(point, false);
    this.chart.onView = () => this.remember();
  }
  private get many(): boolean {
    return this.sweep.many;
  }

  protected header(): HTMLElement {
    return sweepHeader(this.sweep);
  }
  protected notice(): null {
    return null;
  }
  protected tools() {
    const change = () => {
      this.chart.setAxes(this.scale.value as Scale, this.log.checked);
      this.remember();
    };
    // Of one memory there is no least peak.
    if (this.sweep.quantity.memories) this.scale.querySelector("[value=share]")?.remove();
    for (const one of [this.scale, this.log]) one.addEventListener("change", change);
    const files: [string, string][] = [
      ["svg", "Picture as SVG"],
      ["png", "Picture as PNG"],
      ["csv", "Points as CSV"],
      ["txt", "Summary as text"],
    ];
    return {
      look: [
        h("label", {}, "Memory", this.scale),
        h("label", {}, this.log, `Log ${this.sweep.quantity.name}`),
      ],
      group: [],
      files,
    };
  }
  protected pictures() {
    const { title, root } = this.chart;
    return { kind: "picture", sections: [pictureBox(title, root, chartKey(this.sweep))] };
  }
  protected helpTexts() {
    return {
      spoken:
        "Arrow keys pan, plus and minus zoom, 0 shows all, comma and period step through the " +
        "points from the smallest memory to the largest, brackets change the model, question " +
        "mark lists all keys.",
      keys: [
        ["Wheel", "zoom; with Shift only memory, with Alt only traffic"],
        ["Drag", "pan"],
        ["Double click", "show all"],
        [", .", "point with less, with more memory"],
        ["[ ]", "previous, next model"],
      ] as [string, string][],
      filters: [
        ['cells "two words"', "names of models"],
        ["capacity<=1MiB traffic>0", "also written, read, bound, in bytes"],
        ["is:optimal is:feasible", "also infeasible, unknown"],
        ["gap>5 time>1", "in percent of the traffic; in seconds"],
      ] as [string, string][],
    };
  }
  protected listPanels(): Panel[] {
    const panels: Panel[] = [{ name: "points", title: "Points", make: () => this.pointsPanel() }];
    if (this.many) panels.push({ name: "models", title: "Models", make: () => this.modelsPanel() });
    panels.push({
      name: "about",
      title: "Where it comes from",
      make: () => sweepAbout(this.sweep, this.data.provenance),
    });
    return panels;
  }
  protected movable(): Chart {
    return this.chart;
  }
  protected keys(): Keys {
    return {
      ".": () => this.walk(1),
      ",": () => this.walk(-1),
      "]": () => this.walkModel(1),
      "[": () => this.walkModel(-1),
    };
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
        const swatch = svg(
          "svg",
          { width: 26, height: 10, viewBox: "0 0 26 10", "aria-hidden": "true" },
          svg("path", {
            d: "M0 5H26",
            stroke: color,
            "stroke-width": 2.5,
            "stroke-dasharray": dashes,
          }),
        );
        return this.legendButton(
          this.hidden,
          c,
          swatch,
          abridged(curve.model, 40),
          grouped(curve.capacity.length),
        );
      }),
    );
  }
  private parseFilter(): Filter {
    const { sweep } = this;
    return parse(this.query, {
      count: sweep.n,
      words: [
        ...["capacity", "traffic", "bound", "written", "read", "gap", "time"],
        ...OUTCOMES.map((outcome) => `is:${outcome}`),
      ],
      sizes: {
        capacity: (i) => sweep.capacity[i]!,
        traffic: (i) => sweep.traffic[i]!,
        bound: (i) => sweep.bound[i]!,
        written: (i) => Number(sweep.value(i, "spilled")),
        read: (i) => Number(sweep.value(i, "retrieved")),
      },
      numbers: { gap: (i) => 100 * sweep.gap(i), time: (i) => sweep.value(i, "seconds") },
      special: (_word, key, value) =>
        key === "is" && (OUTCOMES as readonly string[]).includes(value)
          ? (i) => sweep.value(i, "outcome") === value
          : null,
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
    this.showMatches(
      fault || (all ? "" : `${grouped(this.kept.length)} of ${grouped(this.sweep.n)}`),
      fault !== "",
    );
    this.fillTables();
  }
  protected fillTables(): void {
    this.tables.get("points")?.setRows([...this.kept].sort((x, y) => x - y));
    this.markTables();
  }
  private markTables(): void {
    const point = this.selected;
    this.tables.get("points")?.mark(point);
    this.tables.get("models")?.mark(point >= 0 ? this.sweep.curve[point]! : -1);
  }

  // Selection.

  select(point: number, reveal: boolean): void {
    this.selected = point;
    this.chart.selected = point;
    if (point >= 0) {
      const model = this.many ? `${abridged(this.sweep.model(point), 80)}, ` : "";
      this.say(`${model}${bytes(this.sweep.value(point, "capacity"))}: ${this.inWords(point)}`);
      if (reveal) this.chart.reveal(point);
    }
    this.chart.draw();
    this.markTables();
    this.showDetails();
    this.remember();
  }
  private inWords(i: number): string {
    const { sweep } = this;
    const figure = sweep.figure(i);
    const outcome = sweep.outcome(i);
    return figure === null ? outcome : `${sweep.quantity.phrase(figure, sweep.of(i))}, ${outcome}`;
  }
  /** Along the points that pass the filter. */
  private walk(direction: number): void {
    if (!this.kept.length) return;
    const at = this.kept.indexOf(this.selected);
    const next =
      at < 0
        ? direction > 0
          ? 0
          : this.kept.length - 1
        : (at + direction + this.kept.length) % this.kept.length;
    this.select(this.kept[next]!, true);
  }
  /** To the point of another model whose memory is closest. */
  private walkModel(direction: number): void {
    const { sweep } = this;
    const models = [...new Set(this.kept.map((i) => sweep.curve[i]!))];
    if (!models.length) return;
    const at = this.selected < 0 ? -1 : models.indexOf(sweep.curve[this.selected]!);
    const model = models[at < 0 ? 0 : (at + direction + models.length) % models.length]!;
    const capacity = this.selected < 0 ? Number.MAX_VALUE : sweep.capacity[this.selected]!;
    const points = this.kept.filter((i) => sweep.curve[i] === model);
    const off = (i: number) => Math.abs(sweep.capacity[i]! - capacity);
    this.select(
      points.reduce((best, i) => (off(i) < off(best) ? i : best)),
      true,
    );
  }
  protected nextMatch(direction: number): void {
    if (this.kept.length) this.walk(direction);
    else this.say("Nothing matches.");
  }
  protected selectNothing(): void {
    this.select(-1, false);
  }
  protected reselect(reveal: boolean): void {
    this.select(this.selected, reveal);
  }
  private hover(i: number, x: number, y: number): void {
    if (i < 0) {
      this.tip.hidden = true;
      return;
    }
    const { sweep } = this;
    const figure = sweep.figure(i);
    const copied = sweep.copied[i]! > 0;
    this.showTip(
      x,
      y,
      this.many ? h("b", {}, named(sweep.model(i), 60)) : null,
      h(
        "span",
        {},
        `in ${bytes(sweep.value(i, "capacity"))} (${grouped(sweep.value(i, "capacity"))} B)`,
      ),
      figure === null
        ? null
        : h(
            "span",
            {},
            sweep.quantity.inBytes
              ? `${bytes(figure)} off chip (${grouped(figure)} B)`
              : sweep.quantity.phrase(figure, sweep.of(i)),
          ),
      copied ? h("span", {}, `${bytes(sweep.value(i, "avoidable")!)} off chip`) : null,
      sweep.value(i, "outcome") === "feasible" || sweep.value(i, "outcome") === "unknown"
        ? h("span", {}, `at least ${sweep.show(sweep.proved(i), i, true)}`)
        : null,
      h("span", { class: "peak" }, sweep.outcome(i)),
    );
  }
  protected showDetails(): void {
    const i = this.selected;
    this.details.classList.toggle("quiet", i < 0);
    const hint =
      "Click a point, or step through them with `,` and `.` to see its " +
      `${this.sweep.quantity.name}, what is proved ` +
      "of it, and what slightly more or less memory would change.";
    this.details.replaceChildren(
      ...(i < 0
        ? nothingSelected(hint)
        : pointDetails(this.sweep, i, (point) => this.select(point, true))),
    );
  }

  // Tables.

  private pointsPanel(): HTMLElement {
    const columns = pointColumns(this.sweep);
    const empty = "No point passes the filter.";
    const select = (i: number) => this.select(i, true);
    const label = "Points of the sweep";
    return this.table({ name: "points", label, columns, rows: [], empty, select });
  }
  private modelsPanel(): HTMLElement {
    const { sweep } = this;
    const summaries = sweep.sorted.map((points) => sweep.summary(points));
    const columns = modelColumns(sweep, summaries);
    const rows = sweep.curves.map((_, c) => c);
    const select = (c: number) => {
      const { smallest } = summaries[c]!;
      this.select(smallest >= 0 ? smallest : (sweep.sorted[c]![0] ?? -1), true);
    };
    const empty = "There are no models.";
    return this.table({ name: "models", label: "Models", columns, rows, empty, select });
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
    if (!same(view, whole)) {
      const edges = [view.x0, view.x1, view.y0, view.y1];
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
    this.selected =
      point !== null
        ? this.sweep.find(model, Number(point))
        : Number.isInteger(number) && number < this.sweep.n
          ? number
          : -1;
    queueMicrotask(() => this.selected >= 0 && this.select(this.selected, !view));
  }
  protected fileStem(): string {
    return this.many ? "sweep" : `${this.sweep.curves[0]?.model ?? "sweep"}.sweep`;
  }
  protected async file(kind: string): Promise<Blob | null> {
    if (kind === "png") return this.chart.toPng();
    if (kind === "svg") return new Blob([this.chart.toSvg()], { type: "image/svg+xml" });
    if (kind === "csv") {
      const points = [...this.kept].sort((x, y) => x - y);
      return new Blob([sweepCsv(this.sweep, points)], { type: "text/csv" });
    }
    return new Blob([sweepSummary(this.sweep)], { type: "text/plain" });
  }
}
