// What the pictures of plans and of sweeps share: a view of a whole that moves by gestures and
// keys, drawn at most once per animation frame.
import { type Axes, type Point, type View, panned, stageOf, within, zoomed } from "./gestures";
import type { Theme } from "./theme";

/** The part of the stage inside the axes, in CSS pixels. */
export interface Inner {
  left: number;
  top: number;
  width: number;
  height: number;
}

export abstract class Picture {
  readonly root = document.createElement("div");
  readonly stage: HTMLElement;
  view!: View;
  whole!: View;
  /** 1 for what passes the filter; null: everything does. */
  kept: Uint8Array | null = null;
  onHover: (item: number, x: number, y: number) => void = () => {};
  onSelect: (item: number) => void = () => {};
  onView: () => void = () => {};
  onDraw: () => void = () => {};
  /** The animation frames drawn so far. */
  frames = 0;
  protected theme!: Theme;
  private pending = false;

  constructor(title: string, role: string) {
    this.root.className = "plot";
    this.stage = stageOf(title, role);
    this.root.append(this.stage);
  }
  get title(): string {
    return this.stage.getAttribute("aria-label")!;
  }
  set title(title: string) {
    if (title !== this.title) this.stage.setAttribute("aria-label", title);
  }

  protected abstract get inner(): Inner;
  /** The smallest span of each axis that can be zoomed to. */
  protected abstract get least(): Point;
  protected abstract paint(): void;

  // From the units of what is drawn to CSS pixels, and back.
  protected xAt(position: number): number {
    const { left, width } = this.inner;
    return left + ((position - this.view.x0) / (this.view.x1 - this.view.x0)) * width;
  }
  protected yAt(position: number): number {
    const { top, height } = this.inner;
    return top + height - ((position - this.view.y0) / (this.view.y1 - this.view.y0)) * height;
  }
  protected unitsAt(at: Point): Point {
    const { left, top, width, height } = this.inner;
    const { x0, x1, y0, y1 } = this.view;
    return {
      x: x0 + ((at.x - left) / width) * (x1 - x0),
      y: y0 + ((top + height - at.y) / height) * (y1 - y0),
    };
  }

  /** Shows `view`, kept within the whole. */
  show(view: View, tell = true): void {
    this.view = within(view, this.whole, this.least);
    this.draw();
    if (tell) this.onView();
  }
  zoom(factor: number, axes: Axes = "both", at?: Point): void {
    const { x0, x1, y0, y1 } = this.view;
    const center = at ? this.unitsAt(at) : { x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
    this.show(zoomed(this.view, factor, axes, center));
  }
  pan(dx: number, dy: number): void {
    this.show(panned(this.view, dx, dy));
  }
  reset(): void {
    this.show({ ...this.whole });
  }

  draw(): void {
    if (this.pending || !this.theme) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.drawNow();
    });
  }
  drawNow(): void {
    if (!this.stage.clientWidth) return;
    ++this.frames;
    this.paint();
    this.onDraw();
  }
}
