// The curves of a sweep: memory to the right, traffic or cost upwards. For each model the staircase
// of the plans found, that of the bounds proved, and the region between them; where plans with
// recomputation also copy, that of the copies alone.
// Drawn as SVG, so that what is saved is what is seen.
import { ByteAxis, ticks } from "./axis";
import { svg } from "./dom";
import { bytes, grouped } from "./format";
import { type Point, listen } from "./gestures";
import { type Inner, Picture } from "./picture";
import type { Sweep } from "./sweep";
import type { Theme } from "./theme";

const LEFT = 84;
const RIGHT = 18;
const TOP = 24;
const BOTTOM = 40;
const NEAR = 26; // Pixels from a point within which it is meant.
const WIDE = 6.5; // Pixels of a letter, at most on average.
const FEW = 3; // Models whose bounds are drawn all the time.
const CROWD = 1500; // With more points in view, only the model that stands out has marks.

/** How the line of a model looks: told by colour and by dashes. */
export interface LineLook {
  light: string;
  dark: string;
  dashes: string;
}
// M. Okabe and K. Ito's colours, darkened where they are too faint for thin lines; and lighter ones
// for dark backgrounds.
export const LINES: LineLook[] = [
  { light: "#0072b2", dark: "#5ab4ec", dashes: "" },
  { light: "#c24e00", dark: "#ff9d5c", dashes: "7 3" },
  { light: "#00805d", dark: "#3fd6a6", dashes: "2 2.5" },
  { light: "#a23b80", dark: "#ee9dd0", dashes: "9 3 2 3" },
  { light: "#222222", dark: "#e6ecf1", dashes: "" },
  { light: "#946a00", dark: "#f0c466", dashes: "5 2 1.5 2 1.5 2" },
  { light: "#2b7fbd", dark: "#a5d4ff", dashes: "12 4" },
  { light: "#636a74", dark: "#a9b5c2", dashes: "3 2" },
];
export const lineOf = (curve: number, dark: boolean) => {
  const look = LINES[curve % LINES.length]!;
  // From the ninth model on, colours repeat with other dashes.
  const { dashes } = LINES[(curve + Math.floor(curve / LINES.length)) % LINES.length]!;
  return { color: dark ? look.dark : look.light, dashes };
};

/** Of memory: bytes, their logarithm, or percent of the least peak, to compare models. */
export type Scale = "bytes" | "log" | "share";

const short = (value: number) => String(Math.round(value * 10) / 10);

/** A path in steps, level first or upright first. */
function stairs(points: Point[], begin: string, level: boolean): string {
  return points
    .map(({ x, y }, k) => {
      const [h, v] = [`H${short(x)}`, `V${short(y)}`];
      if (k === 0) return `${begin}${short(x)} ${short(y)}`;
      return level ? h + v : v + h;
    })
    .join("");
}

/** A cross, a diamond or a circle. */
function markOf(outcome: string, { x, y }: Point, r: number): string {
  if (outcome === "infeasible") {
    return `M${short(x - r)} ${short(y - r)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
  }
  if (outcome === "unknown") {
    const d = 1.3 * r;
    return `M${short(x)} ${short(y - d)}l${d} ${d}l${-d} ${d}l${-d} ${-d}z`;
  }
  return `M${short(x - r)} ${short(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}

export class Chart extends Picture {
  hidden = new Set<number>(); // Models.
  selected = -1;
  hovered = -1;
  scale!: Scale;
  private x!: ByteAxis;
  private y!: ByteAxis;
  /** Measured once per picture: asking for an element's size is slow while the page is drawing. */
  protected readonly inner: Inner = { left: LEFT, top: TOP, width: 10, height: 10 };

  constructor(
    readonly sweep: Sweep,
    title: string,
  ) {
    super(title, "zoomable chart");
    this.stage.classList.add("chart");
    this.setAxes("bytes", false);
    listen(this.stage, {
      size: () => this.inner,
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, axes, at) => this.zoom(factor, axes, at),
      hover: (at, event) => {
        const point = at ? this.near(at) : -1;
        if (point !== this.hovered) {
          this.hovered = point;
          this.draw();
        }
        this.onHover(point, event.clientX, event.clientY);
      },
      click: (at) => this.onSelect(this.near(at)),
      doubleClick: () => this.reset(),
    });
    new ResizeObserver(() => this.draw()).observe(this.stage);
  }

  get logTraffic(): boolean {
    return this.y.log;
  }
  /** A capacity of a model, as the axis of memory has it. */
  private memory(c: number, capacity: number): number {
    if (this.scale !== "share") return this.x.of(capacity);
    return (100 * capacity) / (Number(this.sweep.reference[c]) || 1);
  }
  setAxes(scale: Scale, logTraffic: boolean): void {
    const { capacity, traffic, bound, curve, n } = this.sweep;
    this.scale = scale;
    this.x = new ByteAxis(scale === "log", capacity);
    this.y = new ByteAxis(logTraffic, [...traffic, ...bound], this.sweep.quantity.inBytes);
    const range = (
      places: number[],
      pad: number,
      ground: number | null,
      log: boolean,
    ): [number, number] => {
      let low = ground ?? Infinity;
      let high = -Infinity;
      for (const place of places) {
        if (Number.isNaN(place)) continue;
        low = Math.min(low, place);
        high = Math.max(high, place);
      }
      if (!Number.isFinite(high)) [low, high] = [0, 1];
      if (high <= low) {
        // A single value, in the middle; nothing but zeros, at the bottom.
        const span = log ? 1 : Math.max(1, Math.abs(high) / 8);
        return ground !== null ? [low - span / 30, low + span] : [low - span, high + span];
      }
      const span = high - low;
      return [low - pad * span * (ground !== null ? 0.6 : 1), high + pad * span];
    };
    const all = Array.from({ length: n }, (_, i) => i);
    const known = this.sweep.curves.flatMap((each, c) =>
      [each.least, each.least_peak].flatMap((value) =>
        value === null ? [] : [this.memory(c, Number(value))],
      ),
    );
    const [x0, x1] = range(
      [...all.map((i) => this.memory(curve[i]!, capacity[i]!)), ...known],
      0.04,
      null,
      scale === "log",
    );
    const [y0, y1] = range(
      all.flatMap((i) => [this.y.of(traffic[i]!), this.y.of(bound[i]!)]),
      0.06,
      this.y.of(0),
      logTraffic,
    );
    this.whole = { x0, x1, y0, y1 };
    this.view = { ...this.whole };
    this.draw();
  }
  setLooks(theme: Theme): void {
    this.theme = theme;
    this.draw();
  }

  protected get least(): Point {
    const { x0, x1, y0, y1 } = this.whole;
    return { x: (x1 - x0) / 1e6, y: (y1 - y0) / 1e6 };
  }
  private measure(): void {
    this.inner.width = Math.max(10, this.stage.clientWidth - LEFT - RIGHT);
    this.inner.height = Math.max(10, this.stage.clientHeight - TOP - BOTTOM);
  }
  xOf(c: number, capacity: number): number {
    return this.xAt(this.memory(c, capacity));
  }
  yOf(value: number): number {
    return this.yAt(this.y.of(value));
  }
  /** Where a point is marked; without a plan, at its bound or on the axis. */
  at(i: number): Point {
    const { traffic, bound, capacity, curve } = this.sweep;
    const y = Number.isNaN(traffic[i]!) ? (Number.isNaN(bound[i]!) ? 0 : bound[i]!) : traffic[i]!;
    return { x: this.xOf(curve[i]!, capacity[i]!), y: this.yOf(y) };
  }
  private near(to: Point): number {
    let best = -1;
    let least = NEAR * NEAR;
    for (let i = 0; i < this.sweep.n; ++i) {
      if (!this.shown(i)) continue;
      const { x, y } = this.at(i);
      const distance = (x - to.x) ** 2 + (y - to.y) ** 2;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }
  private shown(i: number): boolean {
    return !this.hidden.has(this.sweep.curve[i]!) && (!this.kept || this.kept[i] === 1);
  }
  /** The models that are not switched off. */
  private get visible(): number[] {
    return this.sweep.curves.map((_, c) => c).filter((c) => !this.hidden.has(c));
  }
  /** The model that stands out: that of the selection, or the only one that is shown. */
  private get active(): number {
    const i = this.hovered >= 0 ? this.hovered : this.selected;
    if (i >= 0) return this.sweep.curve[i]!;
    const visible = this.visible;
    return visible.length === 1 ? visible[0]! : -1;
  }

  /** Brings a point into sight, if it is not. */
  reveal(i: number): void {
    const { left, top, width, height } = this.inner;
    const { x, y } = this.at(i);
    const outside = x < left || x > left + width || y < top || y > top + height;
    if (outside) this.pan((x - left) / width - 0.5, 0.5 - (y - top) / height);
    else this.draw();
  }

  protected paint(): void {
    this.measure();
    this.stage.replaceChildren(this.picture());
  }

  /** What is seen, as one picture that needs no style sheet. */
  picture(): SVGElement {
    const t = this.theme;
    const { left, top, width, height } = this.inner;
    const [w, h] = [this.stage.clientWidth, this.stage.clientHeight];
    const font = { "font-family": "system-ui, sans-serif", "font-size": 11.5 };
    const frame = `M${left} ${top}V${top + height}H${left + width}`;
    return svg(
      "svg",
      { width: w, height: h, viewBox: `0 0 ${w} ${h}`, ...font, "aria-hidden": "true" },
      svg("title", {}, this.title),
      this.definitions(),
      svg("rect", { width: w, height: h, fill: t.background }),
      ...this.axes(),
      svg("g", { "clip-path": "url(#inner)" }, ...this.curves(), ...this.rings()),
      this.nothing(),
      svg("path", { d: frame, fill: "none", stroke: t.muted }),
    );
  }
  /** The rectangle inside the axes, and the hatching of capacities that are too small. */
  private definitions(): SVGElement {
    const { left, top, width, height } = this.inner;
    const hatch = { stroke: this.theme.bad, "stroke-width": 1.6, "stroke-opacity": 0.35 };
    const size = { width: 7, height: 7, patternUnits: "userSpaceOnUse" };
    return svg(
      "defs",
      {},
      svg("clipPath", { id: "inner" }, svg("rect", { x: left, y: top, width, height })),
      svg(
        "pattern",
        { id: "none", ...size, patternTransform: "rotate(45)" },
        svg("path", { d: "M0 0V7", ...hatch }),
      ),
    );
  }
  private curves(): SVGElement[] {
    const { active, visible } = this;
    const crowded = this.inSight(visible) > CROWD;
    // The model that stands out is drawn last.
    const ordered = [
      ...visible.filter((c) => c !== active),
      ...visible.filter((c) => c === active),
    ];
    return [
      ...(active >= 0 ? this.limits(active) : []),
      ...ordered.map((c) => {
        const out = c === active;
        const faint = active >= 0 && !out && visible.length > 1;
        const whole = out || (active < 0 && visible.length <= FEW);
        return this.curve(c, whole, faint, !crowded || out);
      }),
    ];
  }
  /** Around the selected point, and the one under the pointer. */
  private rings(): SVGElement[] {
    return [this.selected, this.hovered]
      .filter((i) => i >= 0 && this.shown(i))
      .map((i) => {
        const { x, y } = this.at(i);
        const width = i === this.selected ? 2.5 : 1.2;
        const look = { fill: "none", stroke: this.theme.text, "stroke-width": width };
        return svg("circle", { cx: x, cy: y, r: 9, ...look });
      });
  }
  /** A message if all traffic is zero: the curve then lies on the axis. */
  private nothing(): SVGElement | null {
    const { n, traffic } = this.sweep;
    if (n === 0 || traffic.some((value) => value !== 0)) return null;
    const { left, top, width, height } = this.inner;
    const at = { x: left + width / 2, y: top + height / 2, "text-anchor": "middle" };
    const text = this.sweep.quantity.inBytes
      ? "Nothing is spilled at any of these capacities."
      : "Nothing costs anything at any of these capacities.";
    return svg("text", { ...at, fill: this.theme.muted, "font-size": 14 }, text);
  }
  private inSight(curves: number[]): number {
    const { x0, x1 } = this.view;
    let count = 0;
    for (const c of curves) {
      for (const i of this.sweep.sorted[c]!) {
        const x = this.memory(c, this.sweep.capacity[i]!);
        if (x >= x0 && x <= x1) ++count;
      }
    }
    return count;
  }
  private axes(): SVGElement[] {
    const t = this.theme;
    const { left, top, width, height } = this.inner;
    const parts: SVGElement[] = [];
    const text = (x: number, y: number, anchor: string, words: string) =>
      parts.push(svg("text", { x, y, fill: t.muted, "text-anchor": anchor }, words));
    for (const { at, bytes: value } of this.y.ticks(this.view.y0, this.view.y1, height / 48)) {
      const y = Math.round(this.yAt(at)) + 0.5;
      parts.push(
        svg("path", {
          d: `M${left - 4} ${y}H${left + width}`,
          stroke: t.grid,
          "stroke-opacity": 0.7,
        }),
      );
      text(left - 9, y + 4, "end", this.sweep.quantity.tick(value));
    }
    const marks =
      this.scale === "share"
        ? ticks(this.view.x0, this.view.x1, width / 96, false).map((at): [number, string] => [
            at,
            `${grouped(at)} %`,
          ])
        : this.x
            .ticks(this.view.x0, this.view.x1, width / 96)
            .map(({ at, bytes: value }): [number, string] => [at, bytes(Math.round(value))]);
    for (const [at, label] of marks) {
      const x = Math.round(this.xAt(at)) + 0.5;
      parts.push(
        svg("path", {
          d: `M${x} ${top}V${top + height + 4}`,
          stroke: t.grid,
          "stroke-opacity": 0.7,
        }),
      );
      text(Math.min(Math.max(x, left + 12), left + width - 14), top + height + 18, "middle", label);
    }
    const { quantity } = this.sweep;
    const memory = quantity.memories ? `capacity of ${quantity.memory}` : "memory";
    const words = {
      bytes: memory,
      log: `${memory}, logarithmic`,
      share: `${memory}, of the least peak`,
    };
    text(left + width, top + height + 34, "end", words[this.scale]);
    text(left - 4, 12, "start", `${quantity.axis}${this.y.log ? ", logarithmic" : ""}`);
    return parts;
  }
  /** Of the model that stands out: what is too small, the need of one operator, the least peak. */
  private limits(c: number): SVGElement[] {
    const t = this.theme;
    const { left, top, width, height } = this.inner;
    const curve = this.sweep.curves[c]!;
    const parts: SVGElement[] = [];
    const floor = this.sweep.floor(c);
    if (floor !== null) {
      const x = Math.min(this.xOf(c, Number(floor)), left + width);
      if (x > left) {
        parts.push(svg("rect", { x: left, y: top, width: x - left, height, fill: "url(#none)" }));
        const say = (text: string, line: number) => {
          if (x - left > 16 + WIDE * text.length)
            parts.push(svg("text", { x: left + 8, y: top + 16 * line, fill: t.bad }, text));
        };
        say("does not fit", 1);
        const blame = floor === curve.least ? this.sweep.blame(c) : null;
        if (blame) say(blame, 2);
      }
    }
    const line = (value: string | number | null, name: string, outside: number) => {
      if (value === null) return;
      const x = Math.round(this.xOf(c, Number(value))) + 0.5;
      // Within the picture, also if it is narrow.
      const room = outside < 0 ? x - left : left + width - x;
      const side = room < 32 ? -outside : outside;
      parts.push(
        svg("path", {
          d: `M${x} ${top}V${top + height}`,
          stroke: t.muted,
          "stroke-dasharray": "2 4",
        }),
      );
      parts.push(
        svg(
          "text",
          {
            x: x + 5 * side,
            y: top + height * 0.12 + 12,
            fill: t.muted,
            "text-anchor": side > 0 ? "start" : "end",
          },
          name,
        ),
      );
    };
    line(curve.least, "MR", -1);
    if (curve.least_peak !== curve.least) line(curve.least_peak, "MP", 1);
    return parts;
  }
  private curve(c: number, whole: boolean, faint: boolean, marked: boolean): SVGElement {
    const { color, dashes } = lineOf(c, this.theme.dark);
    const lines = whole ? [this.region(c, color), this.boundLine(c, color)] : [];
    const d = stairs(this.places(c, this.sweep.traffic), "M", true);
    const look = { stroke: color, "stroke-width": 1.8, "stroke-dasharray": dashes };
    if (d) lines.push(svg("path", { d, fill: "none", ...look, "data-line": "traffic" }));
    if (whole) lines.push(this.copiesLine(c, color));
    const opacity = faint ? 0.3 : 1;
    const marks = marked ? this.marks(c, color) : [];
    return svg("g", { opacity, "data-curve": String(c) }, ...lines, ...marks);
  }
  /** Where the points of a model lie that have such a value; from the smallest capacity. */
  private places(c: number, values: Float64Array): Point[] {
    return this.sweep.sorted[c]!.filter((i) => !Number.isNaN(values[i]!)).map((i) => ({
      x: this.xOf(c, this.sweep.capacity[i]!),
      y: this.yOf(values[i]!),
    }));
  }
  // A plan holds for all larger capacities, a proof for all smaller ones.
  private boundLine(c: number, color: string): SVGElement | null {
    const d = stairs(this.places(c, this.sweep.bound), "M", false);
    const look = { stroke: color, "stroke-width": 1, "stroke-dasharray": "1 3" };
    return d ? svg("path", { d, fill: "none", ...look, "data-line": "bound" }) : null;
  }
  /** What copies alone cost in the same plans. */
  private copiesLine(c: number, color: string): SVGElement | null {
    const d = stairs(this.places(c, this.sweep.copied), "M", true);
    const look = { stroke: color, "stroke-width": 1.2, "stroke-dasharray": "6 3" };
    return d ? svg("path", { d, fill: "none", ...look, "data-line": "copies" }) : null;
  }
  /** Between both lines, where the least traffic lies. */
  private region(c: number, color: string): SVGElement | null {
    const plans = this.places(c, this.sweep.traffic);
    if (plans.length < 2) return null;
    const [from, to] = [plans[0]!.x, plans.at(-1)!.x];
    const proofs = this.places(c, this.sweep.bound).filter(({ x }) => x >= from && x <= to);
    const d = `${stairs(plans, "M", true)}${stairs(proofs.reverse(), "L", true)}Z`;
    return svg("path", { d, fill: color, "fill-opacity": 0.16 });
  }
  /** Points by outcome, each kind as one path, however many there are. */
  private marks(c: number, color: string): SVGElement[] {
    const { sweep, theme: t } = this;
    const r = sweep.n > 600 ? 2.4 : 4;
    const paths = new Map<string, string>();
    for (const i of sweep.sorted[c]!) {
      const at = this.at(i);
      if (at.x < -r || at.x > LEFT + this.inner.width + r) continue;
      const outcome = sweep.value(i, "outcome");
      const kind = this.kept && !this.kept[i] ? "out" : outcome;
      paths.set(kind, (paths.get(kind) ?? "") + markOf(outcome, at, r));
    }
    return [...paths].map(([kind, d]) => {
      const hollow = kind === "out" || kind === "infeasible";
      const stroke = kind === "out" ? t.grid : kind === "infeasible" ? t.bad : color;
      const fill = kind === "optimal" ? color : hollow ? "none" : t.background;
      return svg("path", { d, fill, stroke, "stroke-width": 1.8, "data-kind": kind });
    });
  }

  toSvg(): string {
    const picture = this.picture();
    return new XMLSerializer().serializeToString(picture) + "\n";
  }
  /** As pixels, twice as fine as the screen's. */
  async toPng(): Promise<Blob | null> {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.toSvg())}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * this.stage.clientWidth;
    canvas.height = 2 * this.stage.clientHeight;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }
}
