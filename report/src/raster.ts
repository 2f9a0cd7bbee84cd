// Rectangles into pixels. A plan's rectangles do not overlap, so filling them touches each pixel once
// at most, and a hundred thousand take a few milliseconds whatever the zoom: there is nothing to
// index, to cache or to leave out. A rectangle never vanishes: what is thinner than a pixel gets one.
import type { Rectangles } from "./data";
import { PATTERNS } from "./colors";

/** What is seen, in steps and bytes. */
export interface View {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}
export interface Paint {
  fill: Uint32Array; // By class.
  edge: Uint32Array;
  ink: Uint32Array;
  pattern: Uint8Array;
  faint: Uint32Array; // Of what a filter leaves out.
}
export interface Label {
  buffer: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export function rasterize(
  pixels: Uint32Array,
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
  const sx = width / (view.x1 - view.x0);
  const sy = height / (view.y1 - view.y0);
  const count = buffer.length;
  const bordered = Math.max(3, Math.round(3 * scale));
  const thick = Math.max(1, Math.round(scale));
  // What a filter keeps is drawn over what it leaves out, where both share a pixel.
  for (let pass = kept ? 0 : 1; pass < 2; ++pass) {
    for (let k = 0; k < count; ++k) {
      if (x1[k]! <= view.x0 || x0[k]! >= view.x1 || y1[k]! <= view.y0 || y0[k]! >= view.y1) continue;
      const b = buffer[k]!;
      if (kept && (kept[b] === 1) !== (pass === 1)) continue;
      let left = Math.round((x0[k]! - view.x0) * sx);
      let right = Math.round((x1[k]! - view.x0) * sx);
      let top = Math.round(height - (y1[k]! - view.y0) * sy);
      let bottom = Math.round(height - (y0[k]! - view.y0) * sy);
      if (right <= left) right = left + 1;
      if (bottom <= top) top = bottom - 1;
      const wide = right - left > bordered;
      const tall = bottom - top > bordered;
      const leftEdge = wide && left >= 0 ? left : -1;
      const topEdge = tall && top >= 0 ? top : -1;
      if (left < 0) left = 0;
      if (top < 0) top = 0;
      if (right > width) right = width;
      if (bottom > height) bottom = height;
      if (left >= right || top >= bottom) continue;
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
