// The picture of a plan: time to the right, addresses upwards; below it the live bytes over the
// same steps, and a map of the whole that shows the current view.
import { ticks } from "./axis";
import type { Copy, Lane, Move, Num, Plan } from "./data";
import { type Classes, type Look, inkOn, pixel } from "./colors";
import { svg } from "./dom";
import { abridged, bytes, grouped, visible } from "./format";
import { type Point, type View, listen, within } from "./gestures";
import { type Inner, Picture } from "./picture";
import { type Label, type Paint, rasterize } from "./raster";
import type { Theme } from "./theme";

const LEFT = 76; // Pixels for the labels of the addresses.
const BOTTOM = 20; // For those of the steps.
const TOP = 10;
const RIGHT = 10;
const FONT = "system-ui, sans-serif";

export interface Marks {
  selected: number;
  hovered: number;
  step: number | null; // Of an operator.
  related: { buffer: number; kind: string }[];
  conflict: Set<number> | null;
  moves: Move[];
  copies: Copy[];
}

export const NO_MARKS: Marks = {
  selected: -1,
  hovered: -1,
  step: null,
  related: [],
  conflict: null,
  moves: [],
  copies: [],
};

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

/** A text on a background; the position is of the left end of its middle line. */
interface Tag {
  text: string;
  x: number;
  y: number;
  width: number;
  color: string;
}

/** Whether a box around the middle line at `y`, 12 pixels high, meets the background of a tag. */
const meets = (tag: Tag, x: number, y: number, width: number) =>
  x < tag.x + tag.width + 4 && x + width > tag.x - 4 && Math.abs(y - tag.y) < 14;

/** The height, the capacity or a bound: each with its own dashes and name. */
interface Level {
  value: number;
  text: string;
  color: string;
  dash: number[];
}

function line(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
}

/** As fine as the screen, up to twice. */
const screenScale = () => Math.min(window.devicePixelRatio || 1, 2);

export class Plot extends Picture {
  private readonly base = canvas(null);
  private readonly overlay = canvas(null);
  private readonly curve = canvas(null);
  private readonly map = canvas(null);
  private readonly mapBase = document.createElement("canvas");
  private classes!: Classes;
  marks: Marks = NO_MARKS;
  private labels: Label[] = [];
  private dirtyBase = true;
  private dirtyMap = true;
  private pixels: Int32Array | null = null;
  private image: ImageData | null = null;

  plan!: Plan;
  lane!: Lane;

  constructor(plan: Plan, lane: Lane, title: string) {
    super(title, "zoomable plot");
    this.setPlan(plan, lane, title);
    this.base.className = "layer";
    this.overlay.className = "layer";
    this.stage.append(this.base, this.overlay);
    this.curve.className = "curve";
    this.map.className = "map";
    this.root.append(this.curve, this.map);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.root);
  }

  /** What is drawn from the next refresh() on. Each axis stays in view as it is, unless all
   * of it is. */
  setPlan(plan: Plan, lane: Lane, title: string): void {
    [this.plan, this.lane, this.title] = [plan, lane, title];
    const capacity = plan.placed ? Number(lane.capacity ?? 0) : 0;
    // A capacity that is far away would leave the plan a strip at the bottom. An empty memory is
    // drawn whole.
    const near = lane.empty || capacity <= lane.top * 1.6;
    const top = Math.max(lane.top, near ? capacity : 0);
    const before = this.whole;
    this.whole = { x0: plan.firstStep, x1: plan.lastStep, y0: 0, y1: top * 1.04 };
    const view = { ...this.whole };
    if (before && (this.view.x0 !== before.x0 || this.view.x1 !== before.x1)) {
      [view.x0, view.x1] = [this.view.x0, this.view.x1];
    }
    if (before && (this.view.y0 !== before.y0 || this.view.y1 !== before.y1)) {
      [view.y0, view.y1] = [this.view.y0, this.view.y1];
    }
    this.view = within(view, this.whole, this.least);
  }

  protected get inner(): Inner {
    const width = this.stage.clientWidth - LEFT - RIGHT;
    const height = this.stage.clientHeight - TOP - BOTTOM;
    return { left: LEFT, top: TOP, width: Math.max(10, width), height: Math.max(10, height) };
  }
  protected get least(): Point {
    const { x0, x1, y0, y1 } = this.whole;
    return { x: Math.min(4, x1 - x0), y: Math.min(8, y1 - y0) };
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
    const scale = screenScale();
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

  override show(view: View, tell = true): void {
    this.dirtyBase = true;
    super.show(view, tell);
  }
  /** Moves a buffer into view; `close` also zooms to it. */
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

  protected paint(): void {
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

  private paints(): Paint {
    const of = (shade: (look: Look) => number) => Int32Array.from(this.classes.looks, shade);
    return {
      fill: of((look) => pixel(look.color)),
      edge: of((look) => pixel(look.color, this.theme.dark ? -0.45 : -0.35)),
      ink: of((look) => pixel(look.color, this.theme.dark ? -0.28 : 0.3)),
      pattern: Uint8Array.from(this.classes.looks, (look) => look.pattern),
      faint: pixel(this.theme.grid),
      background: pixel(this.theme.surface),
    };
  }
  private drawBase(): void {
    const scale = screenScale();
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
      { pixels: this.pixels!, width: w, height: h, scale },
      this.addressTicks().map((tick) => Math.round((this.yAt(tick) - top) * scale)),
      this.lane.rectangles,
      this.view,
      this.classes.of,
      this.paints(),
      this.kept,
      this.labels,
    );
    this.base.getContext("2d")!.putImageData(this.image, 0, 0);
  }

  private context(element: HTMLCanvasElement): CanvasRenderingContext2D {
    const context = element.getContext("2d")!;
    const scale = element.width / Math.max(1, element.clientWidth);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, element.clientWidth, element.clientHeight);
    context.font = `11px ${FONT}`;
    context.textBaseline = "middle";
    return context;
  }

  private drawOverlay(): void {
    const c = this.context(this.overlay);
    const { left, top, width, height } = this.inner;
    this.drawAxes(c);
    c.save();
    c.beginPath();
    c.rect(left, top, width, height);
    c.clip();
    // Lines first, then what is read: no line runs through a label.
    this.drawReserved(c);
    if (this.plan.placed) this.drawHoles(c);
    this.drawMarks(c);
    const levels = this.plan.placed ? this.levels() : [];
    c.lineWidth = 1.5;
    for (const level of levels) this.drawLevel(c, level, Math.round(this.yAt(level.value)) + 0.5);
    c.lineWidth = 1;
    this.drawPeakLine(c, top, height);
    const tags = this.tagsOf(c, levels);
    this.drawLabels(c, tags);
    for (const tag of tags) this.drawTag(c, tag);
    c.restore();
    c.strokeStyle = this.theme.muted;
    c.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  }

  private addressTicks(): number[] {
    return ticks(this.view.y0, this.view.y1, this.inner.height / 44, this.plan.placed);
  }
  private stepTicks(): number[] {
    return ticks(this.view.x0, this.view.x1, this.inner.width / 80, false);
  }
  private drawAxes(c: CanvasRenderingContext2D): void {
    const { left, top, width, height } = this.inner;
    c.fillStyle = this.theme.muted;
    c.strokeStyle = this.theme.grid;
    c.lineWidth = 1;
    c.textAlign = "right";
    for (const tick of this.addressTicks()) {
      const y = Math.round(this.yAt(tick)) + 0.5;
      line(c, left - 4, y, left, y);
      if (this.plan.placed) c.fillText(bytes(Math.round(tick)), left - 8, y);
    }
    c.textAlign = "center";
    for (const tick of this.stepTicks()) {
      const x = Math.round(this.xAt(tick)) + 0.5;
      line(c, x, top + height, x, top + height + 4);
      const inside = Math.min(Math.max(x, left + 12), left + width - 14);
      c.fillText(grouped(tick), inside, top + height + 12);
    }
    c.textAlign = "left";
    c.fillText("step", 8, top + height + 12);
  }

  private drawLabels(c: CanvasRenderingContext2D, tags: Tag[]): void {
    const { left, top } = this.inner;
    const scale = this.base.width / Math.max(1, this.inner.width);
    const most =
      this.labels.length > 300
        ? [...this.labels].sort((a, b) => b.width * b.height - a.width * a.height).slice(0, 300)
        : this.labels;
    c.textAlign = "left";
    for (const label of most) {
      const width = label.width / scale;
      const height = label.height / scale;
      const characters = Math.floor((width - 10) / 6.4);
      if (characters < 3) continue;
      const look = this.classes.looks[this.classes.of[label.buffer]!]!;
      const x = left + label.x / scale + 5;
      const y = top + label.y / scale + Math.min(height / 2, 10);
      const write = (text: string, at: number) => {
        const patch = Math.min(c.measureText(text).width + 4, width - 6);
        if (tags.some((tag) => meets(tag, x - 2, at, patch))) return;
        // On a patch of the buffer's colour, above patterns and lines.
        c.fillStyle = look.color;
        c.fillRect(x - 2, at - 6, patch, 12);
        c.fillStyle = inkOn(look.color);
        c.fillText(text, x, at, width - 8);
      };
      write(this.plan.shortName(label.buffer, characters), y);
      if (height > 30 && width > 60) {
        write(bytes(this.plan.raw.buffers.size[label.buffer]!), y + 14);
      }
    }
  }

  private levels(): Level[] {
    const { text, good, bad } = this.theme;
    const { capacity, height, bound } = this.lane;
    const list: Level[] = [];
    const add = (name: string, value: Num | null, color: string, dash: number[]) => {
      if (value === null) return;
      list.push({ value: Number(value), text: `${name} ${bytes(value)}`, color, dash });
    };
    add("height", height, text, []);
    if (bound !== height) add("bound", bound, good, [2, 3]);
    add("capacity", capacity, bad, [7, 4]);
    return list;
  }
  private drawLevel(c: CanvasRenderingContext2D, level: Level, y: number): void {
    const { left, width } = this.inner;
    c.strokeStyle = level.color;
    c.setLineDash(level.dash);
    line(c, left, y, left + width, y);
    c.setLineDash([]);
  }
  /** Where the peak and the levels are named: inside the picture, none over another. */
  private tagsOf(c: CanvasRenderingContext2D, levels: Level[]): Tag[] {
    const { left, top, width, height } = this.inner;
    const tags: Tag[] = [];
    if (!this.lane.empty) {
      const text = `peak, step ${grouped(this.lane.peak.start)}`;
      const size = c.measureText(text).width;
      const right = this.peakX + 10 + size <= left + width;
      const x = right ? this.peakX + 8 : this.peakX - size - 8;
      tags.push({ text, x, y: top + height - 10, width: size, color: this.theme.accent });
    }
    let right = left + width - 8;
    for (const { value, text, color } of levels) {
      const y = Math.round(this.yAt(value)) + 0.5;
      const size = c.measureText(text).width;
      const free = (x: number, at: number) => !tags.some((tag) => meets(tag, x - 4, at, size + 8));
      const above = y < 24 ? y + 10 : y - 9;
      let [x, at] = [right - size, above];
      // One beside the other, or where there is no room, wherever there is some at its line.
      if (x < left + 4 || !free(x, at)) {
        const last = left + width - 8 - size;
        const places = [above, y + 10, y + 26].flatMap((row) =>
          [last, (last + left) / 2, left + 8].map((column) => [column, row] as const),
        );
        [x, at] = places.find((place) => free(...place)) ?? [Math.max(last, left + 4), above];
      }
      tags.push({ text, x, y: at, width: size, color });
      right -= size + 22;
    }
    return tags;
  }
  private drawTag(c: CanvasRenderingContext2D, { text, x, y, width, color }: Tag): void {
    c.textAlign = "left";
    c.fillStyle = this.theme.background;
    c.globalAlpha = 0.92;
    c.fillRect(x - 4, y - 8, width + 8, 16);
    c.globalAlpha = 1;
    c.fillStyle = color;
    c.fillText(text, x, y);
  }
  private get peakX(): number {
    return Math.round(this.xAt(Number(this.lane.peak.start) + 0.5)) + 0.5;
  }
  private drawPeakLine(c: CanvasRenderingContext2D, top: number, height: number): void {
    if (this.lane.empty) return;
    const x = this.peakX;
    c.strokeStyle = this.theme.accent;
    c.setLineDash([1, 2]);
    c.lineWidth = 1.5;
    line(c, x, top, x, top + height);
    c.setLineDash([]);
    c.lineWidth = 1;
    c.fillStyle = this.theme.accent;
    c.beginPath();
    c.moveTo(x - 5, top + height);
    c.lineTo(x + 5, top + height);
    c.lineTo(x, top + height - 8);
    c.fill();
  }
  /** Bytes that nothing may use, as grey boxes. */
  private drawReserved(c: CanvasRenderingContext2D): void {
    c.fillStyle = this.theme.muted;
    c.globalAlpha = 0.35;
    for (const [lower, upper, start, end] of this.lane.reserved) {
      const x0 = this.xAt(Number(start ?? this.whole.x0));
      const x1 = this.xAt(Number(end ?? this.whole.x1));
      const y = this.yAt(Number(upper));
      c.fillRect(x0, y, x1 - x0, this.yAt(Number(lower)) - y);
    }
    c.globalAlpha = 1;
  }
  private drawHoles(c: CanvasRenderingContext2D): void {
    const { peak } = this.lane;
    const from = this.xAt(Number(peak.start));
    const to = Math.max(this.xAt(Number(peak.end)), from + 3);
    c.strokeStyle = this.theme.bad;
    for (const hole of peak.holes) {
      const bottom = this.yAt(Number(hole.lower));
      const top = this.yAt(Number(hole.upper));
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
  private outline(
    c: CanvasRenderingContext2D,
    i: number,
    color: string,
    width: number,
    dash: number[] = [],
  ): void {
    const r = this.lane.rectangles;
    c.setLineDash(dash);
    for (let k = 0; k < r.buffer.length; ++k) {
      if (r.buffer[k] !== i) continue;
      const x0 = this.xAt(r.x0[k]!);
      const x1 = this.xAt(r.x1[k]!);
      const y0 = this.yAt(r.y0[k]!);
      const y1 = this.yAt(r.y1[k]!);
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
    if (m.conflict && m.conflict.size <= 500)
      for (const i of m.conflict) this.outline(c, i, t.bad, 1.5, [4, 3]);
    if (m.step !== null) {
      const x0 = this.xAt(m.step);
      const x1 = Math.max(this.xAt(m.step + 1), x0 + 2);
      c.fillStyle = t.accent;
      c.globalAlpha = 0.2;
      c.fillRect(x0, 0, x1 - x0, this.stage.clientHeight);
      c.globalAlpha = 1;
    }
    this.drawMoves(c);
    this.drawCopies(c);
    for (const { buffer, kind } of m.related)
      this.outline(c, buffer, t.text, 1.5, kind === "neighbour" ? [2, 2] : [6, 2]);
    if (m.hovered >= 0 && m.hovered !== m.selected) this.outline(c, m.hovered, t.text, 1);
    if (m.selected >= 0) this.outline(c, m.selected, t.accent, 3);
  }
  private drawMoves(c: CanvasRenderingContext2D): void {
    const p = this.plan;
    c.strokeStyle = c.fillStyle = this.theme.text;
    c.lineWidth = 1.5;
    for (const { from, to } of this.marks.moves) {
      const x0 = this.xAt(p.end[from]!);
      const x1 = this.xAt(p.start[to]!);
      const y0 = this.yAt(p.y[from]! + p.height[from]! / 2);
      const y1 = this.yAt(p.y[to]! + p.height[to]! / 2);
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

  /** Where copies between memories begin or end here: the steps in which they can be under way. */
  private drawCopies(c: CanvasRenderingContext2D): void {
    const p = this.plan;
    c.strokeStyle = this.theme.text;
    c.lineWidth = 1;
    for (const { from, to, start, before } of this.marks.copies) {
      const row = p.lanes[p.laneOfBuffer(from)] === this.lane ? from : to;
      const x0 = this.xAt(Number(start)) - 1;
      const x1 = Math.max(this.xAt(Number(before)), x0 + 1) + 1;
      const y0 = this.yAt(p.y[row]! + p.height[row]!);
      const y1 = this.yAt(p.y[row]!);
      const { left, width, top, height } = this.inner;
      if (x1 < left || x0 > left + width || y1 < top || y0 > top + height) continue;
      c.save();
      c.beginPath();
      c.rect(x0, y0, x1 - x0, Math.max(2, y1 - y0));
      c.clip();
      c.globalAlpha = 0.55;
      c.beginPath();
      const tall = y1 - y0;
      const last = Math.min(x1 - x0, width + 2 * tall);
      for (let k = -tall; k < last; k += 5) {
        c.moveTo(x0 + k, y0);
        c.lineTo(x0 + k + tall, y1);
      }
      c.stroke();
      c.restore();
      c.strokeRect(x0, y0, x1 - x0, Math.max(2, tall));
    }
  }
  /** Where a buffer's middle is on the screen at a step, kept within the axes; `inside`: it was. */
  placeOf(row: number, step: number): { x: number; y: number; inside: boolean } {
    const { left, top, width, height } = this.inner;
    const box = this.stage.getBoundingClientRect();
    const x = this.xAt(step);
    const y = this.yAt(this.plan.y[row]! + this.plan.height[row]! / 2);
    const inside = x >= left && x <= left + width && y >= top && y <= top + height;
    const within = (value: number, low: number, size: number) =>
      Math.min(Math.max(value, low), low + size);
    return {
      x: box.left + within(x, left, width),
      y: box.top + within(y, top, height),
      inside,
    };
  }

  private drawCurve(): void {
    const c = this.context(this.curve);
    const { left, width } = this.inner;
    const total = this.curve.clientHeight;
    const height = total - 12;
    const { load, start } = this.lane.peak;
    const peak = Number(load);
    const near = this.levels().filter((level) => level.value <= peak * 1.6);
    const held = this.plan.held?.bytes.reduce((a, b) => Math.max(a, b), 0) ?? 0;
    const values = [...near.map((level) => level.value), held];
    const most = Math.max(peak, ...values, 1) * 1.08;
    const y = (value: number) => 6 + height - (value / most) * height;
    this.drawLive(c, y);
    this.drawHeld(c, y, held);
    for (const level of near) this.drawLevel(c, level, Math.round(y(level.value)) + 0.5);
    c.lineWidth = 1;
    const x = Math.round(this.xAt(Number(start) + 0.5)) + 0.5;
    if (!this.lane.empty && x >= left && x <= left + width) {
      c.fillStyle = this.theme.accent;
      c.beginPath();
      c.arc(x, y(peak), 3.5, 0, 7);
      c.fill();
    }
    c.fillStyle = this.theme.muted;
    c.textAlign = "right";
    if (!this.lane.empty) c.fillText(bytes(load), left - 8, Math.max(y(peak), 8));
    c.fillText("0", left - 8, y(0) - 2);
    c.textAlign = "left";
    c.fillText("live", 8, total - 8);
  }
  private drawLive(c: CanvasRenderingContext2D, y: (value: number) => number): void {
    const { left } = this.inner;
    const columns = this.columnsOf(this.lane.steps, this.lane.live);
    c.beginPath();
    c.moveTo(left, y(0));
    columns.forEach((value, x) => {
      c.lineTo(left + x, y(value));
      c.lineTo(left + x + 1, y(value));
    });
    c.lineTo(left + columns.length, y(0));
    c.fillStyle = c.strokeStyle = this.theme.curve;
    c.globalAlpha = 0.28;
    c.fill();
    c.globalAlpha = 1;
    c.lineWidth = 1.25;
    c.stroke();
  }
  private drawHeld(c: CanvasRenderingContext2D, y: (value: number) => number, most: number): void {
    const { held } = this.plan;
    if (!held || !most) return;
    const { left, width } = this.inner;
    c.strokeStyle = c.fillStyle = this.theme.bad;
    c.beginPath();
    this.columnsOf(held.steps, held.bytes).forEach((value, x) => {
      if (value > 0) c.lineTo(left + x, y(value));
    });
    c.lineWidth = 1.25;
    c.stroke();
    c.textAlign = "right";
    c.fillText(`${held.name} ${bytes(most)}`, left + width - 4, y(most) + 10);
    c.textAlign = "left";
  }
  /** The largest value within each pixel: no peak is lost at any zoom. */
  private columnsOf(steps: Float64Array, values: Float64Array): Float64Array {
    const { width } = this.inner;
    const columns = new Float64Array(Math.ceil(width));
    const sx = width / (this.view.x1 - this.view.x0);
    for (let i = 0; i < steps.length; ++i) {
      const from = (steps[i]! - this.view.x0) * sx;
      const to = i + 1 < steps.length ? (steps[i + 1]! - this.view.x0) * sx : from;
      if (to < 0 || from > width) continue;
      const last = Math.min(columns.length, Math.max(Math.ceil(to), Math.floor(from) + 1));
      for (let x = Math.max(0, Math.floor(from)); x < last; ++x) {
        columns[x] = Math.max(columns[x]!, values[i] ?? 0);
      }
    }
    return columns;
  }

  private drawMapBase(): void {
    const margin = ((LEFT + RIGHT) * this.map.width) / Math.max(1, this.map.clientWidth);
    const width = Math.max(2, this.map.width - Math.round(margin));
    const height = Math.max(2, this.map.height);
    this.mapBase.width = width;
    this.mapBase.height = height;
    const image = new ImageData(width, height);
    rasterize(
      { pixels: new Int32Array(image.data.buffer), width, height, scale: 4 },
      [],
      this.lane.rectangles,
      this.whole,
      this.classes.of,
      { ...this.paints(), pattern: new Uint8Array(this.classes.looks.length) },
      this.kept,
      null,
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
    const at = (point: Point) => {
      const { x, y } = this.unitsAt(point);
      return this.plan.at(this.lane, x, y);
    };
    listen(this.stage, {
      size: () => this.inner,
      pan: (dx, dy) => this.pan(dx, dy),
      zoom: (factor, axes, point) => this.zoom(factor, axes, point),
      hover: (point, event) => {
        const inside =
          point !== null && point.x > LEFT && point.y < this.inner.top + this.inner.height;
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

  /** What is seen, as SVG. Leaves out what is thinner than a fifth of a pixel both ways. */
  toSvg(): string {
    const { left, top, width, height } = this.inner;
    const [w, h] = [this.stage.clientWidth, this.stage.clientHeight];
    const inner = svg("clipPath", { id: "c" }, svg("rect", { x: left, y: top, width, height }));
    const levels = this.plan.placed ? this.levels() : [];
    const picture = svg(
      "svg",
      { width: w, height: h, viewBox: `0 0 ${w} ${h}`, "font-family": FONT, "font-size": 11 },
      svg("title", {}, visible(this.title)),
      svg("rect", { width: w, height: h, fill: this.theme.background }),
      inner,
      svg(
        "g",
        { "clip-path": "url(#c)" },
        ...this.rectangleElements(),
        ...levels.flatMap((level) => this.levelElements(level)),
      ),
      ...this.tickElements(),
    );
    return new XMLSerializer().serializeToString(picture) + "\n";
  }
  private rectangleElements(): SVGElement[] {
    const { rectangles: r } = this.lane;
    const { raw } = this.plan;
    const v = this.view;
    const elements: SVGElement[] = [];
    for (let k = 0; k < r.buffer.length; ++k) {
      if (r.x1[k]! <= v.x0 || r.x0[k]! >= v.x1 || r.y1[k]! <= v.y0 || r.y0[k]! >= v.y1) continue;
      const x = this.xAt(Math.max(r.x0[k]!, v.x0));
      const y = this.yAt(Math.min(r.y1[k]!, v.y1));
      const width = this.xAt(Math.min(r.x1[k]!, v.x1)) - x;
      const height = this.yAt(Math.max(r.y0[k]!, v.y0)) - y;
      if (width < 0.2 && height < 0.2) continue;
      const i = r.buffer[k]!;
      const kept = !this.kept || this.kept[i];
      const size = { x, y, width: Math.max(width, 0.2), height: Math.max(height, 0.2) };
      const fill = kept ? this.classes.looks[this.classes.of[i]!]!.color : this.theme.grid;
      const look = { fill, stroke: this.theme.surface, "stroke-width": 0.5 };
      const text = `${abridged(this.plan.name(i), 200)}, ${bytes(raw.buffers.size[i]!)}`;
      elements.push(svg("rect", { ...size, ...look }, svg("title", {}, text)));
    }
    return elements;
  }
  private levelElements({ value, text, color, dash }: Level): SVGElement[] {
    const { left, width } = this.inner;
    const y = this.yAt(value);
    const d = `M${left} ${Math.round(100 * y) / 100}H${left + width}`;
    const dashes: Record<string, string> = dash.length
      ? { "stroke-dasharray": dash.join(" ") }
      : {};
    return [
      svg("path", { d, stroke: color, ...dashes }),
      svg("text", { x: left + 4, y: y - 4, fill: color }, text),
    ];
  }
  private tickElements(): SVGElement[] {
    const fill = this.theme.muted;
    const end = { x: this.inner.left - 6, "text-anchor": "end", fill };
    const middle = { y: this.stage.clientHeight - 5, "text-anchor": "middle", fill };
    return [
      ...(this.plan.placed ? this.addressTicks() : []).map((tick) =>
        svg("text", { ...end, y: this.yAt(tick) + 4 }, bytes(Math.round(tick))),
      ),
      ...this.stepTicks().map((tick) =>
        svg("text", { ...middle, x: this.xAt(tick) }, grouped(tick)),
      ),
    ];
  }
}
