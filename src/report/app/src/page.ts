// What every page has: the frame with search, pictures, selection and tables; keys; help; light,
// dark and print; and an address that links to what is shown.
import { type Child, h } from "./dom";
import type { View } from "./gestures";
import { button, menu } from "./parts";
import { type TableSpec, VirtualTable } from "./table";
import { onTheme, toggleTheme } from "./theme";

export type Keys = Record<string, () => void>;

/** Of every page, after those of its own kind. */
const COMMON_KEYS: [string, string][] = [
  ["← → ↑ ↓", "pan"],
  ["+ −, 0", "zoom; show all"],
  ["/ , N", "search; next match"],
  ["T", "light or dark"],
  ["Esc", "clear the selection"],
];

export interface Panel {
  name: string;
  title: string;
  make: () => HTMLElement;
}

/** What can be moved by the buttons and the keys. */
export interface Movable {
  stage: HTMLElement;
  zoom(factor: number): void;
  pan(dx: number, dy: number): void;
  reset(): void;
}

/** Where a page keeps what it shows: in the address of the document, unless it is part of another
 * page. */
export interface Address {
  read(): string;
  write(text: string): void;
}
const OF_DOCUMENT: Address = {
  read: () => location.hash.slice(1),
  write: (text) => history.replaceState(null, "", `#${text}`),
};

/** A panel is made when it is first seen. */
interface OpenablePanel {
  button: HTMLButtonElement;
  panel: HTMLElement;
  make: (() => HTMLElement) | null;
}

export abstract class Page {
  query = "";
  address = OF_DOCUMENT;
  /** What save() writes, by its endings and titles; once the page has started. */
  savable: [string, string][] = [];
  protected tab = "";
  readonly tables = new Map<string, VirtualTable>();
  private readonly panels = new Map<string, OpenablePanel>();
  /** What another plan of the same file replaces. */
  private replaced!: {
    header: HTMLElement;
    notice: ChildNode;
    picture: HTMLElement;
    tabs: HTMLElement;
  };
  protected readonly details = h("aside", { class: "details", "aria-label": "Details" });
  protected readonly legend = h("div", {
    class: "legend",
    role: "group",
    "aria-label": "Legend and filter",
  });
  protected readonly matches = h("span", { class: "matches", role: "status" });
  protected readonly tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  protected readonly search: HTMLInputElement;
  private readonly status = h("div", { class: "sr", role: "status", "aria-live": "polite" });
  private readonly help = h("dialog", { "aria-labelledby": "help-title" }) as HTMLDialogElement;
  private hashTimer = 0;
  private readonly life = new AbortController();

  /** `slow`: milliseconds to wait for the next key before a filter is applied. */
  constructor(
    placeholder: string,
    private readonly slow: number,
  ) {
    this.search = h("input", {
      type: "search",
      placeholder,
      "aria-label": "Search or filter",
      spellcheck: "false",
    }) as HTMLInputElement;
  }

  // What each kind of page provides.

  protected abstract header(): HTMLElement;
  protected abstract notice(): HTMLElement | null;
  protected abstract tools(): { look: Child[]; group: Child[]; files: [string, string][] };
  protected abstract pictures(): { kind: string; sections: HTMLElement[] };
  protected abstract listPanels(): Panel[];
  protected abstract helpTexts(): {
    keys: [string, string][];
    filters: [string, string][];
    spoken: string;
  };
  protected abstract movable(): Movable;
  protected abstract keys(onButton: boolean): Keys;
  protected abstract applyLooks(): void;
  protected abstract applyFilter(): void;
  protected abstract showDetails(): void;
  protected abstract nextMatch(direction: number): void;
  protected abstract selectNothing(): void;
  protected abstract stateTo(link: URLSearchParams): void;
  protected abstract stateFrom(link: URLSearchParams): void;
  /** Gives tables that were just made their rows and their marks. */
  protected abstract fillTables(): void;
  /** Selects what a changed address or another plan names. */
  protected abstract reselect(reveal: boolean): void;
  /** The content of a file of this kind, and its name without the kind. */
  protected abstract file(kind: string): Promise<Blob | null>;
  protected abstract fileStem(): string;

  start(root: HTMLElement): void {
    this.replaced = this.makeParts();
    const { header, notice, picture, tabs } = this.replaced;
    root.replaceChildren(
      h("a", { class: "skip", href: "#panels" }, "Skip to the tables"),
      header,
      h("main", {}, notice, this.toolbar(), this.legend, picture, tabs),
      h("p", { class: "sr", id: "plot-keys" }, this.helpTexts().spoken),
      this.status,
      this.tip,
      this.makeHelp(),
    );
    this.restore();
    this.applyLooks();
    this.applyFilter();
    this.showDetails();
    const { signal } = this.life;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    onTheme(() => this.applyLooks(), { signal });
    const moved = () => {
      this.restore();
      this.applyLooks();
      this.applyFilter();
      this.reselect(true);
    };
    if (this.address === OF_DOCUMENT) window.addEventListener("hashchange", moved, { signal });
    const print = (on: boolean) => {
      if (on) for (const name of this.panels.keys()) this.fill(name);
      for (const table of this.tables.values()) table.setPrinting(on);
      document.documentElement.classList.toggle("printing", on);
      this.applyLooks();
    };
    matchMedia("print").addEventListener("change", (event) => print(event.matches), { signal });
    window.addEventListener("beforeprint", () => print(true), { signal });
    window.addEventListener("afterprint", () => print(false), { signal });
  }
  private makeParts() {
    const tabs = this.makeTabs();
    const { kind, sections } = this.pictures();
    const notice = this.notice();
    // What comes and goes while a slider moves must not move the picture.
    const beside = notice !== null && this.address !== OF_DOCUMENT;
    const details = beside ? h("div", { class: "beside" }, notice, this.details) : this.details;
    const picture = h("div", { class: kind }, ...sections, details);
    const above = notice === null || beside ? new Comment() : notice;
    return { header: this.header(), notice: above, picture, tabs };
  }
  /** Shows what has taken the place of the old contents; the focus and what was typed stay. */
  protected renew(): void {
    const old = this.replaced;
    const focused = [old.header, old.picture, old.tabs].map(focusIn);
    this.replaced = this.makeParts();
    for (const part of ["header", "notice", "picture", "tabs"] as const) {
      old[part].replaceWith(this.replaced[part]);
    }
    this.applyLooks();
    this.applyFilter();
    this.reselect(false);
    for (const focus of focused) focus?.();
  }
  /** Lets go of the document, so that another page can start in its place. */
  stop(): void {
    this.query = this.search.value; // Typed, and perhaps not applied yet.
    this.keep();
    this.life.abort();
  }

  private toolbar(): HTMLElement {
    let timer = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = window.setTimeout(() => this.filter(this.search.value), this.slow);
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.query = this.search.value;
        this.applyFilter();
        this.nextMatch(event.shiftKey ? -1 : 1);
      }
    });
    const { look, group, files } = this.tools();
    this.savable = files;
    const alone = this.address === OF_DOCUMENT;
    return h(
      "div",
      { class: "toolbar", role: "toolbar", "aria-label": "Picture" },
      h("span", { class: "search" }, this.search, this.matches),
      ...look,
      h(
        "span",
        { class: "group" },
        button("−", () => this.movable().zoom(1.5), "Zoom out"),
        button("+", () => this.movable().zoom(1 / 1.5), "Zoom in"),
        button("All", () => this.movable().reset(), "Show all"),
        ...group,
      ),
      // A page around this one has a menu and a button of its own.
      alone ? menu("Save", [["", "Save …"], ...files], (kind) => void this.save(kind)) : null,
      h(
        "span",
        { class: "group" },
        alone ? button("◐", toggleTheme, "Light or dark") : null,
        button("?", () => this.help.showModal(), "Keys and filters"),
      ),
    );
  }
  private makeHelp(): HTMLElement {
    const { keys, filters } = this.helpTexts();
    const list = (rows: [string, string][]) =>
      h(
        "dl",
        { class: "keys" },
        ...rows.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)]),
      );
    this.help.append(
      h("h2", { id: "help-title" }, "Keys and filters"),
      h("h3", {}, "Picture"),
      list([...keys, ...COMMON_KEYS]),
      h("h3", {}, "Filter: all of these together"),
      list(filters),
      button("Close", () => this.help.close()),
    );
    return this.help;
  }
  say(text: string): void {
    this.status.textContent = text;
  }
  filter(query: string): void {
    this.query = this.search.value = query;
    this.applyFilter();
    this.remember();
  }
  /** Beside the search field: how many pass the filter, or what is wrong with it. */
  protected showMatches(text: string, fault: boolean): void {
    this.matches.textContent = text;
    this.matches.classList.toggle("fault", fault);
  }
  protected showTip(x: number, y: number, ...content: Child[]): void {
    this.tip.replaceChildren(...content.filter((child): child is Node | string => Boolean(child)));
    this.tip.hidden = false;
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.min(x + 14, innerWidth - box.width - 8)}px`;
    this.tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
  }
  /** An entry of the legend, which shows and hides what it stands for. */
  protected legendButton(
    hidden: Set<number>,
    k: number,
    swatch: Node,
    name: string,
    count: string,
  ): HTMLElement {
    const entry = h(
      "button",
      {
        type: "button",
        "aria-pressed": String(!hidden.has(k)),
        title: "Show or hide these",
        onclick: () => {
          if (!hidden.delete(k)) hidden.add(k);
          entry.setAttribute("aria-pressed", String(!hidden.has(k)));
          this.applyFilter();
        },
      },
      swatch,
      h("bdi", {}, name),
      h("small", {}, count),
    );
    return entry;
  }

  // Tabs and tables.

  private makeTabs(): HTMLElement {
    const bar = h("div", { role: "tablist", "aria-label": "Tables" });
    this.panels.clear();
    this.tables.clear();
    const box = h("section", { class: "panels", id: "panels", "aria-label": "Tables" }, bar);
    for (const { name, title, make } of this.listPanels()) {
      const tab = h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": `panel-${name}`,
          tabindex: "-1",
          onclick: () => this.openTab(name, false),
        },
        title,
      ) as HTMLButtonElement;
      const panel = h(
        "div",
        { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true },
        h("h2", { class: "print-only" }, title),
      );
      this.panels.set(name, { button: tab, panel, make });
      bar.append(tab);
      box.append(panel);
    }
    bar.addEventListener("keydown", (event) => {
      const names = [...this.panels.keys()];
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!move) return;
      const at = names.indexOf(this.tab);
      this.openTab(names[(at + move + names.length) % names.length]!, false);
      this.panels.get(this.tab)!.button.focus();
      event.stopPropagation();
    });
    this.openTab(this.panels.has(this.tab) ? this.tab : [...this.panels.keys()][0]!, false);
    return box;
  }
  /** Makes a panel, if it is not there yet. */
  private fill(name: string): void {
    const entry = this.panels.get(name)!;
    const { make, panel } = entry;
    if (!make) return;
    entry.make = null;
    panel.append(make());
    this.fillTables();
  }
  openTab(name: string, scroll = true): void {
    if (!this.panels.has(name)) return;
    this.tab = name;
    this.fill(name);
    for (const [key, { button: tab, panel }] of this.panels) {
      const on = key === name;
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      panel.hidden = !on;
    }
    this.tables.get(name)?.render();
    const { panel } = this.panels.get(name)!;
    if (scroll && panel.getBoundingClientRect().top > innerHeight - 80)
      panel.scrollIntoView({ block: "end" });
    this.remember();
  }
  table(spec: TableSpec): HTMLElement {
    const table = new VirtualTable(spec);
    this.tables.set(spec.name, table);
    return table.root;
  }

  // Keys, links, files.

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && target === this.search) this.search.blur();
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || this.help.open) return;
    const moves = this.movable();
    const actions: Keys = {
      "+": () => moves.zoom(1 / 1.3),
      "=": () => moves.zoom(1 / 1.3),
      "-": () => moves.zoom(1.3),
      "0": () => moves.reset(),
      n: () => this.nextMatch(1),
      N: () => this.nextMatch(-1),
      "/": () => this.search.focus(),
      t: toggleTheme,
      "?": () => this.help.showModal(),
      Escape: () => this.selectNothing(),
    };
    if (target === moves.stage || target.classList.contains("stage")) {
      actions["ArrowLeft"] = () => moves.pan(-0.1, 0);
      actions["ArrowRight"] = () => moves.pan(0.1, 0);
      actions["ArrowUp"] = () => moves.pan(0, 0.1);
      actions["ArrowDown"] = () => moves.pan(0, -0.1);
    }
    Object.assign(actions, this.keys(target.tagName === "BUTTON" || target.tagName === "SUMMARY"));
    const action =
      actions[event.key] ?? (event.key.length === 1 ? actions[event.key.toLowerCase()] : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** Keeps the address of the page a link to what is shown. */
  remember(): void {
    clearTimeout(this.hashTimer);
    if (!this.life.signal.aborted) this.hashTimer = window.setTimeout(() => this.keep(), 200);
  }
  private keep(): void {
    clearTimeout(this.hashTimer);
    const link = new URLSearchParams();
    link.set("tab", this.tab);
    this.stateTo(link);
    if (this.query) link.set("filter", this.query);
    this.address.write(String(link));
  }
  private restore(): void {
    const link = new URLSearchParams(this.address.read());
    this.query = this.search.value = link.get("filter") ?? "";
    const tab = link.get("tab");
    if (tab) this.openTab(tab, false);
    this.stateFrom(link);
  }
  async save(kind: string): Promise<void> {
    const content = await this.file(kind);
    if (!content) return;
    const stem =
      this.fileStem()
        .replace(/[^\w.-]+/g, "_")
        .slice(0, 60) || "plan";
    const link = h("a", {
      download: `${stem}.${kind}`,
      href: URL.createObjectURL(content),
    }) as HTMLAnchorElement;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

/** Where the focus is within `place`; call what is returned once its content has been replaced. */
function focusIn(place: HTMLElement): (() => void) | null {
  const now = document.activeElement;
  if (!now || !place.contains(now)) return null;
  const label = now.getAttribute("aria-label");
  const selector = now.id
    ? `#${CSS.escape(now.id)}`
    : label && `[aria-label="${CSS.escape(label)}"]`;
  if (!selector) return null;
  return () => document.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
}

/** The view that a link names as "x0,x1,y0,y1"; null if it names none. */
export function viewFrom(text: string | null): View | null {
  const view = text?.split(",").map(Number);
  if (
    view?.length !== 4 ||
    !view.every(Number.isFinite) ||
    view[0]! >= view[1]! ||
    view[2]! >= view[3]!
  )
    return null;
  return { x0: view[0]!, x1: view[1]!, y0: view[2]!, y1: view[3]! };
}
