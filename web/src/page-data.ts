// The data in a page that Berth writes (src/report/app/src/page.html).
import { type Data, parseExactly } from "../../src/report/app/src/data";

const BEGIN = '<script type="application/json" id="data">';
const END = "</script>";

/** As JSON. Within it a "<" is always written as an escape, so the first end tag is its end. */
export function dataOf(page: string): string {
  const begin = page.indexOf(BEGIN) + BEGIN.length;
  const end = page.indexOf(END, begin);
  if (begin < BEGIN.length || end < 0) throw new Error("the page has no data");
  return page.slice(begin, end);
}

/** Of the page that compares a plan's file with itself: the data of a page of that plan alone. The file
 * says what is known of it besides; what its buffers would cost elsewhere, it does not say. */
export function dataOfPlan(page: string, file: { name: string; bytes: Uint8Array }): string {
  const { plans, diff: _, ...data } = parseExactly(dataOf(page)) as Data;
  const text = new TextDecoder().decode(file.bytes);
  const { order, residencies, ...head } = JSON.parse(text) as Record<string, unknown>;
  const plan = { ...plans[1], head: { ...plans[1]!.head, ...head }, displaced: [], left_out: [] };
  return JSON.stringify({ ...data, kind: "plan", command: "view", plans: [plan], diff: null });
}
