// Why a plan does not fit.
import type { Data } from "./data";
import { h } from "./dom";
import { bytes, grouped } from "./format";
import { button } from "./parts";

type Conflict = NonNullable<Data["conflict"]>;

export function conflictSentence(c: Conflict): string {
  const one = c.buffers.length === 1;
  const count = `${grouped(c.buffers.length)} buffer${one ? "" : "s"}`;
  if (c.pins_collide) return "Two pinned buffers overlap at any capacity. Move one of them.";
  if (c.capacity !== null && Number(c.load) > Number(c.capacity)) {
    const why = one ? "this buffer alone does not fit." : `these ${count} are live together.`;
    return (
      `Needs ${bytes(c.load)} of ${bytes(c.capacity)} at step ${grouped(c.step)}, ` +
      `short by ${bytes(c.short_by)}: ${why}`
    );
  }
  return (
    `These ${count} cannot be placed together in ${bytes(c.capacity ?? 0)}, although at most ` +
    `${bytes(c.load)} of them are live at once (step ${grouped(c.step)}): ` +
    `short by at least ${bytes(c.short_by)}.`
  );
}

export function conflictBox(c: Conflict, show: () => void): HTMLElement {
  const minimal = c.minimal && c.buffers.length > 1 && !c.pins_collide;
  const enough = c.works_with;
  return h(
    "section",
    { class: "conflict", "aria-label": "Why it does not fit" },
    h("h2", {}, "Why it does not fit"),
    h("p", {}, conflictSentence(c)),
    h(
      "p",
      { class: "note" },
      minimal ? "Without any one of these, the others fit. " : "",
      enough !== null
        ? `Enough: ${bytes(enough)} (${grouped(enough)} B), the smallest capacity known to work. `
        : "",
      button("Show these buffers", show),
    ),
  );
}
