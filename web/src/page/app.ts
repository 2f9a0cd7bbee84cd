// The page: a file is dropped, its plan is shown as a report, and changes with the controls.
import { Chart } from "../../../src/report/app/src/chart";
import { type Data, parseExactly } from "../../../src/report/app/src/data";
import { h, named } from "../../../src/report/app/src/dom";
import { abridged, bytes, duration, grouped } from "../../../src/report/app/src/format";
import { button, commandLine, menu } from "../../../src/report/app/src/parts";
import { PlanPage } from "../../../src/report/app/src/plan-page";
import { Sweep } from "../../../src/report/app/src/sweep";
import { onTheme, themeNow, toggleTheme } from "../../../src/report/app/src/theme";
import type { File, Opened, Planned, Swept, Taken } from "../messages";
import type { Remedy, Summary } from "../planner";
import { Controls } from "./controls";
import type { Desk } from "./desk";
import { Failure } from "./desk";
import { SearchView } from "./search-view";
import { type Settings, changed, commandOf, linkOf, optionsOf, settingsFrom } from "./settings";
import { type Example, welcome } from "./welcome";

/** Files beyond this would leave too little of the 4 GiB that WebAssembly can have. */
export const MOST_BYTES = 1024 * 1024 * 1024;
/** Advice may try many plans. */
const SECONDS_FOR_ADVICE = 5;
const POINTS = 16;
const SECONDS_PER_POINT = 2;
/** After the last change, before what takes longer begins: advice and the curve. */
const REST = 350;

export class App {
  private files: File[] = [];
  private opened: Opened | null = null;
  private controls: Controls | null = null;
  private report: PlanPage | null = null;
  private reportState = "";
  private summary: Summary | null = null;
  /** Of the plan with as little memory as possible, which the slider starts from. */
  private base: { key: string; height: number; bound: number; written: number } | null = null;
  private readonly place = h("div", { class: "report-place" });
  private readonly advice = h("section", { class: "try", "aria-label": "What would help" });
  private readonly curve = h("section", { class: "curve-box", hidden: true });
  private readonly extras = h("div", { class: "extras" });
  private readonly search = new SearchView(() => this.desk.stop());
  private swept: { key: string; result: Swept } | null = null;
  private resting = 0;
  private planning = 0;
  private drawn = 0;
  /** How often a plan was shown; for tests. */
  plans = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly desk: Desk,
    private readonly examples: Example[],
  ) {
    onTheme(() => this.showCurve());
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
      document.body.classList.add("dropping");
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) document.body.classList.remove("dropping");
    });
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      document.body.classList.remove("dropping");
      void this.take([...(event.dataTransfer?.files ?? [])]);
    });
    document.addEventListener("paste", (event) => {
      if (/^(INPUT|TEXTAREA)$/.test((event.target as HTMLElement).tagName)) return;
      const data = event.clipboardData;
      const files = [...(data?.files ?? [])];
      if (files.length) void this.take(files);
      else if (data?.getData("text").trim()) this.takeText(data.getData("text"));
    });
  }

  start(): void {
    this.report?.stop();
    this.report = null;
    this.files = [];
    document.title = "Berth: does your model fit?";
    this.root.replaceChildren(
      ...welcome(
        this.examples,
        (files) => void this.take(files),
        (text) => this.takeText(text),
        (files) => void this.show(files),
      ),
    );
  }
  private takeText(text: string): void {
    const name = /^\s*[{[]/.test(text) ? "pasted.json" : "pasted.csv";
    void this.show([{ name, bytes: new TextEncoder().encode(text) }]);
  }
  private async take(dropped: globalThis.File[]): Promise<void> {
    if (!dropped.length) return;
    if (dropped.length > 2) {
      this.complain("Drop one file, or two plans to compare them.");
      return;
    }
    const large = dropped.find((file) => file.size > MOST_BYTES);
    if (large) {
      this.complain(
        `${abridged(large.name, 60)} has ${bytes(large.size)}. A browser gives a page at most ` +
          `4 GiB, so files may have up to ${bytes(MOST_BYTES)}. The berth command has no such limit.`,
      );
      return;
    }
    try {
      const files = await Promise.all(
        dropped.map(async (file) => ({
          name: file.name,
          bytes: new Uint8Array(await file.arrayBuffer()),
        })),
      );
      await this.show(files);
    } catch (error) {
      this.complain(`The file cannot be read: ${String(error)}`);
    }
  }

  /** Something is wrong with what was given: said where the eye is. */
  private complain(message: string): void {
    const place = this.root.querySelector(".complaint");
    const text = h("p", { class: "complaint", role: "alert" }, h("bdi", {}, message));
    if (place) place.replaceWith(text);
    else this.root.prepend(text);
  }

  async show(files: File[]): Promise<void> {
    this.root.querySelector(".complaint")?.remove();
    document.body.classList.add("opening");
    this.search.begin("Reading");
    try {
      const opened = await this.desk.open(files);
      this.files = files;
      this.opened = opened;
      this.base = null;
      this.swept = null;
      this.summary = null;
      this.reportState = "";
      this.frame();
      if (opened.data !== null) {
        this.search.end("");
        this.showReport(opened.data);
      } else {
        await this.plan();
      }
    } catch (error) {
      if (error instanceof Failure && error.status === "replaced") return;
      this.complain(messageOf(error));
    } finally {
      document.body.classList.remove("opening");
    }
  }

  private get kind() {
    return this.opened!.kind;
  }
  private settings(): Settings {
    return this.controls?.settings ?? settingsFrom(location.hash.slice(1));
  }

  /** Everything around the report. */
  private frame(): void {
    const { kind, operators, openDimensions } = this.opened!;
    const diff = kind === "diff";
    const [file] = this.files;
    document.title = `${abridged(file!.name, 60)}: Berth`;
    this.report?.stop();
    this.report = null;
    this.place.replaceChildren();
    this.advice.replaceChildren();
    this.advice.hidden = true;
    this.curve.hidden = true;
    this.curve.replaceChildren();
    this.controls = diff
      ? null
      : new Controls(kind, settingsFrom(location.hash.slice(1)), () => this.changed());
    this.controls?.openDimensions(openDimensions);
    const what = [
      bytes(file!.bytes.length),
      operators ? `${grouped(operators)} operators` : "",
    ].filter(Boolean);
    this.root.replaceChildren(
      h(
        "div",
        { class: "bar", role: "banner" },
        h("button", { type: "button", class: "brand", onclick: () => this.start() }, "Berth"),
        h(
          "span",
          { class: "file" },
          ...this.files.flatMap(({ name }, i) => [i ? " → " : null, named(name, 50)]),
          diff ? null : h("small", {}, ` ${what.join(", ")}`),
        ),
        h("span", { class: "private" }, "Nothing leaves this computer"),
        this.takeAway(),
        button("Open another file", () => this.start()),
        button("◐", toggleTheme, "Light or dark"),
      ),
      ...(this.controls ? [this.controls.root, this.search.root] : []),
      this.advice,
      this.place,
      this.curve,
      this.extras,
    );
    this.showExtras();
  }

  private takeAway(): HTMLElement {
    const { kind } = this.opened!;
    const tflite = this.isTflite();
    const files: [string, string][] =
      kind === "diff"
        ? [["html", "Comparison as a page"]]
        : [
            ["html", "Report as a page"],
            ["json", "Plan as JSON"],
            ["csv", "Plan as CSV"],
            ["svg", "Plan as SVG"],
            ["trace", "Plan as a trace for Perfetto"],
            ...(kind === "graph" && !this.isJson()
              ? ([["model", tflite ? "Planned model (TFLite)" : "Reordered model (ONNX)"]] as [
                  string,
                  string,
                ][])
              : []),
          ];
    return menu("Take away", [["", "Take away …"], ...files], (what) => {
      if (what) void this.download(what as Taken);
    });
  }
  private isTflite(): boolean {
    return String.fromCharCode(...this.files[0]!.bytes.subarray(4, 8)) === "TFL3";
  }
  private isJson(): boolean {
    return /^\s*[{[]/.test(new TextDecoder().decode(this.files[0]!.bytes.subarray(0, 64)));
  }
  private async download(kind: Taken): Promise<void> {
    try {
      const reply = await this.desk.ask({ do: "take", kind }, {});
      if (reply.is !== "taken") return;
      const stem = this.files[0]!.name.replace(/\.\w+$/, "").replace(/[^\w.-]+/g, "_") || "plan";
      const ending =
        kind === "model" ? (this.isTflite() ? "planned.tflite" : "reordered.onnx") : ENDINGS[kind];
      const blob = new Blob([reply.bytes as BlobPart], { type: TYPES[kind] });
      const link = h("a", {
        download: `${stem.slice(0, 80)}.${ending}`,
        href: URL.createObjectURL(blob),
      }) as HTMLAnchorElement;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    } catch (error) {
      this.complain(messageOf(error));
    }
  }

  private changed(): void {
    history.replaceState(null, "", `#${linkOf(this.settings())}`);
    this.showExtras();
    void this.plan();
  }

  /** What the plan with as little memory as possible depends on. */
  private baseKey(): string {
    return linkOf({ ...this.settings(), memory: null, overflow: "explain" });
  }

  private async plan(): Promise<void> {
    const turn = ++this.planning;
    clearTimeout(this.resting);
    const settings = this.settings();
    const options = optionsOf(settings, this.kind);
    const what = settings.memory === null ? "Looking for the least memory" : "Planning";
    this.search.begin(what);
    const began = performance.now();
    try {
      await this.desk.ask(
        { do: "plan", options, advise: null },
        {
          progress: (best, bound, seconds) => {
            if (turn === this.planning) this.search.progress(what, best, bound, seconds);
          },
          planned: (planned) => {
            if (turn === this.planning) this.showPlan(planned, settings, began);
          },
        },
        true,
      );
      if (turn !== this.planning) return;
      this.resting = window.setTimeout(() => void this.rest(turn), REST);
    } catch (error) {
      if (turn !== this.planning) return;
      if (error instanceof Failure && error.status === "stopped") {
        this.search.end("Stopped before a plan was found.");
        return;
      }
      const malformed = error instanceof Failure && error.status === "parse error";
      if (!this.report && (malformed || this.kind !== "graph")) {
        // No control could change that.
        this.start();
        this.complain(messageOf(error));
        return;
      }
      this.search.end(messageOf(error), "bad");
      this.place.classList.add("stale");
    }
  }

  private showPlan(planned: Planned, settings: Settings, began: number): void {
    const { summary } = planned;
    this.summary = summary;
    this.place.classList.remove("stale");
    if (settings.memory === null && summary.addressed) {
      this.base = {
        key: this.baseKey(),
        height: summary.height,
        bound: summary.height_bound,
        written: summary.program_order_peak,
      };
    }
    this.showRange();
    this.showReport(planned.data);
    this.showRemedies(planned.remedies);
    const took = duration((performance.now() - began) / 1000);
    this.search.end(`${verdictOf(summary)} ${took} with the picture.`);
    ++this.plans;
  }
  private showRange(): void {
    const { base, summary } = this;
    if (!this.controls) return;
    const height = base?.height ?? summary?.height ?? -1;
    const known = base ?? {
      bound: summary?.height_bound ?? 0,
      written: summary?.program_order_peak ?? -1,
    };
    const top = Math.max(height, known.written, known.bound, this.settings().memory ?? 0, 1);
    const marks = [
      ...(height > 0 ? [{ at: height, title: known.bound === height ? "least" : "ours" }] : []),
      ...(known.bound > 0 && known.bound !== height
        ? [{ at: known.bound, title: "at least" }]
        : []),
      ...(known.written > 0 && known.written !== height
        ? [{ at: known.written, title: "order as written" }]
        : []),
    ];
    this.controls.range(Math.floor(0.2 * Math.max(1, known.bound)), Math.ceil(1.1 * top), marks);
  }
  private showReport(data: string): void {
    this.report?.stop();
    const page = new PlanPage(parseExactly(data) as Data);
    page.address = {
      read: () => this.reportState,
      write: (text) => (this.reportState = text),
    };
    // The page must not jump while its parts are replaced.
    this.place.style.minHeight = `${this.place.offsetHeight}px`;
    page.start(this.place);
    requestAnimationFrame(() => (this.place.style.minHeight = ""));
    this.report = page;
    Object.assign(window, { berth: page });
  }
  private showRemedies(remedies: Remedy[]): void {
    const useful = remedies
      .map((remedy) => ({ remedy, next: changed(this.settings(), remedy.change) }))
      .filter(({ next }) => next !== null)
      .slice(0, 5);
    this.advice.hidden = useful.length === 0;
    const fits = this.summary?.outcome === "infeasible" || this.summary?.outcome === "unknown";
    this.advice.replaceChildren(
      h("h2", {}, fits ? "Would make it fit" : "Would lower it"),
      h(
        "ul",
        {},
        ...useful.map(({ remedy, next }) =>
          h(
            "li",
            {},
            h(
              "button",
              {
                type: "button",
                class: remedy.fits ? "fits" : "",
                title: remedy.detail,
                onclick: () => this.controls!.set(next!),
              },
              h("bdi", {}, remedy.title),
              remedy.needs >= 0 ? h("small", {}, ` needs ${bytes(remedy.needs)}`) : null,
            ),
          ),
        ),
      ),
    );
  }

  /** When nothing has changed for a moment: advice, then the curve. */
  private async rest(turn: number): Promise<void> {
    const settings = this.settings();
    try {
      if (this.kind === "graph" || this.summary?.outcome === "infeasible") {
        this.search.begin("Looking for what would help");
        const options = optionsOf(settings, this.kind);
        await this.desk.ask(
          {
            do: "plan",
            options,
            advise: { time_limit: SECONDS_FOR_ADVICE },
          },
          {
            planned: (planned) => {
              if (turn !== this.planning || !planned.final) return;
              this.showReport(planned.data);
              this.showRemedies(planned.remedies);
            },
          },
        );
        if (turn !== this.planning) return;
        this.search.end(verdictOf(this.summary!));
      }
      if (settings.overflow !== "explain" && this.kind === "graph") await this.sweep(turn);
    } catch (error) {
      if (turn === this.planning && !(error instanceof Failure && error.status === "replaced")) {
        this.search.end(messageOf(error), "bad");
      }
    }
  }
  private async sweep(turn: number): Promise<void> {
    const settings = this.settings();
    const key = this.baseKey();
    if (this.swept?.key !== key || !this.swept.result.final) {
      const { capacity: _c, budget: _b, recompute: _r, ...rest } = optionsOf(settings, "graph");
      const options = { ...rest, time_limit: SECONDS_PER_POINT };
      if (!["auto", "program"].includes(settings.order)) delete options["order" as never];
      this.search.begin("Drawing the curve of traffic");
      await this.desk.ask(
        { do: "sweep", options, points: POINTS },
        {
          swept: (result) => {
            if (turn !== this.planning) return;
            this.swept = { key, result };
            this.showCurve();
          },
        },
      );
      if (turn !== this.planning) return;
      this.search.end(this.summary ? verdictOf(this.summary) : "");
    }
    this.showCurve();
  }
  private showCurve(): void {
    const { swept, summary } = this;
    cancelAnimationFrame(this.drawn);
    if (!swept || !swept.result.points.length) return;
    this.drawn = requestAnimationFrame(() => {
      const points = [...swept.result.points];
      const memory = this.settings().memory;
      let current = -1;
      if (summary?.spills && memory !== null) {
        current = points.findIndex((point) => point.capacity === memory);
        if (current < 0) {
          current = points.length;
          points.push({
            capacity: memory,
            outcome: summary.outcome,
            avoidable: summary.has_plan ? summary.spilled + summary.retrieved : null,
            spilled: summary.spilled,
            retrieved: summary.retrieved,
            traffic_bound: summary.traffic_bound,
            traffic_by_sum: summary.traffic_by_sum,
            seconds: summary.seconds,
          });
        }
      }
      const column = <K extends keyof (typeof points)[0]>(key: K) =>
        points.map((point) => point[key]);
      const sweep = new Sweep({
        kind: "sweep",
        quantity: null,
        provenance: [],
        curves: [
          {
            model: this.files[0]!.name,
            input: "",
            least: swept.result.least,
            least_peak: swept.result.fixed_order ? null : swept.result.least_peak,
            fixed_order: swept.result.fixed_order,
            number: points.map((_, i) => i + 1),
            capacity: column("capacity"),
            outcome: column("outcome"),
            avoidable: column("avoidable"),
            spilled: column("spilled"),
            retrieved: column("retrieved"),
            traffic_bound: column("traffic_bound"),
            traffic_by_sum: column("traffic_by_sum"),
            seconds: column("seconds"),
          },
        ],
      });
      const chart = new Chart(sweep, "Traffic off chip against memory");
      chart.selected = current;
      chart.setLooks(themeNow());
      chart.onSelect = (i) => {
        if (i >= 0) this.controls!.set({ memory: points[i]!.capacity });
      };
      this.curve.setAttribute("aria-label", "Traffic against memory");
      this.curve.hidden = false;
      this.curve.replaceChildren(h("h2", {}, "Traffic off chip against memory"), chart.root);
    });
  }

  private showExtras(): void {
    if (this.kind === "diff") {
      this.extras.replaceChildren();
      return;
    }
    const command = commandOf(
      optionsOf(this.settings(), this.kind),
      this.kind,
      this.files[0]!.name,
    );
    this.extras.replaceChildren(
      h(
        "section",
        { "aria-label": "The same elsewhere" },
        h("h2", {}, "The same on the command line"),
        commandLine(command),
        h(
          "p",
          { class: "note" },
          "The address of this page is a link to these settings, without the model.",
        ),
      ),
    );
  }
}

const ENDINGS: Record<Taken, string> = {
  html: "html",
  json: "json",
  csv: "csv",
  svg: "svg",
  trace: "trace.json",
  model: "bin",
};
const TYPES: Record<Taken, string> = {
  html: "text/html",
  json: "application/json",
  csv: "text/csv",
  svg: "image/svg+xml",
  trace: "application/json",
  model: "application/octet-stream",
};

function messageOf(error: unknown): string {
  if (error instanceof Failure && error.status === "out of memory") {
    return "The planner has no more memory: a browser gives a page at most 4 GiB. The berth command has no such limit.";
  }
  const message = error instanceof Error ? error.message : String(error);
  return abridged(message, 600);
}

/** One sentence: whether it fits, and what is proved. */
function verdictOf(s: Summary): string {
  if (s.unsized > 0 && s.outcome === "unknown") {
    return `${grouped(s.unsized)} tensors have no known size: at least ${bytes(s.height_bound)} are needed.`;
  }
  if (s.capacity < 0) {
    return s.outcome === "optimal"
      ? `Needs ${bytes(s.height)}: proved the least.`
      : `Needs ${bytes(s.height)}; at least ${bytes(s.height_bound)} is proved.`;
  }
  const capacity = bytes(s.capacity);
  if (s.outcome === "infeasible") return `Does not fit ${capacity}: proved.`;
  if (s.outcome === "unknown") return `Not known whether it fits ${capacity}.`;
  if (!s.spills) return `Fits ${capacity}.`;
  const traffic = s.spilled + s.retrieved;
  return traffic === 0
    ? `Fits ${capacity} without spills.`
    : `Fits ${capacity} with ${bytes(traffic)} of traffic${s.outcome === "optimal" ? ", proved the least" : ""}.`;
}
