// A search while it goes on: the best plan so far and what is proved, approaching each other.
import { h, svg } from "../../../src/report/app/src/dom";
import { bytes, duration } from "../../../src/report/app/src/format";

const WIDTH = 220;
const HEIGHT = 34;

export type Tone = "" | "bad" | "fits" | "misfit" | "open";

interface Moment {
  seconds: number;
  best: number | null;
  bound: number;
}

export class SearchView {
  readonly root: HTMLElement;
  private readonly text = h("span", { class: "search-text" });
  private readonly work = h("span", { class: "search-work", hidden: true });
  private readonly status = h("span", { class: "sr", role: "status" });
  private readonly picture = svg("svg", {
    class: "approach",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    width: WIDTH,
    height: HEIGHT,
    "aria-hidden": "true",
  });
  private readonly stop: HTMLButtonElement;
  private moments: Moment[] = [];
  private shown = 0;

  constructor(stop: () => void) {
    this.stop = h(
      "button",
      { type: "button", class: "stop", onclick: stop, hidden: true },
      "Stop",
    ) as HTMLButtonElement;
    this.root = h(
      "div",
      { class: "search-view" },
      ...[this.text, this.work, this.picture, this.stop, this.status],
    );
    this.picture.toggleAttribute("hidden", true);
  }
  /** What is being done, in words. `beside`: what came of the search before stays. */
  begin(what: string, beside = false): void {
    this.moments = [];
    this.picture.toggleAttribute("hidden", true);
    this.picture.replaceChildren();
    clearTimeout(this.shown);
    // Most plans are there before anybody could read this.
    this.shown = window.setTimeout(() => {
      this.text.hidden = !beside;
      this.work.hidden = false;
      this.work.textContent = `${what} …`;
      this.stop.textContent = beside ? "Stop" : "Stop, keep the best plan";
      this.stop.hidden = false;
    }, 150);
  }
  progress(what: string, moment: Moment, amount: (value: number) => string = bytes): void {
    this.moments.push(moment);
    const { best, bound, seconds } = moment;
    const found = best === null ? "no plan yet" : `best so far ${amount(best)}`;
    this.work.textContent = `${what} for ${duration(seconds)}: ${found}, at least ${amount(bound)}`;
    this.draw();
  }
  /** What came of it, `tone`: a fault, or whether it fits; and what is less important. */
  end(text: string, tone: Tone = "", note = ""): void {
    clearTimeout(this.shown);
    this.stop.hidden = this.work.hidden = true;
    this.text.hidden = false;
    this.text.className = `search-text ${tone}`;
    this.text.replaceChildren(text, note ? h("small", {}, ` ${note}`) : "");
    this.status.textContent = text;
    this.picture.toggleAttribute("hidden", true);
  }
  private draw(): void {
    const { moments } = this;
    const values = moments.flatMap(({ best, bound }) => (best === null ? [bound] : [best, bound]));
    const low = Math.min(...values);
    const high = Math.max(...values);
    const last = moments.at(-1)!.seconds || 1;
    const x = (seconds: number) => (WIDTH - 4) * (seconds / last) + 2;
    const y = (value: number) => HEIGHT - 3 - (HEIGHT - 6) * ((value - low) / (high - low || 1));
    const path = (of: (moment: Moment) => number | null) => {
      let d = "";
      for (const moment of moments) {
        const value = of(moment);
        if (value === null) continue;
        d += d ? `H${x(moment.seconds)}V${y(value)}` : `M${x(moment.seconds)} ${y(value)}`;
      }
      return d;
    };
    this.picture.replaceChildren(
      svg("path", { class: "best", d: path(({ best }) => best) }),
      svg("path", { class: "bound", d: path(({ bound }) => bound) }),
    );
    this.picture.toggleAttribute("hidden", high <= low);
  }
}
