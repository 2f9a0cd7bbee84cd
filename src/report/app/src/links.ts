// Names that select what they name.
import { h, named } from "./dom";
import { abridged, grouped } from "./format";
import type { PlanApp } from "./plan-app";

export function bufferLink(app: PlanApp, side: number, buffer: number): HTMLElement {
  const plan = app.plans[side]!;
  const full = plan.name(buffer);
  // Lines break between folders.
  const parts = plan.shortName(buffer, 40).split(/(?<=\/)/);
  const name = h("bdi", {}, ...parts.flatMap((part, i) => (i ? [h("wbr"), part] : [part])));
  if (full.length > 40) name.title = abridged(full, 400);
  const select = () => app.select(side, buffer, true);
  return h("button", { type: "button", class: "link", onclick: select }, name);
}
export function stepLink(app: PlanApp, step: number): HTMLElement {
  const { operators } = app.plans[0]!.raw.graph!;
  const name = operators.name[step]!;
  const type = operators.type[step]!;
  const told = !type || name.toLowerCase().startsWith(type.toLowerCase());
  return h(
    "button",
    { type: "button", class: "link", onclick: () => app.selectStep(step) },
    named(name, 40),
    h("small", {}, ` ${told ? "" : `${abridged(type, 24)}, `}step ${grouped(step)}`),
  );
}
