// Rectangles into pixels. A plan's rectangles do not overlap, so filling them touches each pixel at
// most once, and a hundred thousand take a few milliseconds at any zoom: no index, no cache,
// nothing left out. A rectangle never vanishes: what is thinner than a pixel gets one.
import { PATTERNS } from "./colors";
import type { Rectangles } from "./data";
import type { View } from "./gestures";

export interface Paint {
  fill: Int32Array; // By class.
  edge: Int32Array;
  ink: Int32Array;
  pattern: Uint8Array;
  faint: number; // Of grid lines, and of what a filter leaves out.
  background: number;
}
/** The pixels that are painted, and how many of them make a CSS pixel. */
export interface Canvas {
  pixels: Int32Array;
  width: number;
  height: number;
  scale: number;
}
/** A rectangle in pixels; also where a label may stand. */
export interface Label {
  buffer: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** `grid`: rows of pixels that lie below the rectangles. */
export function rasterize(
  canvas: Canvas,
  grid: number[],
  rectangles: Rectangles,
  view: View,
  classes: Uint8Array,
  paint: Paint,
  kept: Uint8Array | null,
  labels: Label[] | null,
): void {
  canvas.pixels.fill(paint.background);
  const { width, height, scale } = canvas;
  for (const row of grid) fill(canvas, paint.faint, 0, width, row, Math.min(row + 1, height));
  const { x0, x1, y0, y1, buffer } = rectangles;
  const { x0: vx0, x1: vx1, y0: vy0, y1: vy1 } = view;
  const sx = width / (vx1 - vx0);
  const sy = height / (vy1 - vy0);
  const bordered = Math.max(3, Math.round(3 * scale));
  // What a filter keeps is drawn over what it leaves out, where both share a pixel.
  for (let pass = kept ? 0 : 1; pass < 2; ++pass) {
    const on = pass === 1;
    for (let k = 0; k < buffer.length; ++k) {
      if (x1[k]! <= vx0 || x0[k]! >= vx1 || y1[k]! <= vy0 || y0[k]! >= vy1) continue;
      const b = buffer[k]!;
      if (kept && (kept[b] === 1) !== on) continue;
      // Clipped before rounding: at high zoom, coordinates exceed 32 bits.
      const fx0 = (x0[k]! - vx0) * sx;
      const fx1 = (x1[k]! - vx0) * sx;
      const fy0 = height - (y1[k]! - vy0) * sy;
      const fy1 = height - (y0[k]! - vy0) * sy;
      let left = fx0 < 0 ? 0 : (fx0 + 0.5) | 0;
      let right = fx1 > width ? width : (fx1 + 0.5) | 0;
      let top = fy0 < 0 ? 0 : (fy0 + 0.5) | 0;
      let bottom = fy1 > height ? height : (fy1 + 0.5) | 0;
      if (right <= left) {
        if (left === width) --left;
        right = left + 1;
      }
      if (bottom <= top) {
        if (bottom === 0) ++bottom;
        top = bottom - 1;
      }
      const c = classes[b]!;
      fill(canvas, on ? paint.fill[c]! : paint.faint, left, right, top, bottom);
      if (!on) continue;
      if (paint.pattern[c] && right - left > 9 * scale && bottom - top > 7 * scale) {
        hatch(canvas, paint.pattern[c]!, paint.ink[c]!, left, right, top, bottom);
      }
      const thick = Math.max(1, Math.round(scale));
      if (bottom - top > bordered && fy0 >= 0) {
        fill(canvas, paint.edge[c]!, left, right, top, Math.min(top + thick, bottom));
      }
      if (right - left > bordered && fx0 >= 0) {
        fill(canvas, paint.edge[c]!, left, Math.min(left + thick, right), top, bottom);
      }
      if (labels && right - left > 44 * scale && bottom - top > 13 * scale) {
        labels.push({ buffer: b, x: left, y: top, width: right - left, height: bottom - top });
      }
    }
  }
}

/** Rows of a few pixels are faster one by one. */
const NARROW = 8;

function fill(
  { pixels, width }: Canvas,
  color: number,
  left: number,
  right: number,
  top: number,
  bottom: number,
): void {
  for (let y = top; y < bottom; ++y) {
    const row = y * width;
    if (right - left < NARROW) {
      for (let x = left; x < right; ++x) pixels[row + x] = color;
    } else {
      pixels.fill(color, row + left, row + right);
    }
  }
}

function hatch(
  { pixels, width, scale }: Canvas,
  pattern: number,
  ink: number,
  left: number,
  right: number,
  top: number,
  bottom: number,
): void {
  const inked = PATTERNS[pattern]!;
  for (let y = top; y < bottom; ++y) {
    const py = Math.floor(y / scale);
    for (let x = left; x < right; ++x) {
      if (inked(Math.floor(x / scale), py)) pixels[y * width + x] = ink;
    }
  }
}
