// Why a plan does not fit.
import type { Data, Num, Plan } from "./data";
import { h } from "./dom";
import { bytes, difference, grouped } from "./format";
import { button } from "./parts";

type Conflict = NonNullable<Data["conflict"]>;

export function conflictSentence(c: Conflict): string {
  const one = c.buffers.length === 1;
  const count = `${grouped(c.buffers.length)} buffer${one ? "" : "s"}`;
  if (c.pins_collide) return "Two pinned buffers overlap at any capacity. Move one of them.";
  if (c.capacity !== null && Number(c.load) > Number(c.capacity)) {
    const what = one ? "One buffer alone needs" : `These ${count} are live together and need`;
    return (
      `${what} ${bytes(c.load)} at step ${grouped(c.step)}, ` +
      `${bytes(c.short_by)} more than the capacity of ${bytes(c.capacity)}.`
    );
  }
  return (
    `These ${count} cannot be placed together in ${bytes(c.capacity ?? 0)}, although at most ` +
    `${bytes(c.load)} of them are live at once (step ${grouped(c.step)}): ` +
    `at least ${bytes(c.short_by)} are missing.`
  );
}

/** How many bytes the capacity lacks for the whole, as the command says it; nothing for spills. */
function missingSentence(head: Plan["head"]): string {
  const { capacity, height, heightBound } = head;
  if (capacity === null || head.traffic) return "";
  const least = Math.max(0, Number(heightBound ?? 0) - Number(capacity));
  if (height === null) return least > 0 ? `At least ${bytes(least)} are missing. ` : "";
  const most = difference(height, capacity);
  const exact = (n: Num) => `${bytes(n)} (${grouped(n)} B)`;
  if (least === Number(most)) return `${exact(most)} are missing. `;
  if (least === 0) return `At most ${exact(most)} are missing. `;
  return `Between ${exact(least)} and ${exact(most)} are missing. `;
}

export function conflictBox(c: Conflict, head: Plan["head"], show: () => void): HTMLElement {
  const minimal = c.minimal && c.buffers.length > 1 && !c.pins_collide;
  const enough = c.works_with;
  return h(
    "section",
    { class: "conflict", "aria-label": "Why it does not fit" },
    h("h2", {}, "Why it does not fit"),
    h("p", {}, h("strong", {}, c.pins_collide ? "" : missingSentence(head)), conflictSentence(c)),
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
