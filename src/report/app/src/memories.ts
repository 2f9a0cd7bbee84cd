// Several memories: what each holds, what each buffer costs in each, and why a buffer is not
// where it would cost the least.
import type { Displaced, Move, Num, Plan } from "./data";
import { bufferLink } from "./links";
import { type Child, h, named } from "./dom";
import { abridged, bytes, cost, difference, grouped, percent, sum } from "./format";
import { button, plainTable, some } from "./parts";
import type { PlanApp } from "./plan-app";
import { type TableColumn, names, numbers } from "./table";

const MOST_DETAILS = 8;

const memoryName = (plan: Plan, m: number) => abridged(plan.raw.memories![m]!.name, 30);

/** The memory of the buffer `of` a row. */
export const memoryColumn = (plan: Plan, of: (row: number) => number): TableColumn =>
  names("Memory", "minmax(5rem, 1fr)", 30, (row) => memoryName(plan, plan.laneOfBuffer(of(row))));

export function memoryColumns(plan: Plan): TableColumn[] {
  if (!plan.raw.memories) return [];
  const unit = plan.head.costUnit;
  return [
    memoryColumn(plan, (i) => i),
    ...(plan.raw.costs
      ? [
          {
            ...numbers("Cost", "6.5rem", (i) => plan.costOf(i)),
            text: (i: number) => cost(plan.costOf(i) ?? 0, unit),
          },
        ]
      : []),
  ];
}

/** What is in the way of a buffer, as short as it is true. */
export function reasonOf(plan: Plan, each: Displaced): string {
  const there = memoryName(plan, each.cheaper);
  switch (each.reason) {
    case "memory": {
      const { capacity } = plan.raw.memories![each.cheaper]!;
      const size = plan.raw.buffers.size[each.buffers[0]!]!;
      return capacity !== null && Number(size) > Number(capacity)
        ? `it is larger than ${there}, which has ${bytes(capacity)}`
        : `${there} has no place for it, even if it holds nothing else`;
    }
    case "bytes":
      return (
        `at step ${grouped(each.step!)}, ${bytes(each.free)} of ${there} are free, ` +
        `and it needs ${bytes(each.needed)}`
      );
    case "places":
      return `enough bytes of ${there} are free at each of its steps, but nowhere the same ones`;
    case "nothing":
      return `nothing is in the way in ${there}: a better plan exists`;
  }
}
/** What the buffers in the way are worth where they are. */
function worthOf(plan: Plan, each: Displaced): string {
  const unit = plan.head.costUnit;
  const gain = cost(difference(each.cost, each.least), unit);
  const one = each.all_in_the_way === 1;
  const way = `At offset ${grouped(each.offset!)}, where that costs the others the least, `;
  const count = `${grouped(each.all_in_the_way)} buffer${one ? " is" : "s are"} in the way. `;
  const saves =
    each.saved === null
      ? one
        ? "It has no other place"
        : "Not all of these have another place"
      : `${one ? "It saves" : "They save"} ${cost(each.saved, unit)} by being there`;
  return `${way}${count}${saves}; this one would save ${gain}.`;
}

export function costFacts(app: PlanApp, side: number, i: number): [string, ...Child[]][] {
  const plan = app.plans[side]!;
  const { memories, costs } = plan.raw;
  if (!memories) return [];
  const here = plan.laneOfBuffer(i);
  if (!costs) return [["In memory", h("b", {}, memoryName(plan, here))]];
  // Of what is copied, elsewhere would be another plan.
  const copied = plan.copiesOf(i).length > 0;
  const rows = memories.flatMap((_, m): HTMLElement[] => {
    if (copied && m !== here) return [];
    const value = costs[m]![i]!;
    const text = value === null ? "not allowed" : cost(value, plan.head.costUnit);
    const name = named(memoryName(plan, m), 30);
    return [h("li", {}, m === here ? h("b", {}, name) : name, `: ${text}`)];
  });
  return [
    ["In memory", h("b", {}, memoryName(plan, here))],
    ["Cost in", h("ul", {}, ...rows)],
  ];
}

/** For the selected buffer: why it is not in a faster memory. */
export function whyDetails(app: PlanApp, side: number, i: number): HTMLElement[] {
  const plan = app.plans[side]!;
  if (!plan.raw.memories) return [];
  const found = plan.displaced.get(i) ?? [];
  if (plan.copiesOf(i).length) {
    const text = plan.raw.run
      ? "It is copied while operators run. Without its copies the run would be another one."
      : "It is copied: what its accesses cost in each memory, and the copies, are the least that " +
        "was found.";
    return [h("h2", { class: "second" }, "Why it is here"), h("p", {}, text)];
  }
  if (!plan.raw.costs) return [];
  if (!found.length) {
    const text =
      plan.cheapestOf(i) < 0
        ? "It costs no less in any other memory."
        : "Others would save more by being elsewhere; this one was not examined.";
    return [h("h2", { class: "second" }, "Why it is here"), h("p", {}, text)];
  }
  return found.flatMap((each) => {
    const ways = each.in_the_way;
    const free = each.offset === null ? null : `It could be at offset ${grouped(each.offset)}.`;
    const rest = each.all_in_the_way - ways.length;
    return [
      h("h2", { class: "second" }, `Why it is not in ${memoryName(plan, each.cheaper)}`),
      h("p", {}, `${sentence(reasonOf(plan, each))}.`),
      ...(ways.length
        ? [
            h("p", {}, worthOf(plan, each)),
            some(ways, (other) => bufferLink(app, side, other)),
            rest > 0 ? h("p", { class: "note" }, `and ${grouped(rest)} more`) : "",
          ]
        : [free === null ? "" : h("p", {}, free)]),
    ].filter((part): part is HTMLElement => part !== "");
  });
}
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** While nothing is selected: where the cost comes from. */
export function costDetails(app: PlanApp): HTMLElement[] {
  const plan = app.plans[0]!;
  const unit = plan.head.costUnit;
  const most = firstOf(plan).slice(0, MOST_DETAILS);
  const all = Number(plan.head.cost ?? 0);
  if (!most.length)
    return [
      h("h2", {}, "Nothing to gain"),
      h(
        "p",
        {},
        plan.raw.copies.length
          ? "Every buffer that is not copied is in the memory where it costs the least."
          : "Every buffer is in the memory where it costs the least.",
      ),
    ];
  const rows = most.map((each) => {
    const gain = difference(each.cost, each.least);
    return h(
      "li",
      {},
      bufferLink(app, 0, each.buffers[0]!),
      h("span", {}, cost(gain, unit)),
      h("span", {}, percent(gain, all)),
      h("i", { style: `width:${Math.min(100, (100 * Number(gain)) / Math.max(1, all))}%` }),
    );
  });
  return [
    h("h2", {}, "What would save the most elsewhere"),
    h("p", {}, "Each by itself, in the memory where it costs the least, of the whole cost."),
    h("ul", { class: "at-peak" }, ...rows),
    button("All, and why", () => app.openTab("displaced")),
  ];
}

/** Of the spills of a plan, those out of one of several memories and back, in bytes. */
export function movesIn(plan: Plan, moves: Move[], m: number): { written: Num; read: Num } {
  const here = moves.filter(({ from }) => plan.laneOfBuffer(from) === m);
  return { written: sum(here.map((one) => one.written)), read: sum(here.map((one) => one.read)) };
}

/** While nothing is selected: what has the most traffic. */
export function trafficDetails(app: PlanApp): HTMLElement[] {
  const plan = app.plans[0]!;
  const { tensor } = plan.raw.buffers;
  const all = plan.head.traffic!.avoidable;
  const by = new Map<number, { first: number; moved: Num }>();
  for (const { from, written, read } of app.moves) {
    const { first, moved } = by.get(tensor![from]!) ?? { first: from, moved: 0 };
    by.set(tensor![from]!, { first, moved: sum([moved, written, read]) });
  }
  if (!by.size)
    return [
      h("h2", {}, "Nothing is spilled"),
      h("p", {}, "Every tensor stays in its memory as long as it is needed."),
    ];
  const most = [...by.values()].sort((x, y) => Number(difference(y.moved, x.moved)));
  const rows = most
    .slice(0, MOST_DETAILS)
    .map(({ first, moved }) =>
      h(
        "li",
        {},
        bufferLink(app, 0, first),
        h("span", {}, bytes(moved)),
        h("span", {}, percent(moved, all)),
        h("i", { style: `width:${(100 * Number(moved)) / Math.max(1, Number(all))}%` }),
      ),
    );
  return [
    h("h2", {}, "What has the most traffic"),
    h("p", {}, "Written out of a memory and read back, of all that is avoidable."),
    h("ul", { class: "at-peak" }, ...rows),
    button("All transfers", () => app.openTab("transfers")),
  ];
}

/** Of each buffer the memory where it would cost the least; the most savings first. */
function firstOf(plan: Plan): Displaced[] {
  const seen = new Set<number>();
  return plan.raw.displaced!.filter((each) => {
    const first = each.buffers[0]!;
    if (seen.has(first)) return false;
    seen.add(first);
    return true;
  });
}

export function memoriesPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const { memories, buffers, left_out: out } = plan.raw;
  const unit = plan.head.costUnit;
  const counts = memories!.map((_, m) => buffers.memory!.filter((each) => each === m).length);
  const figures = (m: number): Child[] => {
    if (!plan.scratchpads) {
      const own = memories![m]!.cost;
      return own === null ? [] : [cost(own, unit), percent(own, plan.head.cost ?? 0)];
    }
    const { written, read } = movesIn(plan, app.moves, m);
    const { avoidable } = plan.head.traffic!;
    return [bytes(written), bytes(read), percent(sum([written, read]), avoidable)];
  };
  const rows = memories!.map((memory, m): Child[] => [
    named(memory.name, 40),
    memory.capacity === null ? "any" : bytes(memory.capacity),
    bytes(memory.height),
    memory.capacity === null || Number(memory.capacity) === 0
      ? ""
      : percent(memory.height, memory.capacity),
    counts[m] ? `${bytes(memory.peak.load)} at step ${grouped(memory.peak.start)}` : "",
    grouped(counts[m]!),
    ...figures(m),
  ]);
  const titles = ["Memory", "Capacity", "Height", "Filled", "Peak", "Buffers"];
  // The file of a plan does not say what each memory costs.
  const costs = memories!.some((memory) => memory.cost !== null);
  titles.push(
    ...(plan.scratchpads ? ["Written", "Read", "Share"] : costs ? ["Cost", "Share"] : []),
  );
  if (out!.length) {
    const given = out!.reduce((all, [, , , , price]) => all + Number(price ?? 0), 0);
    rows.push([
      ...["left out", "", "", "", "", grouped(out!.length), cost(given, unit)],
      percent(given, plan.head.cost ?? 0),
    ]);
  }
  return h("div", {}, plainTable("", titles, rows, 0));
}

export function displacedPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const unit = plan.head.costUnit;
  const list = firstOf(plan);
  const by = new Map(list.map((each) => [each.buffers[0]!, each]));
  const of = (i: number) => by.get(i)!;
  const gain = (i: number) => difference(of(i).cost, of(i).least);
  const money = (title: string, value: (i: number) => Num): TableColumn => ({
    ...numbers(title, "6.5rem", value),
    text: (i) => cost(value(i), unit),
  });
  const columns: TableColumn[] = [
    names("Buffer", "minmax(9rem, 2fr)", 60, (i) => plan.name(i)),
    numbers("Bytes", "6.5rem", (i) => plan.raw.buffers.size[i]!),
    names("Is in", "5.5rem", 30, (i) => memoryName(plan, plan.laneOfBuffer(i))),
    money("Cost", (i) => of(i).cost),
    names("Less in", "5.5rem", 30, (i) => memoryName(plan, of(i).cheaper)),
    money("Would save", gain),
    {
      title: "Why it is not there",
      width: "minmax(20rem, 5fr)",
      text: (i) => reasonOf(plan, of(i)),
    },
  ];
  const rows = list.map((each) => each.buffers[0]!);
  const empty = "Every buffer is in the memory where it costs the least.";
  const label = "Buffers that would cost less in another memory";
  const select = (i: number) => app.select(0, i, true);
  return h(
    "div",
    {},
    h(
      "p",
      {},
      `${grouped(list.length)} of ${grouped(plan.n)} buffers would cost less in another memory, ` +
        "each by itself.",
    ),
    app.table({ name: "displaced", label, columns, rows, empty, select }),
  );
}

export function leftOutPanel(app: PlanApp): HTMLElement {
  const plan = app.plans[0]!;
  const unit = plan.head.costUnit;
  const most = 200;
  const list = [...plan.raw.left_out!];
  const rows = list
    .slice(0, most)
    .map(([id, size, start, end, price]): Child[] => [
      named(id, 60),
      grouped(size),
      grouped(start),
      grouped(end),
      price === null ? "must be placed" : cost(price, unit),
    ]);
  const titles = ["Buffer", "Bytes", "From step", "To before", "Cost of being left out"];
  const more = list.length - rows.length;
  return h(
    "div",
    {},
    plainTable("", titles, rows, 0),
    more > 0 ? h("p", { class: "note" }, `and ${grouped(more)} more`) : null,
  );
}
