// Rectangles into pixels. A plan's rectangles do not overlap, so filling them touches each pixel once
// at most, and a hundred thousand take a few milliseconds whatever the zoom: there is nothing to
// index, to cache or to leave out. A rectangle never vanishes: what is thinner than a pixel gets one.
import { PATTERNS } from "./colors";
import type { Rectangles } from "./data";
import type { View } from "./gestures";

export interface Paint {
  fill: Int32Array; // By class.
  edge: Int32Array;
  ink: Int32Array;
  pattern: Uint8Array;
  faint: Int32Array; // Of what a filter leaves out.
}
export interface Label {
  buffer: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export function rasterize(
  pixels: Int32Array,
  width: number,
  height: number,
  rectangles: Rectangles,
  view: View,
  classes: Uint8Array,
  paint: Paint,
  kept: Uint8Array | null,
  background: number,
  scale: number,
  labels: Label[] | null,
): void {
  pixels.fill(background);
  const { x0, x1, y0, y1, buffer } = rectangles;
  const { x0: vx0, x1: vx1, y0: vy0, y1: vy1 } = view;
  const sx = width / (view.x1 - view.x0);
  const sy = height / (view.y1 - view.y0);
  const count = buffer.length;
  const bordered = Math.max(3, Math.round(3 * scale));
  const thick = Math.max(1, Math.round(scale));
  // What a filter keeps is drawn over what it leaves out, where both share a pixel.
  for (let pass = kept ? 0 : 1; pass < 2; ++pass) {
    for (let k = 0; k < count; ++k) {
      if (x1[k]! <= vx0 || x0[k]! >= vx1 || y1[k]! <= vy0 || y0[k]! >= vy1) continue;
      const b = buffer[k]!;
      if (kept && (kept[b] === 1) !== (pass === 1)) continue;
      // Cut off at the rim before rounding: from close by, coordinates exceed 32 bits.
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
      const leftEdge = right - left > bordered && fx0 >= 0 ? left : -1;
      const topEdge = bottom - top > bordered && fy0 >= 0 ? top : -1;
      const c = classes[b]!;
      const on = pass === 1;
      const fill = on ? paint.fill[c]! : paint.faint[c]!;
      const edge = on ? paint.edge[c]! : fill;
      if (right - left < 8) {
        for (let y = top; y < bottom; ++y) {
          const row = y * width;
          for (let x = left; x < right; ++x) pixels[row + x] = fill;
        }
      } else {
        for (let y = top; y < bottom; ++y) pixels.fill(fill, y * width + left, y * width + right);
      }
      if (on && paint.pattern[c] && right - left > 9 * scale && bottom - top > 7 * scale) {
        const inked = PATTERNS[paint.pattern[c]!]!;
        const ink = paint.ink[c]!;
        for (let y = top; y < bottom; ++y) {
          const py = Math.floor(y / scale);
          for (let x = left; x < right; ++x) {
            if (inked(Math.floor(x / scale), py)) pixels[y * width + x] = ink;
          }
        }
      }
      if (topEdge >= 0) {
        for (let t = 0; t < thick && topEdge + t < bottom; ++t) {
          pixels.fill(edge, (topEdge + t) * width + left, (topEdge + t) * width + right);
        }
      }
      if (leftEdge >= 0) {
        for (let y = top; y < bottom; ++y) {
          for (let t = 0; t < thick && leftEdge + t < right; ++t) pixels[y * width + leftEdge + t] = edge;
        }
      }
      if (labels && on && right - left > 44 * scale && bottom - top > 13 * scale) {
        labels.push({ buffer: b, x: left, y: top, width: right - left, height: bottom - top });
      }
    }
  }
}
