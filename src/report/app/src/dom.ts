// Elements without markup: text from a plan only ever becomes text.
import { abridged } from "./format";

type Attributes = Record<string, string | boolean | ((event: Event) => void)>;
export type Child = Node | string | null | undefined | false;

export function h(tag: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Text in which what stands between backquotes is a key to press. */
export function withKeys(text: string): Child[] {
  return text.split("`").map((part, i) => (i % 2 ? h("kbd", {}, part) : part));
}

/** An element of SVG, with its numbers rounded to hundredths. */
export function svg(
  tag: string,
  attributes: Record<string, string | number> = {},
  ...children: Child[]
): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(
      name,
      typeof value === "number" ? String(Math.round(value * 100) / 100) : value,
    );
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A name from a plan: isolated from the text direction around it, and abridged if long. */
export function named(text: string, most = 60): HTMLElement {
  const element = h("bdi", {}, abridged(text, most));
  if (text.length > most) element.title = abridged(text, 400);
  return element;
}
