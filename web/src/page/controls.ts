// The panel above the report: what to plan for. Whatever is changed is planned again at once.
import { h, named } from "../../../src/report/app/src/dom";
import { abridged, bytes, grouped, parseBytes } from "../../../src/report/app/src/format";
import {
  BOARDS,
  COUNTS,
  DEVICES,
  type Kind,
  type MemoryRow,
  ORDERS,
  type Settings,
} from "./settings";

/** Places on the slider that have a meaning. */
export interface Mark {
  at: number;
  title: string;
}

const STEPS = 1000;
/** What a board of one's own starts from. */
const OWN: MemoryRow[] = [
  { name: "sram", size: "256 KiB", speed: "1GB/s" },
  { name: "dram", size: "", speed: "100MB/s" },
];

export class Controls {
  readonly root: HTMLElement;
  private readonly slider = h("input", {
    type: "range",
    id: "memory-slider",
    min: "0",
    max: String(STEPS),
    step: "1",
  }) as HTMLInputElement;
  private readonly size = h("input", {
    type: "text",
    id: "memory-size",
    inputmode: "decimal",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "no limit",
    "aria-describedby": "memory-fault",
  }) as HTMLInputElement;
  private readonly fault = h("span", { class: "fault-text", id: "memory-fault", role: "alert" });
  private readonly marks = h("div", { class: "marks", "aria-hidden": "true" });
  private readonly markList = h("p", { class: "note mark-list" });
  private readonly dims = h("fieldset", { class: "dims", hidden: true });
  private readonly problem = h("div", { class: "choices", hidden: true });
  private readonly single: HTMLElement;
  private readonly board = h("fieldset", { class: "board", hidden: true });
  private readonly only: [HTMLElement, (settings: Settings) => boolean][] = [];
  private ranged = "";
  private low = 0;
  private high = 1;

  constructor(
    kind: Kind,
    public settings: Settings,
    private readonly change: (settings: Settings) => void,
  ) {
    this.slider.addEventListener("input", () => {
      const share = Number(this.slider.value) / STEPS;
      const raw = this.low + (this.high - this.low) * share;
      this.set({ memory: Math.max(1, nearest(raw, this.high)) });
    });
    this.size.addEventListener("change", () => this.readSize());
    this.size.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.readSize();
    });
    const graph = kind === "graph";
    this.single = h(
      "div",
      { class: "memory" },
      h("label", { for: "memory-size" }, "Memory"),
      this.size,
      h(
        "button",
        { type: "button", class: "quiet", onclick: () => this.set({ memory: null }) },
        "No limit",
      ),
      this.fault,
      h(
        "div",
        { class: "slide" },
        h("label", { for: "memory-slider", class: "sr" }, "Memory, as a slider"),
        this.slider,
        this.marks,
        this.markList,
      ),
    );
    this.root = h(
      "form",
      { class: "controls", "aria-label": "What to plan for" },
      this.single,
      graph ? this.board : null,
      graph ? null : this.problem,
      graph ? this.choices() : this.seconds(),
      graph ? this.dims : null,
    );
    this.root.addEventListener("submit", (event) => event.preventDefault());
    this.show();
  }

  /** One memory, or which ones. */
  private memories(): HTMLElement {
    const list = h(
      "select",
      { id: "set-memories" },
      h("option", { value: "one" }, "one"),
      ...BOARDS.map(([name, title]) => h("option", { value: name }, title)),
      h("option", { value: "own" }, "of your own"),
    ) as HTMLSelectElement;
    list.addEventListener("change", () => {
      const rows =
        BOARDS.find(([name]) => name === list.value)?.[2] ??
        (list.value === "one" ? [] : this.settings.board.length ? this.settings.board : OWN);
      this.set({ board: rows.map((row) => ({ ...row })), activations_in: "", weights_in: "" });
    });
    const label = h("label", { class: "memories-choice" }, h("span", {}, "Memories"), list);
    let home: HTMLElement | null = null;
    this.fields.push(() => {
      const { board } = this.settings;
      const same = BOARDS.find(([, , rows]) => JSON.stringify(rows) === JSON.stringify(board));
      if (!board.length) list.value = "one";
      else if (list.value !== "own" || same === undefined) list.value = same?.[0] ?? "own";
      this.single.hidden = board.length > 0;
      this.board.hidden = board.length === 0;
      if (board.length) this.showBoard();
      // Several stand below the choice of them.
      home ??= label.parentElement;
      const place = board.length ? this.board : home!;
      if (place.contains(label)) return;
      const focused = document.activeElement === list;
      place.prepend(label);
      if (focused) list.focus();
    });
    return label;
  }
  /** A row of fields for each of several memories. They stay while a value changes, so that the focus
   * does. */
  private showBoard(): void {
    const { board } = this.settings;
    const fields = this.board.querySelectorAll<HTMLInputElement>("input");
    if (fields.length === 3 * board.length) {
      board.forEach((row, i) => ROW.forEach(([key], k) => (fields[3 * i + k]!.value = row[key])));
      this.showPlaces();
      return;
    }
    this.board.replaceChildren(
      h("legend", { class: "sr" }, "The memories"),
      ...this.board.querySelectorAll(".memories-choice"),
      ...board.map((_, i) => this.memoryRow(i)),
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          onclick: () => {
            const name = `memory${this.settings.board.length + 1}`;
            this.set({ board: [...this.settings.board, { name, size: "", speed: "100MB/s" }] });
            this.board.querySelector<HTMLInputElement>(":scope > div:last-of-type input")?.focus();
          },
        },
        "Add a memory",
      ),
    );
    this.showPlaces();
  }
  private memoryRow(i: number): HTMLElement {
    const row = this.settings.board[i]!;
    const change = (next: Partial<MemoryRow>) => {
      const board = this.settings.board.map((each, k) => (k === i ? { ...each, ...next } : each));
      this.set({ board });
    };
    const remove = () => {
      this.set({ board: this.settings.board.filter((_, k) => k !== i) });
      document.getElementById("set-memories")?.focus();
    };
    return h(
      "div",
      { class: "memory-row", role: "group", "aria-label": `Memory ${i + 1}` },
      ...ROW.map(([key, title, hint, size]) => {
        const field = h("input", {
          type: "text",
          size,
          placeholder: hint,
          autocomplete: "off",
          spellcheck: "false",
        }) as HTMLInputElement;
        field.value = row[key];
        field.addEventListener("change", () => change({ [key]: field.value.trim() }));
        return h("label", {}, h("span", {}, title), field);
      }),
      h(
        "button",
        { type: "button", class: "quiet", onclick: remove, "aria-label": `Remove memory ${i + 1}` },
        "Remove",
      ),
    );
  }
  private readonly places: (() => void)[] = [];
  private showPlaces(): void {
    for (const place of this.places) place();
  }
  /** Where a kind of tensor may be: in any memory, or in one. */
  private placeIn(title: string, key: "activations_in" | "weights_in"): HTMLElement {
    const list = h("select", { id: `set-${key}` }) as HTMLSelectElement;
    list.addEventListener("change", () => this.set({ [key]: list.value }));
    this.places.push(() => {
      const names = this.settings.board.map(({ name }) => name);
      const every = names.join(",");
      const entries: [string, string][] = [
        ["", key === "weights_in" ? "not planned" : "any memory"],
        ...(key === "weights_in" ? [[every, "any memory"] as [string, string]] : []),
        ...names.map((name): [string, string] => [name, name]),
      ];
      // What a link says besides.
      const now = this.settings[key];
      if (!entries.some(([value]) => value === now)) entries.push([now, now]);
      list.replaceChildren(...entries.map(([value, text]) => h("option", { value }, text)));
      list.value = now;
    });
    return h("label", {}, h("span", {}, title), list);
  }
  /** A control that is there only where it changes something. */
  private where(control: HTMLElement, applies: (settings: Settings) => boolean): HTMLElement {
    this.only.push([control, applies]);
    return control;
  }

  private choices(): HTMLElement {
    const several = ({ board }: Settings) => board.length > 0;
    const timed = (settings: Settings) =>
      several(settings) ? settings.moves === "prefetch" : settings.overflow === "recompute";
    const choices = h(
      "div",
      { class: "choices" },
      this.memories(),
      this.where(
        this.select("If it does not fit", "overflow", [
          ["explain", "say why"],
          ["spill", "copy tensors out and back"],
          ["recompute", "run operators again"],
        ]),
        (settings) => !several(settings),
      ),
      this.where(
        this.select("Tensors", "moves", [
          ["stay", "stay where they are"],
          ["copy", "are copied between operators"],
          ["prefetch", "are copied while operators run"],
        ]),
        several,
      ),
      this.where(this.placeIn("Activations", "activations_in"), several),
      this.where(this.placeIn("Weights", "weights_in"), several),
      this.where(
        this.select("Device", "device", [
          ["", "what the file says"],
          ...Object.entries(DEVICES).map(([key, { name }]): [string, string] => [key, name]),
        ]),
        timed,
      ),
      this.select("Order", "order", ORDERS),
      this.select("Planned tensors", "count", COUNTS),
      this.text("Alignment", "alignment", "16", "bytes"),
      this.check("In place", "in_place", "Operators may write over an input where that is safe"),
      this.check("Fuse", "fuse", "Element-wise operators run with the operator before them"),
      this.check("8 bit", "eight_bit", "Every element takes one byte, as after quantisation"),
      this.seconds(),
    );
    // On a phone they would hide what they change.
    const narrow = matchMedia("(max-width: 700px)");
    const more = h("details", { class: "more" }, h("summary", {}, "More choices"), choices);
    const adapt = () => more.toggleAttribute("open", !narrow.matches);
    narrow.addEventListener("change", adapt);
    adapt();
    return more;
  }
  private seconds(): HTMLElement {
    const list = h(
      "select",
      { id: "set-time", "aria-label": "Search at most" },
      ...["1", "10", "60", "none"].map((value) =>
        h("option", { value }, value === "none" ? "to the end" : `${value} s`),
      ),
    ) as HTMLSelectElement;
    list.value = this.settings.time_limit === null ? "none" : String(this.settings.time_limit);
    list.addEventListener("change", () =>
      this.set({ time_limit: list.value === "none" ? null : Number(list.value) }),
    );
    return h("label", {}, h("span", {}, "Search at most"), list);
  }
  private readonly fields: (() => void)[] = [];
  private select(title: string, key: keyof Settings, entries: [string, string][]): HTMLElement {
    const list = h(
      "select",
      { id: `set-${key}` },
      ...entries.map(([value, text]) => h("option", { value }, text)),
    ) as HTMLSelectElement;
    list.addEventListener("change", () => this.set({ [key]: list.value }));
    this.fields.push(() => (list.value = String(this.settings[key])));
    return h("label", {}, h("span", {}, title), list);
  }
  private check(title: string, key: keyof Settings, hint: string): HTMLElement {
    const box = h("input", { type: "checkbox", id: `set-${key}` }) as HTMLInputElement;
    box.addEventListener("change", () => this.set({ [key]: box.checked }));
    this.fields.push(() => (box.checked = this.settings[key] === true));
    return h("label", { class: "check", title: hint }, box, title);
  }
  private text(title: string, key: keyof Settings, hint: string, unit: string): HTMLElement {
    const field = h("input", {
      type: "text",
      id: `set-${key}`,
      inputmode: "numeric",
      placeholder: hint,
      size: "5",
      autocomplete: "off",
    }) as HTMLInputElement;
    field.addEventListener("change", () => this.set({ [key]: field.value.trim() }));
    this.fields.push(() => (field.value = String(this.settings[key])));
    return h("label", {}, h("span", {}, title), field, h("small", {}, unit));
  }

  /** Which of several problems is planned. */
  problems(names: string[], what: string): void {
    this.problem.hidden = names.length < 2;
    if (this.problem.hidden) return;
    const list = h(
      "select",
      { id: "set-problem" },
      ...names.map((name) => h("option", { value: name }, abridged(name, 60))),
    ) as HTMLSelectElement;
    list.value = this.settings.problem;
    list.addEventListener("change", () => this.set({ problem: list.value }));
    const title = `${what}, of ${grouped(names.length)}`;
    this.problem.replaceChildren(h("label", {}, h("span", {}, title), list));
  }

  /** Fields for what the model leaves open. */
  openDimensions(names: string[]): void {
    const all = [...new Set([...names, ...Object.keys(this.settings.dim)])];
    this.dims.hidden = all.length === 0;
    this.dims.replaceChildren(
      h("legend", {}, "Sizes that the model leaves open"),
      ...all.slice(0, 40).map((name, i) => {
        const field = h("input", {
          type: "text",
          inputmode: "numeric",
          id: `dim-${i}`,
          size: "6",
          placeholder: "1",
          autocomplete: "off",
        }) as HTMLInputElement;
        field.value = this.settings.dim[name] ?? "";
        field.addEventListener("change", () =>
          this.set({ dim: { ...this.settings.dim, [name]: field.value } }),
        );
        return h("label", { for: `dim-${i}` }, h("span", {}, named(name, 30)), field);
      }),
    );
  }

  /** What the slider spans, and what is known along it. */
  range(low: number, high: number, marks: Mark[]): void {
    // A slider that is being moved keeps its scale.
    const { memory } = this.settings;
    const moving = document.activeElement === this.slider && memory !== null;
    if (!moving || memory < this.low || memory > this.high) {
      this.low = memory === null ? low : Math.min(low, memory);
      this.high = Math.max(high, low + 1);
    }
    const key = JSON.stringify([this.low, this.high, marks]);
    if (key === this.ranged) return;
    this.ranged = key;
    const shown = marks
      .filter(({ at }) => at >= this.low && at <= this.high)
      .map(({ at, title }) => ({ left: (100 * (at - this.low)) / (this.high - this.low), title }));
    this.marks.replaceChildren(
      ...shown.map(({ left, title }) => h("i", { style: `left:${left}%`, title })),
    );
    // What they are called stands below them, within the slider's ends.
    const middle = shown.reduce((sum, { left }) => sum + left / shown.length, 0);
    this.markList.style.left = `${middle}%`;
    this.markList.style.transform = `translateX(-${middle}%)`;
    this.markList.replaceChildren(
      ...marks.flatMap(({ at, title }, i): (Node | string)[] => [
        i ? " · " : "",
        `${title}: `,
        h(
          "button",
          { type: "button", class: "link", onclick: () => this.set({ memory: at }) },
          bytes(at),
        ),
      ]),
    );
    this.show();
  }

  private readSize(): void {
    const text = this.size.value.trim();
    if (!text) {
      if (this.settings.memory !== null) this.set({ memory: null });
      return;
    }
    const value = parseBytes(text);
    const wrong = !Number.isFinite(value) || value < 1 || value > 2 ** 53;
    this.fault.textContent = wrong ? "A size such as 256 KiB or 1.5 MiB is wanted" : "";
    this.size.setAttribute("aria-invalid", String(wrong));
    if (!wrong && Math.floor(value) !== this.settings.memory) {
      this.set({ memory: Math.floor(value) });
    }
  }
  /** Of one of several memories. */
  setSize(memory: number, size: number): void {
    const row = (each: MemoryRow, m: number) =>
      m === memory ? { ...each, size: exactly(size) } : each;
    this.set({ board: this.settings.board.map(row) });
  }
  set(change: Partial<Settings>): void {
    this.settings = { ...this.settings, ...change };
    this.show();
    this.change(this.settings);
  }
  private show(): void {
    const { memory } = this.settings;
    this.size.value = memory === null ? "" : bytes(memory);
    this.size.title = memory === null ? "" : `${grouped(memory)} bytes`;
    this.fault.textContent = "";
    this.size.removeAttribute("aria-invalid");
    const at = memory ?? this.high;
    const place = Math.round((STEPS * (at - this.low)) / (this.high - this.low));
    if (document.activeElement !== this.slider || memory === null) {
      this.slider.value = String(Math.min(STEPS, Math.max(0, place)));
    }
    this.slider.setAttribute("aria-valuetext", memory === null ? "no limit" : bytes(memory));
    this.slider.classList.toggle("off", memory === null);
    for (const field of this.fields) field();
    for (const [control, applies] of this.only) control.hidden = !applies(this.settings);
  }
}

/** Of one memory: field, title, what it looks like, and its width. */
const ROW: [keyof MemoryRow, string, string, string][] = [
  ["name", "Name", "sram", "8"],
  ["size", "Size", "no limit", "9"],
  ["speed", "Speed", "100MB/s", "18"],
];

/** As it is typed: in KiB where no digit is lost. */
const exactly = (size: number) => (size % 1024 ? `${size}B` : `${size / 1024} KiB`);

/** With three digits or so: sizes that people would choose. */
function nearest(value: number, high: number): number {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(high / STEPS)));
  return Math.round(value / step) * step;
}
