// Small pieces that the parts of a page share.
import type { Num } from "./data";
import { type Child, h, withKeys } from "./dom";
import { bytes, grouped } from "./format";

const MOST_LISTED = 12;

/** Bytes in short and exact form. */
export function amount(value: Num | null, what = ""): HTMLElement {
  if (value === null) return h("span", { class: "none" }, "none");
  const short = bytes(value);
  const exact = `${grouped(value)} B`;
  return h(
    "span",
    { class: "amount", "data-value": String(value), ...(what ? { "data-figure": what } : {}) },
    h("b", {}, short),
    short === exact ? null : h("small", {}, exact),
  );
}

export function button(text: string, act: () => void, title = ""): HTMLElement {
  return h(
    "button",
    { type: "button", onclick: act, ...(title ? { title, "aria-label": title } : {}) },
    text,
  );
}

type Entry = [value: string, title: string];
const options = (entries: Entry[]) =>
  entries.map(([value, title]) => h("option", { value }, title));

/** A choice that acts and then shows its first entry again. `groups`: more entries, with titles. */
export function menu(
  label: string,
  entries: Entry[],
  act: (value: string) => void,
  groups: [title: string, entries: Entry[]][] = [],
): HTMLElement {
  const list = h(
    "select",
    { "aria-label": label },
    ...options(entries),
    ...groups.map(([title, each]) => h("optgroup", { label: title }, ...options(each))),
  ) as HTMLSelectElement;
  list.addEventListener("change", () => {
    act(list.value);
    list.value = entries[0]![0];
  });
  return list;
}

/** The first few of a list, and how many more there are. */
export function some(items: number[], make: (item: number) => HTMLElement): HTMLElement {
  const list = h("ul", {}, ...items.slice(0, MOST_LISTED).map((item) => h("li", {}, make(item))));
  if (items.length > MOST_LISTED)
    list.append(h("li", {}, `and ${grouped(items.length - MOST_LISTED)} more`));
  return list;
}

/** One of the figures at the top. */
export function figure(title: string, value: Child, note: Child = null, tone = ""): HTMLElement {
  return h(
    "div",
    {},
    h("dt", {}, title),
    h("dd", {}, value, note ? h("span", { class: `note ${tone}` }, note) : null),
  );
}

export type Tone = "good" | "unsure" | "bad";

/** The top of a page: title, result and figures. */
export function top(
  command: string,
  title: Child[],
  tone: Tone,
  badge: Child[],
  figures: Child[],
): HTMLElement {
  return h(
    "header",
    {},
    h(
      "div",
      { class: "title" },
      h("p", { class: "eyebrow" }, `Berth ${command}`),
      h("h1", {}, ...title),
      h("p", { class: `badge ${tone}` }, ...badge),
    ),
    h("dl", { class: "figures" }, ...figures),
  );
}

/** A command with a button that copies it. */
export function commandLine(command: string): HTMLElement {
  // Lines break between words, never within a flag.
  const words = command
    .split(/( )/)
    .map((word) => (word.startsWith("--") ? h("span", { class: "flag" }, word) : word));
  const text = h("code", {}, h("bdi", { dir: "ltr" }, ...words));
  const copy = button("Copy", () => void copyText(command, text, copy), "Copy the command");
  return h("div", { class: "command" }, text, copy);
}
/** Where there is no clipboard, selects the text, so that a key copies it. */
async function copyText(text: string, shown: HTMLElement, pressed: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    pressed.textContent = "Copied";
  } catch {
    getSelection()?.selectAllChildren(shown);
    pressed.textContent = "Selected";
  }
  setTimeout(() => (pressed.textContent = "Copy"), 2000);
}

/** In place of the details of a selection. */
export function nothingSelected(hint: string): HTMLElement[] {
  return [h("h2", {}, "Nothing selected"), h("p", {}, ...withKeys(hint))];
}

/** A picture with its title. */
export function pictureBox(title: string, ...content: Child[]): HTMLElement {
  const heading = h("h2", {}, h("bdi", {}, title));
  return h("section", { class: "plot-box", "aria-label": title }, heading, ...content);
}

/** Titles and what they say; for `dl`. */
export function facts(rows: [string, ...Child[]][]): Child[] {
  return rows.flatMap(([title, ...value]) => [h("dt", {}, title), h("dd", {}, ...value)]);
}

/** A small table that is written out whole; all columns hold numbers except `text`. */
export function plainTable(
  style: string,
  titles: string[],
  rows: Child[][],
  text: number,
): HTMLElement {
  const look = (k: number) => (k === text ? "" : "number");
  const head = titles.map((title, k) => h("th", { scope: "col", class: look(k) }, title));
  const body = rows.map((row) =>
    h("tr", {}, ...row.map((cell, k) => h("td", { class: look(k) }, cell))),
  );
  return h(
    "table",
    { class: style },
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...body),
  );
}
