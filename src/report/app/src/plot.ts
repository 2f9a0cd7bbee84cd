// The picture: time to the right, addresses upwards; below it the live bytes over the same steps, and
// a map of the whole with what is seen of it. Moves by wheel, drag, pinch and keys.
import { ticks } from "./axis";
import type { Plan } from "./data";
import { type Classes, type Look, inkOn, pixel } from "./colors";
import { abridged, bytes, grouped } from "./format";
import { type Axes, type View, listen, panned, stageOf, within, zoomed } from "./gestures";
import { type Label, type Paint, rasterize } from "./raster";
import type { Theme } from "./theme";

const LEFT = 76; // Pixels for the labels of the addresses.
const BOTTOM = 20; // For those of the steps.
const TOP = 10;
const RIGHT = 10;

export interface Marks {
  selected: number;
  hovered: number;
  step: number | null; // Of an operator.
  related: { buffer: number; kind: string }[];
  conflict: Set<number> | null;
  spills: { from: number; to: number }[];
}

function canvas(label: string | null): HTMLCanvasElement {
  const element = document.createElement("canvas");
  if (label) {
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", label);
  } else {
    element.setAttribute("aria-hidden", "true");
  }
  return element;
}

export class Plot {
  readonly root = document.createElement("div");
  readonly stage: HTMLElement;
  private readonly base = canvas(null);
  private readonly overlay = canvas(null);
  private readonly curve = canvas(null);
  private readonly map = canvas(null);
  private readonly mapBase = document.createElement("canvas");
  view: View;
  readonly whole: View;
  private classes!: Classes;
  private theme!: Theme;
  kept: Uint8Array | null = null;
  marks: Marks = { selected: -1, hovered: -1, step: null, related: [], conflict: null, spills: [] };
  private labels: Label[] = [];
  private pending = false;
  private dirtyBase = true;
  private dirtyMap = true;
  private pixels: Int32Array | null = null;
  private image: ImageData | null = null;
  onHover: (buffer: number, x: number, y: number) => void = () => {};
  onSelect: (buffer: number) => void = () => {};
  onView: () => void = () => {};
  /** The animation frames drawn so far: what a test of the speed counts. */
  frames = 0;

  constructor(
    readonly plan: Plan,
    readonly title: string,
  ) {
    const capacity = plan.placed ? Number(plan.number("capacity") ?? 0) : 0;
    // A capacity that is far away would leave the plan a strip at the bottom.
    const top = Math.max(plan.top, capacity <= plan.top * 1.6 ? capacity : 0);
    this.whole = { x0: plan.firstStep, x1: plan.lastStep, y0: 0, y1: top * 1.04 };
    this.view = { ...this.whole };
    this.root.className = "plot";
    this.stage = stageOf(title, "zoomable plot");
    this.base.className = "layer";
    this.overlay.className = "layer";
    this.stage.append(this.base, this.overlay);
    this.curve.className = "curve";
    this.map.className = "map";
    this.root.append(this.stage, this.curve, this.map);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.root);
  }

  // Where things are, in CSS pixels.
  private get inner() {
    const width = this.stage.clientWidth;
    const height = this.stage.clientHeight;
    return { left: LEFT, top: TOP, width: Math.max(10, width - LEFT - RIGHT), height: Math.max(10, height - TOP - BOTTOM) };
  }
  private xOf(step: number): number {
    const { left, width } = this.inner;
    return left + ((step - this.view.x0) / (this.view.x1 - this.view.x0)) * width;
  }
  private yOf(address: number): number {
    const { top, height } = this.inner;
    return top + height - ((address - this.view.y0) / (this.view.y1 - this.view.y0)) * height;
  }
  private stepAt(x: number): number {
    const { left, width } = this.inner;
    return this.view.x0 + ((x - left) / width) * (this.view.x1 - this.view.x0);
  }
  private addressAt(y: number): number {
    const { top, height } = this.inner;
    return this.view.y0 + ((top + height - y) / height) * (this.view.y1 - this.view.y0);
  }

  setLooks(classes: Classes, theme: Theme): void {
    this.classes = classes;
    this.theme = theme;
    this.refresh();
  }
  refresh(): void {
    this.dirtyBase = this.dirtyMap = true;
    this.draw();
  }
  private resize(): void {
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    for (const element of [this.overlay, this.curve, this.map]) {
      const width = Math.round(element.clientWidth * scale);
      const height = Math.round(element.clientHeight * scale);
      if (element.width !== width || element.height !== height) {
        element.width = width;
        element.height = height;
      }
    }
    this.refresh();
  }

  /** Shows `view`, kept within the whole. */
  show(view: View, tell = true): void {
    const w = this.whole;
    this.view = within(view, w, { x: Math.min(4, w.x1 - w.x0), y: Math.min(8, w.y1 - w.y0) });
    this.dirtyBase = true;
    this.draw();
    if (tell) this.onView();
  }
  zoom(factor: number, axes: Axes = "both", at?: { x: number; y: number }): void {
    const v = this.view;
    const x = at ? this.stepAt(at.x) : (v.x0 + v.x1) / 2;
    const y = at ? this.addressAt(at.y) : (v.y0 + v.y1) / 2;
    this.show(zoomed(v, factor, axes, { x, y }));
  }
  pan(dx: number, dy: number): void {
    this.show(panned(this.view, dx, dy));
  }
  reset(): void {
    this.show({ ...this.whole });
  }
  /** Brings a buffer into sight; `close` also makes it large. */
  reveal(i: number, close: boolean): void {
    const p = this.plan;
    const [x0, x1, y0, y1] = [p.start[i]!, p.end[i]!, p.y[i]!, p.y[i]! + p.height[i]!];
    const v = this.view;
    if (!close && x0 < v.x1 && x1 > v.x0 && y0 < v.y1 && y1 > v.y0) {
      this.draw();
      return;
    }
    const w = close ? Math.max((x1 - x0) * 3, 12) : v.x1 - v.x0;
    const h = close ? Math.max((y1 - y0) * 4, 16) : v.y1 - v.y0;
    const [cx, cy] = [(x0 + x1) / 2, (y0 + y1) / 2];
    this.show({ x0: cx - w / 2, x1: cx + w / 2, y0: cy - h / 2, y1: cy + h / 2 });
  }
  revealStep(step: number): void {
    const v = this.view;
    const span = v.x1 - v.x0;
    if (step < v.x0 || step >= v.x1) {
      this.show({ ...v, x0: step + 0.5 - span / 2, x1: step + 0.5 + span / 2 });
    } else {
      this.draw();
    }
  }

  draw(): void {
    if (this.pending || !this.classes) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }
  drawNow(): void {
    if (!this.stage.clientWidth) return;
    ++this.frames;
    if (this.dirtyBase) {
      this.dirtyBase = false;
      this.drawBase();
      this.drawCurve();
    }
    if (this.dirtyMap) {
      this.dirtyMap = false;
      this.drawMapBase();
    }
    this.drawMap();
    this.drawOverlay();
  }

  private paint(): Paint {
    const of = (shade: (look: Look) => number) => Int32Array.from(this.classes.looks, shade);
    const faint = pixel(this.theme.grid);
    return {
      fill: of((look) => pixel(look.color)),
      edge: of((look) => pixel(look.color, this.theme.dark ? -0.45 : -0.35)),
      ink: of((look) => pixel(look.color, this.theme.dark ? -0.28 : 0.3)),
      pattern: Uint8Array.from(this.classes.looks, (look) => look.pattern),
      faint: of(() => faint),
    };
  }
  private drawBase(): void {
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    const { left, top, width, height } = this.inner;
    const w = Math.round(width * scale);
    const h = Math.round(height * scale);
    if (!this.image || this.image.width !== w || this.image.height !== h) {
      this.base.width = w;
      this.base.height = h;
      this.base.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
      this.image = new ImageData(w, h);
      this.pixels = new Int32Array(this.image.data.buffer);
    }
    this.labels = [];
    rasterize(
      this.pixels!, w, h, this.plan.rectangles, this.view, this.classes.of, this.paint(), this.kept,
      pixel(this.theme.surface), scale, this.labels,
    );
    this.base.getContext("2d")!.putImageData(this.image, 0, 0);
  }

  private context(element: HTMLCanvasElement): CanvasRenderingContext2D {
    const context = element.getContext("2d")!;
    const scale = element.width / Math.max(1, element.clientWidth);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, element.clientWidth, element.clientHeight);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    return context;
  }

  private drawOverlay(): void {
    const c = this.context(this.overlay);
    const { left, top, width, height } = this.inner;
    const t = this.theme;
    // Axes.
    c.fillStyle = t.muted;
    c.strokeStyle = t.grid;
    c.lineWidth = 1;
    c.textAlign = "right";
    const binary = this.plan.placed;
    for (const tick of ticks(this.view.y0, this.view.y1, height / 44, binary)) {
      const y = Math.round(this.yOf(tick)) + 0.5;
      c.globalAlpha = 0.5;
      c.beginPath();
      c.moveTo(left - 4, y);
      c.lineTo(left + width, y);
      c.stroke();
      c.globalAlpha = 1;
      c.fillText(binary ? bytes(Math.round(tick)) : "", left - 8, y);
    }
    c.textAlign = "center";
    for (const tick of ticks(this.view.x0, this.view.x1, width / 80, false)) {
      const x = Math.round(this.xOf(tick)) + 0.5;
      c.beginPath();
      c.moveTo(x, top + height);
      c.lineTo(x, top + height + 4);
      c.stroke();
      c.fillText(grouped(tick), Math.min(Math.max(x, left + 12), left + width - 14), top + height + 12);
    }
    c.textAlign = "left";
    c.fillText("step", 8, top + height + 12);
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    this.drawLabels(c);
    if (this.plan.placed) this.drawHoles(c);
    this.drawMarks(c);
    if (this.plan.placed) this.drawLevels(c);
    this.drawPeak(c, top, height);
    c.restore();
    c.strokeStyle = t.muted;
    c.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  }

  private drawLabels(c: CanvasRenderingContext2D): void {
    const { left, top } = this.inner;
    const scale = this.base.width / Math.max(1, this.inner.width);
    const most = this.labels.length > 300 ? [...this.labels].sort((a, b) => b.width * b.height - a.width * a.height).slice(0, 300) : this.labels;
    c.textAlign = "left";
    for (const label of most) {
      const width = label.width / scale;
      const height = label.height / scale;
      const characters = Math.floor((width - 10) / 6.4);
      if (characters < 3) continue;
      const look = this.classes.looks[this.classes.of[label.buffer]!]!;
      const x = left + label.x / scale + 5;
      const y = top + label.y / scale + Math.min(height / 2, 10);
      const text = abridged(this.plan.name(label.buffer), characters);
      // Names over a pattern stand on a patch of its colour.
      if (look.pattern) {
        c.fillStyle = look.color;
        c.fillRect(x - 2, y - 7, Math.min(c.measureText(text).width + 4, width - 6), 13);
      }
      c.fillStyle = inkOn(look.color);
      c.fillText(text, x, y, width - 8);
      if (height > 30 && width > 60) {
        const size = bytes(this.plan.raw.buffers.size[label.buffer]!);
        if (look.pattern) {
          c.fillStyle = look.color;
          c.fillRect(x - 2, y + 7, Math.min(c.measureText(size).width + 4, width - 6), 13);
        }
        c.fillStyle = inkOn(look.color);
        c.globalAlpha = 0.85;
        c.fillText(size, x, y + 14, width - 8);
        c.globalAlpha = 1;
      }
    }
  }

  /** The capacity, the height and the bound: each with dashes of its own, and its name. */
  private levels(): { value: number; text: string; color: string; dash: number[] }[] {
    const t = this.theme;
    const list = [];
    const capacity = this.plan.number("capacity");
    const height = this.plan.number("height");
    const bound = this.plan.number("lower_bound");
    if (height !== null) list.push({ value: Number(height), text: `height ${bytes(height)}`, color: t.text, dash: [] });
    if (bound !== null && bound !== height)
      list.push({ value: Number(bound), text: `bound ${bytes(bound)}`, color: t.good, dash: [2, 3] });
    if (capacity !== null) list.push({ value: Number(capacity), text: `capacity ${bytes(capacity)}`, color: t.bad, dash: [7, 4] });
    return list;
  }
  private drawLevels(c: CanvasRenderingContext2D): void {
    const { left, width } = this.inner;
    let right = left + width - 8;
    c.textAlign = "right";
    for (const level of this.levels()) {
      const y = Math.round(this.yOf(level.value)) + 0.5;
      c.strokeStyle = level.color;
      c.lineWidth = 1.5;
      c.setLineDash(level.dash);
      c.beginPath();
      c.moveTo(left, y);
      c.lineTo(left + width, y);
      c.stroke();
      c.setLineDash([]);
      const size = c.measureText(level.text).width;
      this.tag(c, level.text, right - size, y < 24 ? y + 10 : y - 9, level.color);
      right -= size + 22;
    }
    c.lineWidth = 1;
  }
  /** Text with a background of its own. */
  private tag(c: CanvasRenderingContext2D, text: string, x: number, y: number, color: string): void {
    const size = c.measureText(text).width;
    c.textAlign = "left";
    c.fillStyle = this.theme.background;
    c.globalAlpha = 0.92;
    c.fillRect(x - 4, y - 8, size + 8, 16);
    c.globalAlpha = 1;
    c.fillStyle = color;
    c.fillText(text, x, y);
  }
  private drawPeak(c: CanvasRenderingContext2D, top: number, height: number): void {
    if (!this.plan.n) return;
    const peak = this.plan.raw.peak;
    const x = Math.round(this.xOf(Number(peak.start) + 0.5)) + 0.5;
    c.strokeStyle = this.theme.accent;
    c.setLineDash([1, 2]);
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x, top);
    c.lineTo(x, top + height);
    c.stroke();
    c.setLineDash([]);
    c.lineWidth = 1;
    c.fillStyle = this.theme.accent;
    c.beginPath();
    c.moveTo(x - 5, top + height);
    c.lineTo(x + 5, top + height);
    c.lineTo(x, top + height - 8);
    c.fill();
    const text = `peak, step ${grouped(peak.start)}`;
    const size = c.measureText(text).width;
    const { left, width } = this.inner;
    this.tag(c, text, x + 10 + size > left + width ? x - size - 8 : x + 8, top + height - 10, this.theme.accent);
  }
  private drawHoles(c: CanvasRenderingContext2D): void {
    const peak = this.plan.raw.peak;
    const from = this.xOf(Number(peak.start));
    const to = Math.max(this.xOf(Number(peak.end)), from + 3);
    c.strokeStyle = this.theme.bad;
    for (const hole of peak.holes) {
      const bottom = this.yOf(Number(hole.lower));
      const top = this.yOf(Number(hole.upper));
      if (bottom - top < 1) continue;
      c.save();
      c.beginPath();
      c.rect(from, top, to - from, bottom - top);
      c.clip();
      c.beginPath();
      for (let k = -(bottom - top); k < to - from; k += 6) {
        c.moveTo(from + k, bottom);
        c.lineTo(from + k + (bottom - top), top);
      }
      c.stroke();
      c.restore();
      c.strokeRect(from + 0.5, top + 0.5, to - from - 1, Math.max(0, bottom - top - 1));
    }
  }
  private outline(c: CanvasRenderingContext2D, i: number, color: string, width: number, dash: number[] = []): void {
    const r = this.plan.rectangles;
    c.setLineDash(dash);
    for (let k = 0; k < r.buffer.length; ++k) {
      if (r.buffer[k] !== i) continue;
      const x0 = this.xOf(r.x0[k]!);
      const x1 = this.xOf(r.x1[k]!);
      const y0 = this.yOf(r.y0[k]!);
      const y1 = this.yOf(r.y1[k]!);
      const w = Math.max(x1 - x0, 3);
      const h = Math.max(y0 - y1, 3);
      c.lineWidth = width + 2;
      c.strokeStyle = this.theme.background;
      c.strokeRect(x0, y1, w, h);
      c.lineWidth = width;
      c.strokeStyle = color;
      c.strokeRect(x0, y1, w, h);
    }
    c.setLineDash([]);
    c.lineWidth = 1;
  }
  private drawMarks(c: CanvasRenderingContext2D): void {
    const m = this.marks;
    const t = this.theme;
    if (m.conflict && m.conflict.size <= 500) for (const i of m.conflict) this.outline(c, i, t.bad, 1.5, [4, 3]);
    if (m.step !== null) {
      const x0 = this.xOf(m.step);
      const x1 = Math.max(this.xOf(m.step + 1), x0 + 2);
      c.fillStyle = t.accent;
      c.globalAlpha = 0.2;
      c.fillRect(x0, 0, x1 - x0, this.stage.clientHeight);
      c.globalAlpha = 1;
    }
    this.drawSpills(c);
    for (const { buffer, kind } of m.related) this.outline(c, buffer, t.text, 1.5, kind === "neighbour" ? [2, 2] : [6, 2]);
    if (m.hovered >= 0 && m.hovered !== m.selected) this.outline(c, m.hovered, t.text, 1);
    if (m.selected >= 0) this.outline(c, m.selected, t.accent, 3);
  }
  private drawSpills(c: CanvasRenderingContext2D): void {
    const p = this.plan;
    c.strokeStyle = c.fillStyle = this.theme.text;
    c.lineWidth = 1.5;
    for (const { from, to } of this.marks.spills) {
      const x0 = this.xOf(p.end[from]!);
      const x1 = this.xOf(p.start[to]!);
      const y0 = this.yOf(p.y[from]! + p.height[from]! / 2);
      const y1 = this.yOf(p.y[to]! + p.height[to]! / 2);
      const bend = Math.max(12, (x1 - x0) / 3);
      c.beginPath();
      c.moveTo(x0, y0);
      c.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 6, y1);
      c.stroke();
      c.beginPath();
      c.moveTo(x1, y1);
      c.lineTo(x1 - 8, y1 - 4);
      c.lineTo(x1 - 8, y1 + 4);
      c.fill();
    }
    c.lineWidth = 1;
  }

  private drawCurve(): void {
    const c = this.context(this.curve);
    const t = this.theme;
    const left = LEFT;
    const width = this.inner.width;
    const total = this.curve.clientHeight;
    const height = total - 12;
    const { steps, live } = this.plan;
    const levels = this.levels();
    const peak = Number(this.plan.raw.peak.load);
    const most = Math.max(peak, ...levels.map((l) => (l.value <= peak * 1.6 ? l.value : 0)), 1) * 1.08;
    const y = (value: number) => 6 + height - (value / most) * height;
    // The most of each pixel's steps: no peak gets lost, however far one looks from.
    const columns = new Float64Array(Math.ceil(width)).fill(0);
    const sx = width / (this.view.x1 - this.view.x0);
    for (let i = 0; i < steps.length; ++i) {
      const from = (steps[i]! - this.view.x0) * sx;
      const to = i + 1 < steps.length ? (steps[i + 1]! - this.view.x0) * sx : from;
      if (to < 0 || from > width) continue;
      const last = Math.min(columns.length, Math.max(Math.ceil(to), Math.floor(from) + 1));
      for (let x = Math.max(0, Math.floor(from)); x < last; ++x) columns[x] = Math.max(columns[x]!, live[i]!);
    }
    c.beginPath();
    c.moveTo(left, y(0));
    columns.forEach((value, x) => {
      c.lineTo(left + x, y(value));
      c.lineTo(left + x + 1, y(value));
    });
    c.lineTo(left + columns.length, y(0));
    c.fillStyle = t.curve;
    c.globalAlpha = 0.28;
    c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = t.curve;
    c.lineWidth = 1.25;
    c.stroke();
    for (const level of levels) {
      if (level.value > most) continue;
      const at = Math.round(y(level.value)) + 0.5;
      c.strokeStyle = level.color;
      c.setLineDash(level.dash);
      c.beginPath();
      c.moveTo(left, at);
      c.lineTo(left + width, at);
      c.stroke();
    }
    c.setLineDash([]);
    c.lineWidth = 1;
    const x = Math.round(this.xOf(Number(this.plan.raw.peak.start) + 0.5)) + 0.5;
    if (this.plan.n && x >= left && x <= left + width) {
      c.fillStyle = t.accent;
      c.beginPath();
      c.arc(x, y(peak), 3.5, 0, 7);
      c.fill();
    }
    c.fillStyle = t.muted;
    c.textAlign = "right";
    c.fillText(this.plan.n ? bytes(this.plan.raw.peak.load) : "", left - 8, Math.max(y(peak), 8));
    c.textAlign = "left";
    c.fillText("live", 8, total - 8);
    c.textAlign = "right";
    c.fillText("0", left - 8, y(0) - 2);
  }

  private drawMapBase(): void {
    const width = Math.max(2, this.map.width - Math.round((LEFT + RIGHT) * (this.map.width / Math.max(1, this.map.clientWidth))));
    const height = Math.max(2, this.map.height);
    this.mapBase.width = width;
    this.mapBase.height = height;
    const image = new ImageData(width, height);
    rasterize(
      new Int32Array(image.data.buffer), width, height, this.plan.rectangles, this.whole, this.classes.of,
      { ...this.paint(), pattern: new Uint8Array(this.classes.looks.length) }, this.kept,
      pixel(this.theme.surface), 4, null,
    );
    this.mapBase.getContext("2d")!.putImageData(image, 0, 0);
  }
  private drawMap(): void {
    const c = this.context(this.map);
    const width = this.inner.width;
    const height = this.map.clientHeight;
    c.drawImage(this.mapBase, LEFT, 0, width, height);
    const w = this.whole;
    const v = this.view;
    const x0 = LEFT + ((v.x0 - w.x0) / (w.x1 - w.x0)) * width;
    const x1 = LEFT + ((v.x1 - w.x0) / (w.x1 - w.x0)) * width;
    const y0 = height - ((v.y1 - w.y0) / (w.y1 - w.y0)) * height;
    const y1 = height - ((v.y0 - w.y0) / (w.y1 - w.y0)) * height;
    c.fillStyle = this.theme.background;
    c.globalAlpha = 0.6;
    c.beginPath();
    c.rect(LEFT, 0, width, height);
    c.rect(x0, y0, x1 - x0, y1 - y0);
    c.fill("evenodd");
    c.globalAlpha = 1;
    c.strokeStyle = this.theme.text;
    c.lineWidth = 1.5;
    c.strokeRect(x0 + 0.75, y0 + 0.75, Math.max(2, x1 - x0 - 1.5), Math.max(2, y1 - y0 - 1.5));
    c.fillStyle = this.theme.muted;
    c.textAlign = "left";
    c.fillText("map", 8, height / 2);
  }

  private listen(): void {
    const at = (point: { x: number; y: number }) => this.plan.at(this.stepAt(point.x), this.addressAt(point.y));
    listen(this.stage, {
      size: () => this.inner,
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, axes, point) => this.zoom(factor, axes, point),
      hover: (point, event) => {
        const inside = point !== null && point.x > LEFT && point.y < this.inner.top + this.inner.height;
        const buffer = inside ? at(point) : -1;
        if (buffer !== this.marks.hovered) {
          this.marks.hovered = buffer;
          this.draw();
        }
        this.onHover(buffer, event.clientX, event.clientY);
      },
      click: (point) => this.onSelect(at(point)),
      doubleClick: (point) => {
        const buffer = at(point);
        if (buffer >= 0) this.reveal(buffer, true);
        else this.reset();
      },
    });
    const goTo = (event: PointerEvent) => {
      const box = this.map.getBoundingClientRect();
      const w = this.whole;
      const v = this.view;
      const x = w.x0 + ((event.clientX - box.left - LEFT) / this.inner.width) * (w.x1 - w.x0);
      const y = w.y1 - ((event.clientY - box.top) / box.height) * (w.y1 - w.y0);
      const [sx, sy] = [(v.x1 - v.x0) / 2, (v.y1 - v.y0) / 2];
      this.show({ x0: x - sx, x1: x + sx, y0: y - sy, y1: y + sy });
    };
    this.map.addEventListener("pointerdown", (event) => {
      this.map.setPointerCapture(event.pointerId);
      goTo(event);
    });
    this.map.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) goTo(event);
    });
  }

  /** What is seen, as one picture. */
  toCanvas(): HTMLCanvasElement {
    this.drawNow();
    const scale = this.overlay.width / Math.max(1, this.overlay.clientWidth);
    const picture = document.createElement("canvas");
    picture.width = this.overlay.width;
    picture.height = this.overlay.height + this.curve.height;
    const c = picture.getContext("2d")!;
    c.fillStyle = this.theme.background;
    c.fillRect(0, 0, picture.width, picture.height);
    c.drawImage(this.base, Math.round(LEFT * scale), Math.round(TOP * scale));
    c.drawImage(this.overlay, 0, 0);
    c.drawImage(this.curve, 0, this.overlay.height);
    return picture;
  }

  /** What is seen, as SVG. What is thinner than a fifth of a pixel both ways is left out. */
  toSvg(): string {
    const xml = (text: string) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
    const { left, top, width, height } = this.inner;
    const [w, h] = [this.stage.clientWidth, this.stage.clientHeight];
    const n = (value: number) => String(Math.round(value * 100) / 100);
    const out = [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" font-family="sans-serif" font-size="11">`,
      `<title>${xml(this.title)}</title><rect width="${w}" height="${h}" fill="${this.theme.background}"/>`,
      `<clipPath id="c"><rect x="${left}" y="${top}" width="${width}" height="${height}"/></clipPath><g clip-path="url(#c)">`,
    ];
    const r = this.plan.rectangles;
    const v = this.view;
    for (let k = 0; k < r.buffer.length; ++k) {
      if (r.x1[k]! <= v.x0 || r.x0[k]! >= v.x1 || r.y1[k]! <= v.y0 || r.y0[k]! >= v.y1) continue;
      const x = this.xOf(Math.max(r.x0[k]!, v.x0));
      const y = this.yOf(Math.min(r.y1[k]!, v.y1));
      const dx = this.xOf(Math.min(r.x1[k]!, v.x1)) - x;
      const dy = this.yOf(Math.max(r.y0[k]!, v.y0)) - y;
      if (dx < 0.2 && dy < 0.2) continue;
      const i = r.buffer[k]!;
      const on = !this.kept || this.kept[i];
      const fill = on ? this.classes.looks[this.classes.of[i]!]!.color : this.theme.grid;
      out.push(
        `<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(dx, 0.2))}" height="${n(Math.max(dy, 0.2))}" fill="${fill}" stroke="${this.theme.surface}" stroke-width=".5"><title>${xml(abridged(this.plan.name(i), 200))}, ${bytes(this.plan.raw.buffers.size[i]!)}</title></rect>`,
      );
    }
    for (const level of this.plan.placed ? this.levels() : []) {
      const y = n(this.yOf(level.value));
      out.push(`<path d="M${left} ${y}H${left + width}" stroke="${level.color}" stroke-dasharray="${level.dash.join(" ")}"/>`);
      out.push(`<text x="${left + 4}" y="${n(this.yOf(level.value) - 4)}" fill="${level.color}">${level.text}</text>`);
    }
    out.push("</g>");
    for (const tick of ticks(v.y0, v.y1, height / 44, this.plan.placed)) {
      if (this.plan.placed) out.push(`<text x="${left - 6}" y="${n(this.yOf(tick) + 4)}" text-anchor="end" fill="${this.theme.muted}">${bytes(Math.round(tick))}</text>`);
    }
    for (const tick of ticks(v.x0, v.x1, width / 80, false)) {
      out.push(`<text x="${n(this.xOf(tick))}" y="${h - 5}" text-anchor="middle" fill="${this.theme.muted}">${grouped(tick)}</text>`);
    }
    out.push("</svg>");
    return out.join("\n") + "\n";
  }
}
