// The colours of the style sheet, for pictures.

export interface Theme {
  dark: boolean;
  background: string;
  surface: string;
  text: string;
  muted: string;
  grid: string;
  accent: string;
  bad: string;
  good: string;
  curve: string;
}

const root = document.documentElement;
const printing = () => root.classList.contains("printing");

export function isDark(): boolean {
  if (printing()) return false;
  const forced = root.dataset.theme;
  return forced ? forced === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
/** Read once for light and once for dark: to ask again makes the browser lay out the page. */
const themes = new Map<boolean, Theme>();
export function themeNow(): Theme {
  const dark = isDark();
  let theme = themes.get(dark);
  if (!theme) themes.set(dark, (theme = readTheme(dark)));
  return theme;
}
function readTheme(dark: boolean): Theme {
  const style = getComputedStyle(root);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    dark,
    background: color("background"),
    surface: color("surface"),
    text: color("text"),
    muted: color("muted"),
    grid: color("grid"),
    accent: color("accent"),
    bad: color("bad"),
    good: color("good"),
    curve: color("curve"),
  };
}
export function toggleTheme(): void {
  root.dataset.theme = isDark() ? "light" : "dark";
  document.dispatchEvent(new Event(CHANGED));
}
const CHANGED = "berth-theme";
/** Calls `act` whenever the colours change, by toggleTheme() or by the system. */
export function onTheme(act: () => void, options: AddEventListenerOptions = {}): void {
  document.addEventListener(CHANGED, act, options);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act, options);
}
