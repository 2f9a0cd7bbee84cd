// The page: a file is dropped, its plan is shown as a report, and changes with the controls.
import { Chart } from "../../../src/report/app/src/chart";
import { type Data, parseExactly, suffices } from "../../../src/report/app/src/data";
import { h, named } from "../../../src/report/app/src/dom";
import {
  abridged,
  bytes,
  cost,
  duration,
  grouped,
  parseBytes,
  percent,
} from "../../../src/report/app/src/format";
import { button, commandLine, menu } from "../../../src/report/app/src/parts";
import { PlanPage } from "../../../src/report/app/src/plan-page";
import { onTheme, themeNow, toggleTheme } from "../../../src/report/app/src/theme";
import type { File, Opened, Planned, SweepPoint, Swept, Taken } from "../messages";
import { costPoint, trafficPoint } from "../points";
import type { MemoriesSummary, Recomputed, Remedy, Summary } from "../planner";
import { Controls } from "./controls";
import { sweepOf } from "./curve";
import type { Desk } from "./desk";
import { Failure } from "./desk";
import { SearchView, type Tone } from "./search-view";
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
/** Milliseconds between changes of the address. */
const TELLING = 250;

/** What may lower the cost in several memories, or make it fit. */
const MEMORY_REMEDIES: [string, Partial<Settings>][] = [
  ["In place", { in_place: true }],
  ["Fused operators", { fuse: true }],
  ["8-bit elements", { eight_bit: true }],
  ["Tensors copied between operators", { moves: "copy" }],
];

/** A change that was tried, as a button. */
interface Advice {
  title: string;
  note: string;
  detail: string;
  fits: boolean;
  next: Settings;
}
interface AdviceGroup {
  title: string;
  useful: Advice[];
}
/** Of each group. */
const MOST_ADVICE = 5;

export class App {
  private files: File[] = [];
  private opened: Opened | null = null;
  private controls: Controls | null = null;
  private report: PlanPage | null = null;
  private summary: Summary | null = null;
  private several: MemoriesSummary | null = null;
  private recomputed: Recomputed | null = null;
  private verdict = "";
  private tone: Tone = "";
  /** Of the plan with as little memory as possible, which the slider starts from. */
  private base: { key: string; height: number; bound: number; written: number } | null = null;
  private readonly takeAway = h("span", { class: "take" });
  private readonly place = h("div", { class: "report-place" });
  private readonly advice = h("section", {
    class: "try",
    "aria-label": "What would help",
    hidden: true,
  });
  private readonly curve = h("section", { class: "curve-box", hidden: true });
  private readonly extras = h("div", { class: "extras" });
  private readonly search = new SearchView(() => this.desk.stop());
  private readonly answer = h("div", { class: "answer" }, this.search.root, this.advice);
  private swept: { key: string; result: Swept } | null = null;
  private resting = 0;
  private told = -Infinity;
  private telling = 0;
  private planning = 0;
  /** The newest search whose plan was shown. */
  private shownTurn = 0;
  private drawn = 0;
  /** How often a plan was shown; for tests. */
  plans = 0;
  /** Nodes of the searches that made the browser compile the planner before it was needed; for tests. */
  get warm(): number {
    return this.desk.warm;
  }

  constructor(
    private readonly root: HTMLElement,
    private readonly desk: Desk,
    private readonly examples: Example[],
  ) {
    onTheme(() => this.showCurve());
    window.addEventListener("resize", () => (this.answer.style.minHeight = ""));
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

  /** The first page again. */
  start(): void {
    this.leave();
    this.desk.stop();
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
  /** What is still to come for the file that was shown is not shown. */
  private leave(): void {
    ++this.planning;
    this.shownTurn = this.planning;
    clearTimeout(this.telling);
    clearTimeout(this.resting);
    cancelAnimationFrame(this.drawn);
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
    this.leave();
    this.root.querySelector(".complaint")?.remove();
    document.body.classList.add("opening");
    this.search.begin("Reading");
    try {
      const first = this.opened === null;
      const opened = await this.desk.open(files);
      this.files = files;
      this.opened = opened;
      this.base = null;
      this.swept = null;
      this.summary = this.several = null;
      this.frame(first);
      if (opened.data !== null) {
        this.search.end("");
        this.showReport(opened.data);
        ++this.plans;
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

  /** Everything around the report. Settings stay from one file to the next, as they tell of a device and
   * of what is asked; sizes of dimensions that only the file before has do not, nor does the choice of
   * one of its problems. Of the first file, a link set them, so dimensions that it sets in vain are said. */
  private frame(first: boolean): void {
    const { kind, operators, openDimensions, problems, data } = this.opened!;
    const diff = kind === "diff";
    const given = data !== null; // Nothing is left to plan.
    const [file] = this.files;
    document.title = `${abridged(file!.name, 60)}: Berth`;
    this.report?.stop();
    this.report = null;
    this.place.replaceChildren();
    this.place.classList.toggle("one", !given);
    this.advice.replaceChildren();
    this.advice.hidden = true;
    this.answer.style.minHeight = "";
    delete this.takeAway.dataset["offers"];
    this.takeAway.replaceChildren();
    this.curve.hidden = true;
    this.curve.replaceChildren();
    const settings = settingsFrom(location.hash.slice(1));
    const lacking = Object.keys(settings.dim).filter((name) => !openDimensions.includes(name));
    if (!first) for (const name of lacking) delete settings.dim[name];
    const before = settings.problem;
    if (!problems.includes(before)) settings.problem = problems.length > 1 ? problems[0]! : "";
    this.controls = given ? null : new Controls(kind, settings, () => this.changed());
    this.controls?.openDimensions(openDimensions);
    this.controls?.problems(problems, kind === "snapshot" ? "Pool" : "Problem");
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
          "h1",
          { class: "file" },
          ...this.files.flatMap(({ name }, i) => [i ? " → " : null, named(name, 50)]),
          diff ? null : h("small", {}, ` ${what.join(", ")}`),
        ),
        h("span", { class: "private" }, "Nothing leaves this computer"),
        this.takeAway,
        button("Open another file", () => this.start()),
        button("◐", toggleTheme, "Light or dark"),
      ),
      ...(this.controls ? [this.controls.root, this.answer] : []),
      this.place,
      this.curve,
      this.extras,
    );
    this.showExtras();
    const forgotten = (!first && lacking.length > 0) || settings.problem !== before;
    if (!given && forgotten) this.tell();
  }

  /** One menu for all files: of the plan, and of the picture as it is shown. */
  private showTakeAway(): void {
    const { kind, data } = this.opened!;
    const offers = String(this.summary?.has_plan);
    if (this.takeAway.dataset["offers"] === offers) return;
    this.takeAway.dataset["offers"] = offers;
    const model = this.isTflite() ? "Planned model (TFLite)" : "Reordered model (ONNX)";
    const files: [string, string][] = [
      ...(kind === "graph" && !this.isJson() && this.summary?.has_plan
        ? ([["model", model]] as [string, string][])
        : []),
      ...(kind === "plan"
        ? []
        : ([["html", kind === "diff" ? "Comparison as a page" : "Report as a page"]] as [
            string,
            string,
          ][])),
      ...(data !== null
        ? []
        : ([
            ["json", "Plan as JSON"],
            ["csv", "Plan as CSV"],
            ["svg", "Plan as SVG"],
            ["trace", "Plan as a trace for Perfetto"],
          ] as [string, string][])),
    ];
    const seen = (this.report?.savable ?? []).map(([ending, title]): [string, string] => [
      `seen:${ending}`,
      title,
    ]);
    this.takeAway.replaceChildren(
      menu("Download", [["", "Download …"]], (what) => this.takenFrom(what), [
        ...(files.length ? [["To use elsewhere", files] as [string, [string, string][]]] : []),
        ["As shown below", seen],
      ]),
    );
  }
  private takenFrom(what: string): void {
    if (what.startsWith("seen:")) void this.report?.save(what.slice(5));
    else if (what) void this.download(what as Taken);
  }
  private isTflite(): boolean {
    return String.fromCharCode(...this.files[0]!.bytes.subarray(4, 8)) === "TFL3";
  }
  private isJson(): boolean {
    return /^\s*[{[]/.test(new TextDecoder().decode(this.files[0]!.bytes.subarray(0, 64)));
  }
  /** Why the plan cannot be written into the model, in the words of the page. */
  private cannotBeModel(): string | null {
    const { eight_bit, fuse, overflow, memory, board } = this.settings();
    if (!board.length && memory !== null && overflow !== "explain") {
      const what = overflow === "spill" ? "copies tensors out and back" : "may run operators again";
      return `This plan ${what}, which a model cannot say. Take the plan as JSON or CSV.`;
    }
    if (!this.isTflite()) return null;
    if (board.length) return "TensorFlow Lite Micro has one memory. Take the plan as JSON or CSV.";
    if (eight_bit) {
      return "With 8 bit the plan is an estimate: quantise the model, and drop the result here.";
    }
    if (fuse) return "TensorFlow Lite Micro does not fuse operators: plan without Fuse.";
    return null;
  }
  private async download(kind: Taken): Promise<void> {
    try {
      const why = kind === "model" ? this.cannotBeModel() : null;
      if (why !== null) return this.complain(why);
      this.root.querySelector(".complaint")?.remove();
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
    this.tell();
    void this.plan();
  }
  /** The address and the command line of the settings: at once, but not with every step of a slider, as
   * browsers limit how often an address may change. */
  private tell(): void {
    const wait = this.told + TELLING - performance.now();
    clearTimeout(this.telling);
    if (wait > 0) {
      this.telling = window.setTimeout(() => this.tell(), wait);
      return;
    }
    this.told = performance.now();
    history.replaceState(null, "", `#${linkOf(this.settings())}`);
    this.showExtras();
  }

  /** What the plan with as little memory as possible depends on. */
  private baseKey(): string {
    const settings = this.settings();
    const swept = this.sweptMemory();
    const board = settings.board.map((row, m) => (m === swept ? { ...row, size: "" } : row));
    return linkOf({ ...settings, board, memory: null, overflow: "explain" });
  }

  private async plan(): Promise<void> {
    const turn = ++this.planning;
    clearTimeout(this.resting);
    const settings = this.settings();
    const options = optionsOf(settings, this.kind);
    const several = settings.board.length > 0 && this.kind === "graph";
    const what = settings.memory === null && !several ? "Looking for the least memory" : "Planning";
    // Of a search for the least cost, the values have the unit of the graph or the device; accesses to
    // several memories take nanoseconds.
    const amount = several
      ? (value: number) => cost(value, "ns")
      : options.recompute
        ? grouped
        : bytes;
    this.search.begin(what);
    const began = performance.now();
    try {
      await this.desk.ask(
        { do: "plan", options, advise: null },
        {
          progress: (best, bound, seconds) => {
            if (turn !== this.planning) return;
            this.search.progress(what, { seconds, best, bound }, amount);
          },
          planned: (planned) => {
            // One that was asked for a moment ago is shown, too, until the newest one is there.
            if (turn <= this.shownTurn) return;
            this.shownTurn = turn;
            this.showPlan(planned, settings, began);
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
      const { kind, openDimensions, problems } = this.opened!;
      const malformed = error instanceof Failure && error.status === "parse error";
      // A model may not run with some sizes, and one problem of several may be the wrong one.
      const choice = openDimensions.length > 0 || problems.length > 1;
      if (!this.report && !choice && (malformed || kind !== "graph")) {
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
    this.several = planned.several;
    this.recomputed = planned.recomputed;
    this.place.classList.remove("stale");
    if (settings.memory === null && summary.addressed && !planned.several) this.setBase(summary);
    this.showRange();
    this.showPlanned(planned);
    const took = duration((performance.now() - began) / 1000);
    this.verdict = verdictOf(planned, this.again(), this.leastKnown());
    this.tone = toneOf(planned);
    this.search.end(this.verdict, this.tone, `${took} with the picture.`);
    ++this.plans;
  }
  private setBase(summary: Summary): void {
    this.base = {
      key: this.baseKey(),
      height: summary.height,
      bound: summary.height_bound,
      written: summary.program_order_peak,
    };
  }
  /** With these settings, some plan without a limit needs no more than this; null: not known. */
  private leastKnown(): number | null {
    return this.base?.key === this.baseKey() ? this.base.height : null;
  }
  /** Names of the operators that run again, and how often. */
  private again(): Map<string, number> {
    const runs = this.report?.plans[0]!.raw.graph?.operators;
    const seen = new Set<number>();
    const again = new Map<string, number>();
    runs?.program.forEach((operator, step) => {
      const name = runs.name[step]!;
      if (seen.has(operator)) again.set(name, (again.get(name) ?? 0) + 1);
      seen.add(operator);
    });
    return again;
  }
  /** Where the slider ends, and what is known along it with these settings. A plan that spills, or runs
   * operators again, says nothing of plans that do not. */
  private showRange(): void {
    if (!this.controls) return;
    const s = this.summary;
    const apart = s?.spills || this.recomputed !== null;
    const known = (this.base?.key === this.baseKey() ? this.base : null) ?? {
      height: s && !apart ? s.height : -1,
      bound: s && !apart ? s.height_bound : 0,
      written: s?.program_order_peak ?? -1,
    };
    const { height } = known;
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
  /** A plan with what is advised. The planner does not know the command line that follows its advice. */
  private showPlanned({ data, remedies }: Planned): void {
    const file = this.files[0]!.name;
    const each = remedies.map((remedy) => {
      const next = changed(this.settings(), remedy.change);
      return { remedy, next };
    });
    const commands = each.map(
      ({ next }) => next && commandOf(optionsOf(next, this.kind), this.kind, file),
    );
    this.showReport(data, commands);
    this.showRemedies(each.flatMap(({ remedy, next }) => (next ? [{ ...remedy, next }] : [])));
  }
  private showReport(text: string, commands: (string | null)[] = []): void {
    const data = parseExactly(text) as Data;
    commands.forEach((command, i) => (data.remedies[i]!.command = command));
    if (this.report) {
      this.report.setData(data);
    } else {
      this.report = new PlanPage(data);
      this.report.address = { read: () => "", write: () => {} };
      this.report.start(this.place);
      Object.assign(window, { berth: this.report });
    }
    this.showTakeAway();
  }
  private showRemedies(remedies: (Remedy & { next: Settings })[]): void {
    const useful = remedies.map((remedy) => ({ ...remedy, note: noteOf(remedy) }));
    const { outcome, capacity } = this.summary!;
    if (outcome !== "infeasible" && outcome !== "unknown") {
      return this.showAdvice([{ title: "Would lower it", useful }]);
    }
    // Of an order only the peak is known where no plan in it was found.
    const rest = useful.filter((remedy) => !suffices(remedy));
    const short = rest.every(({ needs }) => needs > capacity);
    this.showAdvice([
      { title: "Would make it fit", useful: useful.filter(suffices) },
      { title: short ? "Not enough alone" : "Would help", useful: rest },
    ]);
  }
  private showAdvice(all: AdviceGroup[]): void {
    const groups = all.filter(({ useful }) => useful.length > 0);
    this.advice.hidden = groups.length === 0;
    // The room that advice has taken stays, so that the picture does not move when it comes and goes.
    if (groups.length) {
      requestAnimationFrame(() => {
        const { height } = this.answer.getBoundingClientRect();
        this.answer.style.minHeight = `${height}px`;
      });
    }
    this.advice.replaceChildren(
      ...groups.map(({ title, useful }) => {
        const items = useful.slice(0, MOST_ADVICE).map((each) => h("li", {}, this.remedy(each)));
        return h("div", {}, h("h2", {}, title), h("ul", {}, ...items));
      }),
    );
  }
  private remedy(each: Advice): HTMLElement {
    return h(
      "button",
      {
        type: "button",
        class: each.fits ? "fits" : "",
        title: each.detail,
        onclick: () => this.controls!.set(each.next),
      },
      h("bdi", {}, each.title),
      each.note ? h("small", {}, ` ${each.note}`) : null,
    );
  }

  /** When nothing has changed for a moment: advice, then the curve. */
  private async rest(turn: number): Promise<void> {
    const settings = this.settings();
    try {
      if (settings.board.length && this.kind === "graph") {
        await this.compare(turn);
        if (turn === this.planning) await this.sweep(turn);
        return;
      }
      if (this.kind === "graph" || this.summary?.outcome === "infeasible") {
        this.search.begin("Looking for what would help", true);
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
              this.showPlanned(planned);
            },
          },
        );
        if (turn !== this.planning) return;
        this.search.end(this.verdict, this.tone);
      }
      if (settings.overflow !== "explain" && this.kind === "graph") await this.sweep(turn);
      else await this.findLeast(turn);
    } catch (error) {
      if (turn !== this.planning) return;
      const status = error instanceof Failure ? error.status : "";
      if (status === "stopped") this.search.end(this.verdict, this.tone);
      else if (status !== "replaced") this.search.end(messageOf(error), "bad");
    }
  }
  /** Within a limit the search ends with any plan that fits: how little would do is asked here, if no plan
   * without a limit was made before. */
  private async findLeast(turn: number): Promise<void> {
    const settings = this.settings();
    const { height, height_bound } = this.summary!;
    if (this.tone !== "fits" || settings.memory === null || height <= height_bound) return;
    if (this.leastKnown() !== null) return;
    const options = optionsOf({ ...settings, memory: null }, this.kind);
    this.search.begin("Looking for the least memory", true);
    const reply = await this.desk.ask(
      { do: "least", options: { ...options, time_limit: SECONDS_FOR_ADVICE } },
      {},
    );
    if (turn !== this.planning || reply.is !== "least") return;
    if (reply.summary.addressed) {
      this.setBase(reply.summary);
      this.showRange();
      this.verdict = verdictOfOne(this.summary!, this.leastKnown());
    }
    this.search.end(this.verdict, this.tone);
  }
  /** Of several memories: what would lower the cost, each tried. */
  private async compare(turn: number): Promise<void> {
    const settings = this.settings();
    const now = this.several;
    if (!now || (now.outcome === "optimal" && now.cost === 0)) return;
    const tries = MEMORY_REMEDIES.map(([title, change]) => ({
      title,
      next: { ...settings, ...change },
    })).filter(({ next }) => linkOf(next) !== linkOf(settings));
    const options = tries.map(({ next }) => ({
      ...optionsOf(next, "graph"),
      time_limit: SECONDS_PER_POINT,
    }));
    this.search.begin("Looking for what would lower the cost", true);
    const reply = await this.desk.ask({ do: "compare", options }, {});
    if (turn !== this.planning || reply.is !== "compared") return;
    const lacking = now.unplaced > 0;
    const useful = tries.flatMap(({ title, next }, i) => {
      const found = reply.found[i];
      if (!found || found.unplaced > now.unplaced) return [];
      if (found.unplaced === now.unplaced && found.cost >= now.cost) return [];
      const fits = found.unplaced === 0 && found.outcome !== "infeasible";
      const what = fits
        ? `${cost(found.cost, "ns")}${lacking ? "" : `, ${percent(now.cost - found.cost, now.cost)} less`}`
        : `${grouped(found.unplaced)} without a place`;
      return [{ title, next, fits, detail: `Tried: ${what}`, note: what, worth: found }];
    });
    useful.sort((x, y) => x.worth.unplaced - y.worth.unplaced || x.worth.cost - y.worth.cost);
    this.showAdvice(
      lacking
        ? [
            { title: "Would make it fit", useful: useful.filter(({ fits }) => fits) },
            { title: "Not enough alone", useful: useful.filter(({ fits }) => !fits) },
          ]
        : [{ title: "Would lower the cost", useful }],
    );
    this.search.end(this.verdict, this.tone);
  }

  /** The memory whose size the curve is about; -1: there is none whose size matters. */
  private sweptMemory(): number {
    const { board } = this.settings();
    return board.some(({ speed }) => speed) ? board.findIndex(({ size }) => size) : -1;
  }
  private async sweep(turn: number): Promise<void> {
    const settings = this.settings();
    const several = settings.board.length > 0;
    const memory = several ? this.sweptMemory() : null;
    if (memory !== null && memory < 0) return;
    const key = `${this.baseKey()} ${settings.overflow}`;
    if (this.swept?.key !== key || !this.swept.result.final) {
      const { capacity: _c, budget: _b, ...rest } = optionsOf(settings, "graph");
      const options = { ...rest, time_limit: SECONDS_PER_POINT };
      if (!several && !["auto", "program"].includes(settings.order)) delete options.order;
      const costs = several || rest.recompute;
      this.search.begin(`Drawing the curve of ${costs ? "the cost" : "traffic"}`, true);
      await this.desk.ask(
        { do: "sweep", options, points: POINTS, memory },
        {
          swept: (result) => {
            if (turn !== this.planning) return;
            this.swept = { key, result };
            this.showCurve();
          },
        },
      );
      if (turn !== this.planning) return;
      this.search.end(this.verdict, this.tone);
    }
    this.showCurve();
  }
  private showCurve(): void {
    const { swept } = this;
    cancelAnimationFrame(this.drawn);
    if (!swept || !swept.result.points.length) return;
    this.drawn = requestAnimationFrame(() => {
      const { board } = this.settings();
      const memory = board.length ? this.sweptMemory() : null;
      const { sweep, points, current } = sweepOf(swept.result, this.files[0]!.name, {
        settings: this.settings(),
        memory,
        now: this.pointNow(),
      });
      const over = memory === null ? "memory" : `the size of ${board[memory]!.name}`;
      const title = `${sweep.quantity.title} against ${over}`;
      const chart = new Chart(sweep, title);
      chart.selected = current;
      chart.setLooks(themeNow());
      chart.onSelect = (i) => {
        if (i < 0) return;
        const { capacity } = points[i]!;
        if (memory === null) this.controls!.set({ memory: capacity });
        else this.controls!.setSize(memory, capacity);
      };
      this.curve.setAttribute("aria-label", title);
      this.curve.hidden = false;
      this.curve.replaceChildren(h("h2", {}, title), chart.root);
    });
  }
  /** Where the plan that is shown lies on the curve. */
  private pointNow(): SweepPoint | null {
    const { summary, several } = this;
    const { board, memory } = this.settings();
    if (several) {
      const at = this.sweptMemory();
      const capacity = at < 0 ? NaN : parseBytes(board[at]!.size);
      return Number.isFinite(capacity) ? costPoint(capacity, several) : null;
    }
    return (summary?.spills || this.recomputed) && summary && memory !== null
      ? trafficPoint(memory, summary, this.recomputed)
      : null;
  }

  private showExtras(): void {
    if (this.opened!.data !== null) {
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

/** What the title of a remedy does not say. */
function noteOf({ title, needs, traffic }: Remedy): string {
  if (traffic > 0) return `${bytes(traffic)} of traffic`;
  return needs >= 0 && !title.includes(bytes(needs)) ? `needs ${bytes(needs)}` : "";
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

function toneOf({ several, summary }: Planned): Tone {
  const { outcome } = several ?? summary;
  if (outcome === "infeasible") return "misfit";
  if (outcome === "unknown") return "open";
  return several || summary.capacity >= 0 ? "fits" : "open";
}

/** Whether it fits, what is proved, and what it costs. */
function verdictOf(planned: Planned, again: Map<string, number>, least: number | null): string {
  if (planned.several) return verdictOfSeveral(planned);
  const { recomputed, summary: s } = planned;
  if (!recomputed || !s.has_plan) return verdictOfOne(s, least);
  const traffic = s.spilled + s.retrieved;
  const copies = traffic ? ` Copies ${bytes(traffic)}.` : "";
  if (!again.size) return `Fits ${bytes(s.capacity)} with no operator run again.${copies}`;
  const { unit, cost: extra, bound, copies: copying } = recomputed;
  const price = (value: number) => (unit === "bytes" ? bytes(value) : cost(value, unit));
  const most = 3;
  const names = [...again].map(([name, times]) =>
    times > 1 ? `${abridged(name, 40)} (${times} times)` : abridged(name, 40),
  );
  const rest = names.length > most ? ` and ${grouped(names.length - most)} more` : "";
  const paid = extra + copying;
  const worth = paid <= bound ? "proved the least" : `at least ${price(bound)} is proved`;
  return (
    `Fits ${bytes(s.capacity)}. Runs again: ${names.slice(0, most).join(", ")}${rest}. ` +
    `This costs ${price(paid)}, ${worth}.${copies}`
  );
}

function verdictOfSeveral({ several, run }: Planned): string {
  const s = several!;
  if (s.unplaced > 0) {
    const proved = s.unplaced === s.unplaced_bound;
    return (
      `${s.outcome === "infeasible" ? "Does not fit" : "No plan was found that fits"}: ` +
      `${grouped(s.unplaced)} tensors have no place${proved ? ", proved the fewest" : ""}.`
    );
  }
  if (s.outcome === "infeasible") return "Does not fit: proved.";
  if (s.outcome === "unknown") return "Not known whether it fits.";
  const what = run ? `The run takes ${cost(s.cost, "ns")}` : `Accesses take ${cost(s.cost, "ns")}`;
  const waits = run && run.stalled > 0 ? `, ${cost(run.stalled, "ns")} of it waiting` : "";
  const worth =
    s.outcome === "optimal" ? "proved the least" : `at least ${cost(s.cost_bound, "ns")} is proved`;
  return `Fits. ${what}${waits}: ${worth}.`;
}

/** What the memory lacks, as far as that is known. */
function lacking({ capacity, height, height_bound, least_memory, spills }: Summary): string {
  if (spills && least_memory > capacity) return `, one operator alone needs ${bytes(least_memory)}`;
  if (height_bound <= capacity) return "";
  return `, ${height === height_bound ? "" : "at least "}${bytes(height_bound - capacity)} are missing`;
}

function verdictOfOne(s: Summary, least: number | null): string {
  if (s.unsized > 0 && s.outcome === "unknown") {
    return `${grouped(s.unsized)} tensors have no known size: at least ${bytes(s.height_bound)} are needed.`;
  }
  if (s.capacity < 0) {
    return s.outcome === "optimal"
      ? `Needs ${bytes(s.height)}: proved the least.`
      : `Needs ${bytes(s.height)}; at least ${bytes(s.height_bound)} is proved.`;
  }
  const capacity = bytes(s.capacity);
  if (s.outcome === "infeasible") return `Does not fit ${capacity}: proved${lacking(s)}.`;
  if (s.outcome === "unknown") {
    const most = s.height > s.capacity ? `; ${bytes(s.height)} would do` : "";
    return `Not known whether it fits ${capacity}${most}.`;
  }
  if (!s.spills) {
    const other =
      s.height <= s.height_bound
        ? ", proved the least"
        : least !== null && least < s.height
          ? `, and ${bytes(least)} would do`
          : "";
    return `Fits ${capacity}: this plan takes ${bytes(s.height)}${other}.`;
  }
  const traffic = s.spilled + s.retrieved;
  return traffic === 0
    ? `Fits ${capacity} without spills.`
    : `Fits ${capacity} with ${bytes(traffic)} of traffic${s.outcome === "optimal" ? ", proved the least" : ""}.`;
}
