// The data in a page that Berth writes (src/report/app/src/page.html).

const BEGIN = '<script type="application/json" id="data">';
const END = "</script>";

/** As JSON. Within it a "<" is always written as an escape, so the first end tag is its end. */
export function dataOf(page: string): string {
  const begin = page.indexOf(BEGIN) + BEGIN.length;
  const end = page.indexOf(END, begin);
  if (begin < BEGIN.length || end < 0) throw new Error("the page has no data");
  return page.slice(begin, end);
}
