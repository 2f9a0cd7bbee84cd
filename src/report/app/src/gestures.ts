// Turns wheel, drag, pinch, hover and click over a picture into what they mean; and views of it.
import { h } from "./dom";

export interface Point {
  x: number;
  y: number;
}
export type Axes = "both" | "x" | "y";

export interface Gestures {
  /** The size of what moves, in pixels. */
  size(): { width: number; height: number };
  /** In fractions of the view. */
  pan(dx: number, dy: number): void;
  zoom(factor: number, axes: Axes, at: Point): void;
  /** Over a point of the picture; null: over none. `event` says where on the screen. */
  hover(at: Point | null, event: PointerEvent): void;
  click(at: Point): void;
  doubleClick(at: Point): void;
}

/** The visible part, in the units of what is drawn. */
export interface View {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** The element that answers to gestures and keys. */
export function stageOf(title: string, role: string): HTMLElement {
  return h("div", {
    class: "stage",
    tabindex: "0",
    role: "application",
    "aria-roledescription": role,
    "aria-label": title,
    "aria-describedby": "plot-keys",
  });
}

export const same = (a: View, b: View): boolean =>
  a.x0 === b.x0 && a.x1 === b.x1 && a.y0 === b.y0 && a.y1 === b.y1;

/** `view` kept within the whole, and no closer than `least` of each axis. */
export function within(view: View, whole: View, least: { x: number; y: number }): View {
  const fit = (
    from: number,
    to: number,
    low: number,
    high: number,
    near: number,
  ): [number, number] => {
    const span = Math.min(Math.max(to - from, near), high - low);
    const start = Math.min(Math.max(from, low), high - span);
    return [start, start + span];
  };
  const [x0, x1] = fit(view.x0, view.x1, whole.x0, whole.x1, least.x);
  const [y0, y1] = fit(view.y0, view.y1, whole.y0, whole.y1, least.y);
  return { x0, x1, y0, y1 };
}
/** `view` larger by `factor`, with the point staying where it is. */
export function zoomed(view: View, factor: number, axes: Axes, at: Point): View {
  const fx = axes === "y" ? 1 : factor;
  const fy = axes === "x" ? 1 : factor;
  return {
    x0: at.x - (at.x - view.x0) * fx,
    x1: at.x + (view.x1 - at.x) * fx,
    y0: at.y - (at.y - view.y0) * fy,
    y1: at.y + (view.y1 - at.y) * fy,
  };
}
/** `view` moved by parts of itself. */
export function panned(view: View, dx: number, dy: number): View {
  const x = dx * (view.x1 - view.x0);
  const y = dy * (view.y1 - view.y0);
  return { x0: view.x0 + x, x1: view.x1 + x, y0: view.y0 + y, y1: view.y1 + y };
}

const STILL = 3; // Pixels that a hand moves while it clicks.

function pointIn(stage: HTMLElement, event: { clientX: number; clientY: number }): Point {
  const box = stage.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

export function listen(stage: HTMLElement, on: Gestures): void {
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) {
      on.pan((event.deltaX * unit) / on.size().width, 0);
      return;
    }
    const delta = (event.deltaY || event.deltaX) * unit;
    const factor = Math.exp(Math.max(-1, Math.min(1, delta * 0.002)));
    const axes = event.shiftKey ? "x" : event.altKey ? "y" : "both";
    on.zoom(factor, axes, pointIn(stage, event));
  };
  stage.addEventListener("wheel", wheel, { passive: false });
  stage.addEventListener("pointerleave", (event) => on.hover(null, event));
  stage.addEventListener("dblclick", (event) => on.doubleClick(pointIn(stage, event)));
  listenToPointers(stage, on);
}

/** Hover, click, drag and pinch. */
function listenToPointers(stage: HTMLElement, on: Gestures): void {
  const pointers = new Map<number, Point>();
  let moved = 0;
  let spread = 0;
  const pinch = ([a, b]: [Point, Point]) => {
    const distance = Math.hypot(a.x - b.x, a.y - b.y);
    const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    if (spread) on.zoom(spread / Math.max(distance, 1), "both", middle);
    spread = distance;
    moved += 10;
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, pointIn(stage, event));
    moved = 0;
  });
  stage.addEventListener("pointermove", (event) => {
    const now = pointIn(stage, event);
    const last = pointers.get(event.pointerId);
    if (!last) {
      on.hover(now, event);
      return;
    }
    pointers.set(event.pointerId, now);
    if (pointers.size === 2) {
      pinch([...pointers.values()] as [Point, Point]);
      return;
    }
    moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
    if (moved > STILL) {
      stage.classList.add("dragging");
      on.hover(null, event);
      const { width, height } = on.size();
      on.pan((last.x - now.x) / width, (now.y - last.y) / height);
    }
  });
  const release = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    spread = 0;
    stage.classList.remove("dragging");
    if (moved <= STILL && event.type === "pointerup") on.click(pointIn(stage, event));
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);
}
