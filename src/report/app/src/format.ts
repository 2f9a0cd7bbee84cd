// Numbers and names as people read them; numbers exactly as the library writes them (FormatBytes).
/** A whole number; as text where JavaScript's numbers would round it. */
export type Num = number | string;

/** 1,234,567: every digit, however large. */
export function grouped(value: Num): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** "1.5 MiB": exact where it is a whole number of units, else three significant digits. */
export function bytes(value: Num): string {
  const exact = BigInt(value);
  const size = exact < 0n ? -exact : exact;
  const sign = exact < 0n ? "-" : "";
  if (size < 1024n) return `${sign}${size} B`;
  let unit = 1;
  while (unit + 1 < UNITS.length && size >= 1n << BigInt(10 * (unit + 1))) ++unit;
  for (;;) {
    const one = 1n << BigInt(10 * unit);
    const whole = size / one;
    const decimals = whole >= 100n ? 0 : whole >= 10n ? 1 : 2;
    const scale = 10n ** BigInt(decimals);
    const rounded = (size * scale + one / 2n) / one;
    if (rounded >= 1024n * scale && unit + 1 < UNITS.length) {
      ++unit; // Rounds up to one of the next unit.
      continue;
    }
    let digits = decimals ? String(rounded % scale).padStart(decimals, "0") : "";
    if ((size * scale) % one === 0n) digits = digits.replace(/0+$/, "");
    return `${sign}${rounded / scale}${digits && "."}${digits} ${UNITS[unit]}`;
  }
}

export function percent(part: Num, whole: Num): string {
  const share = Number(whole) === 0 ? 0 : (100 * Number(part)) / Number(whole);
  if (share !== 0 && Math.abs(share) < 0.1) return share < 0 ? "> -0.1 %" : "< 0.1 %";
  // Nearly all is not all: 99.7 % must not read as 100 %.
  const size = Math.abs(share);
  if (size > 99 && size < 100)
    return `${(Math.sign(share) * Math.min(99.9, Number(size.toFixed(1)))).toFixed(1)} %`;
  return `${share.toFixed(size < 10 ? 1 : 0)} %`;
}

/** A share with three significant digits, as the command prints it (FormatPercentFinely). */
export function percentFinely(part: Num, whole: Num, down = false): string {
  const share = Number(whole) > 0 ? (100 * Number(part)) / Number(whole) : 0;
  if (share <= 0) return "0 %";
  const decimals = Math.min(Math.max(2 - Math.floor(Math.log10(share)), 0), 9);
  const scale = 10 ** decimals;
  return `${(down ? Math.floor(share * scale) / scale : share).toFixed(decimals)} %`;
}

/** A time as the command prints it (FormatSeconds). */
export function duration(seconds: number): string {
  if (seconds < 0.0995) {
    const milliseconds = seconds * 1000;
    return `${milliseconds.toFixed(milliseconds < 0.995 ? 2 : 1)} ms`;
  }
  if (seconds < 119.5) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  return `${grouped(Math.floor(whole / 60))} min ${whole % 60} s`;
}

const TIMES: [string, bigint][] = [
  ["s", 1000000000000n],
  ["ms", 1000000000n],
  ["us", 1000000n],
  ["ns", 1000n],
  ["ps", 1n],
];
/** A cost as the command prints it (FormatCost): a time with three digits, else all digits. */
export function cost(value: Num, unit: string): string {
  const exactly = `${grouped(value)}${unit ? ` ${visible(unit)}` : ""}`;
  const own = TIMES.find(([name]) => name === unit)?.[1];
  const whole = BigInt(value);
  if (!own || whole < 1000n) return exactly;
  const [name, size] = TIMES.find(([, each]) => each >= own && whole * own >= each)!;
  const one = size / own;
  let scale = 1n;
  while (scale < 100n && (whole / one) * scale < 100n) scale *= 10n;
  const digits = (whole * scale * 2n + one) / (one * 2n);
  const decimals = scale > 1n ? `.${String(scale + (digits % scale)).slice(1)}` : "";
  return `${grouped(String(digits / scale))}${decimals} ${name}`;
}

export function difference(x: Num, y: Num): Num {
  if (typeof x === "number" && typeof y === "number") return x - y;
  return String(BigInt(x) - BigInt(y));
}
export function sum(values: Num[]): Num {
  let total = 0;
  for (const value of values) {
    total += Number(value);
    if (!Number.isSafeInteger(total)) {
      return String(values.reduce((all, each) => all + BigInt(each), 0n));
    }
  }
  return total;
}

/** Foreign text, made visible: characters that reverse or hide text would make the page lie. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => (c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : "\ufffd"),
  );
}

/** At most `most` characters, with the middle left out. */
export function abridged(text: string, most: number): string {
  if (text.length <= most) return visible(text);
  const characters = Array.from(
    text.length > 4 * most ? text.slice(0, 2 * most) + text.slice(-2 * most) : text,
  );
  if (characters.length <= most) return visible(text);
  const head = Math.ceil((most - 1) / 2);
  const tail = most - 1 - head;
  return visible(
    characters.slice(0, head).join("") + "…" + (tail ? characters.slice(-tail).join("") : ""),
  );
}

/** Rows as CSV; null is an empty cell. */
export function csvTable(header: string, rows: (Num | null)[][]): string {
  const cell = (value: Num | null) => {
    const text = String(value ?? "");
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [header, ...rows.map((row) => row.map(cell).join(","))].join("\n") + "\n";
}

const SCALE: Record<string, bigint> = {
  "": 1n,
  b: 1n,
  k: 1n << 10n,
  kib: 1n << 10n,
  kb: 1000n,
  m: 1n << 20n,
  mib: 1n << 20n,
  mb: 1000000n,
  g: 1n << 30n,
  gib: 1n << 30n,
  gb: 1000000000n,
};
/** "1.5MiB" in bytes; NaN if it is not a size. */
export function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const unit = match && SCALE[match[2]!.toLowerCase()];
  return match && unit ? Number(match[1]) * Number(unit) : NaN;
}
