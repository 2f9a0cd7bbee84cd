// A table of any length: only the rows in sight exist. A click on a heading sorts, keys move.
import type { Num } from "./data";
import { h, named } from "./dom";
import { grouped } from "./format";

export interface TableColumn {
  title: string;
  width: string; // Of CSS grid.
  number?: boolean;
  text: (row: number) => string | Node;
  /** What rows are sorted by; without it, this column cannot sort. */
  value?: (row: number) => number | string;
}

/** A column of whole numbers; null is shown as a dash. */
export function numbers(
  title: string,
  width: string,
  of: (row: number) => Num | null,
): TableColumn {
  return {
    title,
    width,
    number: true,
    text: (row) => grouped(of(row) ?? "–"),
    value: (row) => Number(of(row) ?? -1),
  };
}
/** A column of names, abridged to `most` characters. */
export function names(
  title: string,
  width: string,
  most: number,
  of: (row: number) => string,
): TableColumn {
  return { title, width, text: (row) => named(of(row), most), value: of };
}

export interface TableSpec {
  name: string;
  label: string;
  columns: TableColumn[];
  rows: number[];
  /** Shown in place of rows. */
  empty: string;
  select: (row: number) => void;
}

const ROW = 28;
const PRINTED = 60; // Rows on paper.

export class VirtualTable {
  readonly root: HTMLElement;
  private readonly body: HTMLElement;
  private readonly window: HTMLElement;
  private readonly note = h("p", { class: "print-note" });
  private readonly heads: HTMLElement[] = [];
  private rows: number[] = [];
  private all: number[] = [];
  private sorted = -1;
  private descending = false;
  private active = 0;
  private printing = false;
  /** What render() has made: which rows, and how. */
  private made = "";
  selected = -1;

  private readonly columns: TableColumn[];

  constructor(private readonly spec: TableSpec) {
    const { columns, label } = spec;
    this.columns = columns;
    this.all = spec.rows;
    const template = columns.map((column) => column.width).join(" ");
    this.window = h("div", { class: "rows", role: "rowgroup" });
    const head = h("div", { class: "row head", role: "row", "aria-rowindex": "1" });
    head.style.gridTemplateColumns = template;
    columns.forEach((column, k) => {
      const cell = h("div", { role: "columnheader", class: column.number ? "number" : "" });
      if (column.value) {
        cell.append(h("button", { type: "button", onclick: () => this.sort(k) }, column.title));
      } else {
        cell.append(column.title);
      }
      this.heads.push(cell);
      head.append(cell);
    });
    this.body = h(
      "div",
      { class: "table", role: "grid", "aria-label": label, tabindex: "0" },
      h("div", { role: "rowgroup" }, head),
      this.window,
    );
    this.body.style.setProperty("--columns", template);
    this.root = h("div", { class: "table-box" }, this.body, this.note);
    this.body.addEventListener("scroll", () => this.render());
    this.body.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.render()).observe(this.body);
    this.window.addEventListener("click", (event) => {
      const row = (event.target as Element).closest<HTMLElement>("[data-at]");
      if (!row) return;
      this.active = Number(row.dataset.at);
      this.spec.select(this.rows[this.active]!);
    });
    this.arrange();
  }

  setRows(rows: number[]): void {
    if (rows.length === this.all.length && rows.every((row, k) => row === this.all[k])) return;
    this.all = rows;
    this.arrange();
  }
  setPrinting(on: boolean): void {
    this.printing = on;
    this.render();
  }
  private sort(k: number): void {
    const number = this.columns[k]!.number ?? false;
    if (this.sorted === k) {
      this.descending = !this.descending;
    } else {
      this.sorted = k;
      this.descending = number;
    }
    this.arrange();
  }
  private arrange(): void {
    this.rows = this.all;
    const value = this.sorted >= 0 ? this.columns[this.sorted]!.value! : null;
    if (value) {
      const keys = new Map(this.all.map((row) => [row, value(row)]));
      const sign = this.descending ? -1 : 1;
      this.rows = [...this.all].sort((x, y) => {
        const [a, b] = [keys.get(x)!, keys.get(y)!];
        return a === b ? x - y : a < b ? -sign : sign;
      });
    }
    this.heads.forEach((head, k) => {
      if (!this.columns[k]!.value) return;
      head.setAttribute(
        "aria-sort",
        k !== this.sorted ? "none" : this.descending ? "descending" : "ascending",
      );
    });
    this.body.setAttribute("aria-rowcount", String(this.rows.length + 1));
    if (this.body.scrollTop) this.body.scrollTop = 0;
    this.active = 0;
    this.made = "";
    this.render();
  }
  private key(event: KeyboardEvent): void {
    if (event.target !== this.body) return;
    const page = Math.max(1, Math.floor(this.body.clientHeight / ROW) - 2);
    const moves: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -Infinity,
      End: Infinity,
    };
    if (event.key === "Enter" && this.rows.length) {
      this.spec.select(this.rows[this.active]!);
    } else if (event.key in moves) {
      this.active = Math.min(Math.max(this.active + moves[event.key]!, 0), this.rows.length - 1);
      const top = this.active * ROW;
      const seen = this.body.clientHeight - ROW;
      if (top < this.body.scrollTop) this.body.scrollTop = top;
      if (top + ROW > this.body.scrollTop + seen) this.body.scrollTop = top + ROW - seen;
      this.render();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
  /** Brings a row into sight and marks it. */
  mark(row: number): void {
    this.selected = row;
    const at = this.rows.indexOf(row);
    if (at >= 0 && this.body.clientHeight) {
      this.active = at;
      const top = at * ROW;
      if (
        top < this.body.scrollTop ||
        top + 2 * ROW > this.body.scrollTop + this.body.clientHeight
      ) {
        this.body.scrollTop = Math.max(0, top - this.body.clientHeight / 2);
      }
    }
    this.render();
  }
  render(): void {
    if (!this.body.isConnected) return; // It is made once its place is known.
    const count = this.rows.length;
    const first = this.printing ? 0 : Math.max(0, Math.floor(this.body.scrollTop / ROW) - 4);
    const last = this.printing
      ? Math.min(count, PRINTED)
      : Math.min(count, first + Math.ceil((this.body.clientHeight || 400) / ROW) + 8);
    const { active, selected, printing } = this;
    const made = [first, last, active, selected, printing].join();
    if (made === this.made) return;
    this.made = made;
    this.note.textContent =
      this.printing && count > PRINTED ? `and ${(count - PRINTED).toLocaleString("en")} more` : "";
    this.window.style.height = this.printing ? "auto" : `${Math.max(count, 1) * ROW}px`;
    if (!count) {
      this.window.replaceChildren(
        h(
          "div",
          { role: "row", class: "row none" },
          h("div", { role: "gridcell" }, this.spec.empty),
        ),
      );
      return;
    }
    const nodes: Node[] = [];
    for (let at = first; at < last; ++at) {
      const row = this.rows[at]!;
      const element = h("div", {
        class: "row",
        role: "row",
        "data-at": String(at),
        "aria-rowindex": String(at + 2),
      });
      element.setAttribute("aria-selected", String(row === this.selected));
      if (at === this.active) element.classList.add("active");
      if (!this.printing) element.style.top = `${at * ROW}px`;
      for (const column of this.columns) {
        element.append(
          h("div", { role: "gridcell", class: column.number ? "number" : "" }, column.text(row)),
        );
      }
      nodes.push(element);
    }
    this.window.replaceChildren(...nodes);
  }
}
