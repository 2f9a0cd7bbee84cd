// Ticks of axes.

/** Ticks at 1, 2 or 5 times a power of ten, or at powers of two; `most` of them or fewer. */
export function ticks(from: number, to: number, most: number, binary: boolean): number[] {
  const rough = Math.max((to - from) / Math.max(most, 1), Number.MIN_VALUE);
  let step: number;
  if (binary) {
    step = 2 ** Math.ceil(Math.log2(rough));
  } else {
    const power = 10 ** Math.floor(Math.log10(rough));
    step = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10);
  }
  step = Math.max(step, 1);
  const all: number[] = [];
  for (let tick = Math.ceil(from / step) * step; tick <= to && all.length < 100; tick += step)
    all.push(tick);
  return all;
}

/** Bytes along an axis, evenly or by their logarithm; zero then has a place below the smallest. */
export class ByteAxis {
  private readonly zero: number;
  /** Nothing is above zero, so no other tick would mean anything. */
  private readonly flat: boolean;

  /** `binary`: ticks are at powers of two, as bytes have them. */
  constructor(
    readonly log: boolean,
    values: Iterable<number>,
    private readonly binary = true,
  ) {
    let least = Infinity;
    for (const value of values) if (value > 0 && value < least) least = value;
    this.flat = !Number.isFinite(least);
    this.zero = this.flat ? 0 : Math.floor(Math.log2(least)) - 1;
  }
  /** Where on the axis, in its own unit. */
  of(bytes: number): number {
    if (!this.log) return bytes;
    return bytes > 0 ? Math.log2(bytes) : this.zero;
  }
  ticks(from: number, to: number, most: number): { at: number; bytes: number }[] {
    if (this.flat) {
      const at = this.of(0);
      return at >= from && at <= to ? [{ at, bytes: 0 }] : [];
    }
    if (!this.log)
      return ticks(from, to, most, this.binary).map((tick) => ({ at: tick, bytes: tick }));
    const marks: { at: number; bytes: number }[] = [];
    if (this.zero >= from && this.zero <= to) marks.push({ at: this.zero, bytes: 0 });
    const low = Math.max(from, this.zero + 0.5);
    if (to - low < 3) {
      // Within a few octaves powers of two would be too few.
      for (const tick of ticks(2 ** low, 2 ** to, most, this.binary))
        marks.push({ at: Math.log2(tick), bytes: tick });
      return marks;
    }
    const step = Math.max(1, Math.ceil((to - low) / Math.max(most, 1)));
    for (let tick = Math.ceil(low / step) * step; tick <= to; tick += step)
      marks.push({ at: tick, bytes: 2 ** tick });
    return marks;
  }
}
