// The data in a page that Berth writes (src/report/app/src/page.html).
import {
  type Data,
  Head,
  type Move,
  type Num,
  type RawPlan,
  type Repeat,
  parseExactly,
} from "../../src/report/app/src/data";

const BEGIN = '<script type="application/json" id="data">';
const END = "</script>";

/** As JSON. Within it a "<" is always written as an escape, so the first end tag is its end. */
export function dataOf(page: string): string {
  const begin = page.indexOf(BEGIN) + BEGIN.length;
  const end = page.indexOf(END, begin);
  if (begin < BEGIN.length || end < 0) throw new Error("the page has no data");
  return page.slice(begin, end);
}

/** A residency in a plan's file (docs/formats/plan.md), as far as it is read here. */
interface Stay {
  id: string;
  comes_in?: boolean;
  written_out?: boolean;
}
/** A plan's file. The planner has read it, so what it reads has the right types; the rest may be
 * anything. The first version of the format had `placements`, and with spills `tensor` for `id`. */
interface PlanFile {
  order?: string[];
  residencies?: (Stay | (Omit<Stay, "id"> & { tensor: string }))[];
  placements?: unknown;
  [key: string]: unknown;
}

/**
 * Of the page that compares a plan's file with itself: the data of a page of that plan alone, with all
 * that the file says. It does not say what its buffers would cost elsewhere.
 */
export function dataOfPlan(page: string, file: { name: string; bytes: Uint8Array }): string {
  const { plans, diff: _, ...data } = parseExactly<Data>(dataOf(page));
  const text = new TextDecoder().decode(file.bytes);
  const { order = [], residencies = [], placements: _p, ...head } = parseExactly<PlanFile>(text);
  const shown = plans[1]!;
  const stays = residencies.map((stay) => ("id" in stay ? stay : { ...stay, id: stay.tensor }));
  const plan: RawPlan = {
    ...shown,
    ...tensorsOf(shown, stays),
    head: { ...shown.head, ...head },
    left_out: [],
  };
  const spills = spillsOf(stays, plan.buffers.size);
  const repeats = repeatsOf(order, Number(new Head(head).recomputed?.operators ?? 0));
  const own = { kind: "plan", command: "view", plans: [plan], spills, repeats, diff: null };
  return JSON.stringify({ ...data, ...own });
}

/** Which buffers are one tensor, if any tensor has several. */
function tensorsOf(plan: RawPlan, stays: Stay[]): Partial<RawPlan> {
  const tensors = [...new Set(stays.map(({ id }) => id))];
  if (tensors.length === stays.length) return {};
  const number = new Map(tensors.map((id, t) => [id, t]));
  const tensor = stays.map(({ id }) => number.get(id)!);
  return { buffers: { ...plan.buffers, tensor }, tensors };
}

/** From each residency of a tensor to its next, where that is copied in; otherwise an operator makes
 * the tensor again. Rows of the file and of the plan are the same. */
function spillsOf(stays: Stay[], size: Num[]): Move[] {
  const last = new Map<string, number>();
  return stays.flatMap(({ id, comes_in }, to) => {
    const from = last.get(id);
    last.set(id, to);
    if (from === undefined || !comes_in) return [];
    const written = stays[from]!.written_out ? size[from]! : 0;
    return [{ from, to, written, read: size[to]! }];
  });
}

/**
 * The operators that run again, with the steps at which they do; `executions`: how often in all. What
 * each costs is not in the file: they come as they run. Of a model that gives several operators the
 * same name, nobody can tell which of them run again.
 */
function repeatsOf(order: string[], executions: number): Repeat[] {
  const steps = new Map<string, number[]>();
  const seen = new Set<string>();
  order.forEach((operator, step) => {
    if (!seen.has(operator)) seen.add(operator);
    else if (steps.has(operator)) steps.get(operator)!.push(step);
    else steps.set(operator, [step]);
  });
  if (order.length - seen.size !== executions) return [];
  return [...steps].map(([operator, each]) => ({ operator, steps: each, cost: null }));
}
