// The curves of a sweep: memory to the right, traffic upwards, both in bytes. For each model the
// staircase of what plans move, the one of what is proved, and between them where the truth lies.
// Drawn as SVG, so that what is saved is what is seen.
import { ByteAxis, ticks } from "./axis";
import { svg } from "./dom";
import { bytes, grouped } from "./format";
import { type Axes, type Point, type View, listen, panned, stageOf, within, zoomed } from "./gestures";
import type { Sweep } from "./sweep";
import type { Theme } from "./theme";

const LEFT = 84;
const RIGHT = 18;
const TOP = 24;
const BOTTOM = 40;
const NEAR = 26; // Pixels from a point within which it is meant.
const FEW = 3; // Models whose bounds are drawn all the time.
const CROWD = 1500; // Points in sight beyond which only those of the model that stands out are marked.

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
  // From the ninth model on the colours come again, with other dashes.
  const { dashes } = LINES[(curve + Math.floor(curve / LINES.length)) % LINES.length]!;
  return { color: dark ? look.dark : look.light, dashes };
};

/** Of memory: bytes, their logarithm, or percent of the least peak, to compare models. */
export type Scale = "bytes" | "log" | "share";

export class Chart {
  readonly root = document.createElement("div");
  readonly stage: HTMLElement;
  view!: View;
  whole!: View;
  kept: Uint8Array | null = null;
  hidden = new Set<number>(); // Models.
  selected = -1;
  hovered = -1;
  scale!: Scale;
  private x!: ByteAxis;
  private y!: ByteAxis;
  private theme!: Theme;
  private pending = false;
  onHover: (point: number, x: number, y: number) => void = () => {};
  onSelect: (point: number) => void = () => {};
  onView: () => void = () => {};
  /** The animation frames drawn so far. */
  frames = 0;

  constructor(
    readonly sweep: Sweep,
    readonly title: string,
  ) {
    this.root.className = "plot";
    this.stage = stageOf(title, "zoomable chart");
    this.stage.classList.add("chart");
    this.root.append(this.stage);
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
    this.y = new ByteAxis(logTraffic, [...traffic, ...bound]);
    const range = (places: number[], pad: number, ground: number | null, log: boolean): [number, number] => {
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
    const known = this.sweep.curves.flatMap((each, c) => [each.least, each.least_peak].flatMap((value) => (value === null ? [] : [this.memory(c, Number(value))])));
    const [x0, x1] = range([...all.map((i) => this.memory(curve[i]!, capacity[i]!)), ...known], 0.04, null, scale === "log");
    const [y0, y1] = range(all.flatMap((i) => [this.y.of(traffic[i]!), this.y.of(bound[i]!)]), 0.06, this.y.of(0), logTraffic);
    this.whole = { x0, x1, y0, y1 };
    this.view = { ...this.whole };
    this.draw();
  }
  setLooks(theme: Theme): void {
    this.theme = theme;
    this.draw();
  }

  // Where things are, in pixels.
  private inner = { left: LEFT, top: TOP, width: 10, height: 10 };
  /** Asked once for a picture: an element's size is dear while much is drawn. */
  private measure(): void {
    this.inner.width = Math.max(10, this.stage.clientWidth - LEFT - RIGHT);
    this.inner.height = Math.max(10, this.stage.clientHeight - TOP - BOTTOM);
  }
  private xAt(position: number): number {
    const { left, width } = this.inner;
    return left + ((position - this.view.x0) / (this.view.x1 - this.view.x0)) * width;
  }
  private yAt(position: number): number {
    const { top, height } = this.inner;
    return top + height - ((position - this.view.y0) / (this.view.y1 - this.view.y0)) * height;
  }
  xOf(c: number, capacity: number): number {
    return this.xAt(this.memory(c, capacity));
  }
  yOf(value: number): number {
    return this.yAt(this.y.of(value));
  }
  /** Where a point is marked: one without a plan at what is proved of it, or on the axis. */
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
  /** The model that stands out: that of the selection, or the only one that is shown. */
  private get active(): number {
    const i = this.hovered >= 0 ? this.hovered : this.selected;
    if (i >= 0) return this.sweep.curve[i]!;
    const visible = this.sweep.curves.map((_, c) => c).filter((c) => !this.hidden.has(c));
    return visible.length === 1 ? visible[0]! : -1;
  }

  show(view: View, tell = true): void {
    const w = this.whole;
    this.view = within(view, w, { x: (w.x1 - w.x0) / 1e6, y: (w.y1 - w.y0) / 1e6 });
    this.draw();
    if (tell) this.onView();
  }
  zoom(factor: number, axes: Axes = "both", at?: Point): void {
    const { left, top, width, height } = this.inner;
    const v = this.view;
    const x = v.x0 + (at ? (at.x - left) / width : 0.5) * (v.x1 - v.x0);
    const y = v.y0 + (at ? (top + height - at.y) / height : 0.5) * (v.y1 - v.y0);
    this.show(zoomed(v, factor, axes, { x, y }));
  }
  pan(dx: number, dy: number): void {
    this.show(panned(this.view, dx, dy));
  }
  reset(): void {
    this.show({ ...this.whole });
  }
  /** Brings a point into sight, if it is not. */
  reveal(i: number): void {
    const { left, top, width, height } = this.inner;
    const { x, y } = this.at(i);
    const outside = x < left || x > left + width || y < top || y > top + height;
    if (outside) this.pan((x - left) / width - 0.5, 0.5 - (y - top) / height);
    else this.draw();
  }

  draw(): void {
    if (this.pending || !this.theme) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (!this.stage.clientWidth) return;
      this.measure();
      ++this.frames;
      this.stage.replaceChildren(this.picture());
    });
  }

  /** What is seen, as one picture that needs no style sheet. */
  picture(): SVGElement {
    const t = this.theme;
    const { left, top, width, height } = this.inner;
    const [w, h] = [this.stage.clientWidth, this.stage.clientHeight];
    const clipped = svg("g", { "clip-path": "url(#inner)" });
    const active = this.active;
    const visible = this.sweep.curves.map((_, c) => c).filter((c) => !this.hidden.has(c));
    if (active >= 0) clipped.append(...this.limits(active));
    const crowded = this.inSight(visible) > CROWD;
    // The one that stands out is drawn last.
    for (const c of [...visible.filter((each) => each !== active), ...visible.filter((each) => each === active)]) {
      const faint = active >= 0 && c !== active && visible.length > 1;
      clipped.append(this.curve(c, c === active || (active < 0 && visible.length <= FEW), faint, !crowded || c === active));
    }
    const chosen = [this.selected, this.hovered].filter((i) => i >= 0 && this.shown(i));
    for (const i of chosen) {
      const { x, y } = this.at(i);
      clipped.append(svg("circle", { cx: x, cy: y, r: 9, fill: "none", stroke: t.text, "stroke-width": i === this.selected ? 2.5 : 1.2 }));
    }
    const nothing = this.sweep.n > 0 && this.sweep.traffic.every((value) => value === 0);
    return svg(
      "svg",
      { width: w, height: h, viewBox: `0 0 ${w} ${h}`, "font-family": "system-ui, sans-serif", "font-size": 11.5, "aria-hidden": "true" },
      svg("title", {}, this.title),
      svg(
        "defs",
        {},
        svg("clipPath", { id: "inner" }, svg("rect", { x: left, y: top, width, height })),
        svg("pattern", { id: "none", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("path", { d: "M0 0V7", stroke: t.bad, "stroke-width": 1.6, "stroke-opacity": 0.35 })),
      ),
      svg("rect", { width: w, height: h, fill: t.background }),
      ...this.axes(),
      clipped,
      nothing ? svg("text", { x: left + width / 2, y: top + height / 2, fill: t.muted, "text-anchor": "middle", "font-size": 14 }, "Nothing has to leave at any of these capacities.") : null,
      svg("path", { d: `M${left} ${top}V${top + height}H${left + width}`, fill: "none", stroke: t.muted }),
    );
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
    const text = (x: number, y: number, anchor: string, words: string) => parts.push(svg("text", { x, y, fill: t.muted, "text-anchor": anchor }, words));
    for (const { at, bytes: value } of this.y.ticks(this.view.y0, this.view.y1, height / 48)) {
      const y = Math.round(this.yAt(at)) + 0.5;
      parts.push(svg("path", { d: `M${left - 4} ${y}H${left + width}`, stroke: t.grid, "stroke-opacity": 0.7 }));
      text(left - 9, y + 4, "end", bytes(Math.round(value)));
    }
    const marks = this.scale === "share"
      ? ticks(this.view.x0, this.view.x1, width / 96, false).map((at): [number, string] => [at, `${grouped(at)} %`])
      : this.x.ticks(this.view.x0, this.view.x1, width / 96).map(({ at, bytes: value }): [number, string] => [at, bytes(Math.round(value))]);
    for (const [at, label] of marks) {
      const x = Math.round(this.xAt(at)) + 0.5;
      parts.push(svg("path", { d: `M${x} ${top}V${top + height + 4}`, stroke: t.grid, "stroke-opacity": 0.7 }));
      text(Math.min(Math.max(x, left + 12), left + width - 14), top + height + 18, "middle", label);
    }
    const words = { bytes: "memory", log: "memory, logarithmic", share: "memory, of the least peak" };
    text(left + width, top + height + 34, "end", words[this.scale]);
    text(left - 4, 12, "start", `traffic off chip${this.y.log ? ", logarithmic" : ""}`);
    return parts;
  }
  /** Of the model that stands out: where it cannot fit, what one operator needs, the least peak. */
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
        if (x - left > 80) parts.push(svg("text", { x: left + 8, y: top + 16, fill: t.bad }, "does not fit"));
      }
    }
    const line = (value: string | number | null, name: string, side: number) => {
      if (value === null) return;
      const x = Math.round(this.xOf(c, Number(value))) + 0.5;
      parts.push(svg("path", { d: `M${x} ${top}V${top + height}`, stroke: t.muted, "stroke-dasharray": "2 4" }));
      parts.push(svg("text", { x: x + 5 * side, y: top + height * 0.12 + 12, fill: t.muted, "text-anchor": side > 0 ? "start" : "end" }, name));
    };
    line(curve.least, "MR", -1);
    if (curve.least_peak !== curve.least) line(curve.least_peak, "MP", 1);
    return parts;
  }
  private curve(c: number, whole: boolean, faint: boolean, marked: boolean): SVGElement {
    const { sweep, theme: t } = this;
    const { capacity, traffic, bound } = sweep;
    const { color, dashes } = lineOf(c, t.dark);
    const points = sweep.sorted[c]!;
    const group = svg("g", { opacity: faint ? 0.3 : 1, "data-curve": String(c) });
    const n = (value: number) => String(Math.round(value * 10) / 10);
    const x = (i: number) => n(this.xOf(c, capacity[i]!));
    const plans = points.filter((i) => !Number.isNaN(traffic[i]!));
    const proofs = points.filter((i) => !Number.isNaN(bound[i]!));
    // What plans move holds for all larger capacities, what is proved for all smaller ones.
    let upper = "";
    plans.forEach((i, k) => (upper += k ? `H${x(i)}V${n(this.yOf(traffic[i]!))}` : `M${x(i)} ${n(this.yOf(traffic[i]!))}`));
    let lower = "";
    proofs.forEach((i, k) => (lower += k ? `V${n(this.yOf(bound[i]!))}H${x(i)}` : `M${x(i)} ${n(this.yOf(bound[i]!))}`));
    if (whole && plans.length > 1) {
      const under = proofs.filter((i) => capacity[i]! >= capacity[plans[0]!]! && capacity[i]! <= capacity[plans.at(-1)!]!).reverse();
      let back = "";
      under.forEach((i, k) => (back += k ? `H${x(i)}V${n(this.yOf(bound[i]!))}` : `L${x(i)} ${n(this.yOf(bound[i]!))}`));
      group.append(svg("path", { d: `${upper}${back}Z`, fill: color, "fill-opacity": 0.16 }));
    }
    if (whole && lower) group.append(svg("path", { d: lower, fill: "none", stroke: color, "stroke-width": 1, "stroke-dasharray": "1 3", "data-line": "bound" }));
    if (upper) group.append(svg("path", { d: upper, fill: "none", stroke: color, "stroke-width": 1.8, "stroke-dasharray": dashes, "data-line": "traffic" }));
    // Points by outcome, each kind as one path, however many there are.
    const r = sweep.n > 600 ? 2.4 : 4;
    const marks: Record<string, string> = {};
    for (const i of marked ? points : []) {
      const { x: px, y: py } = this.at(i);
      if (px < -r || px > LEFT + this.inner.width + r) continue;
      const outcome = sweep.value(i, "outcome");
      const key = this.kept && !this.kept[i] ? "out" : outcome;
      const [a, b] = [n(px), n(py)];
      marks[key] = (marks[key] ?? "") + (outcome === "infeasible"
        ? `M${n(px - r)} ${n(py - r)}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`
        : outcome === "unknown"
          ? `M${a} ${n(py - 1.3 * r)}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}z`
          : `M${n(px - r)} ${b}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`);
    }
    for (const [kind, d] of Object.entries(marks)) {
      const solid = kind === "optimal";
      const stroke = kind === "out" ? t.grid : kind === "infeasible" ? t.bad : color;
      group.append(svg("path", { d, fill: solid ? color : kind === "out" || kind === "infeasible" ? "none" : t.background, stroke, "stroke-width": 1.8, "data-kind": kind }));
    }
    return group;
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
