// Where a page begins: its data, and the page for what they are of.
import { parseExactly } from "./data";
import { PlanPage } from "./plan-page";
import { SweepPage } from "./sweep-page";

const data = parseExactly(document.getElementById("data")!.textContent!);
const page = data.kind === "sweep" ? new SweepPage(data) : new PlanPage(data);
page.start(document.getElementById("app")!);
// For whoever looks at the page from its console; the tests count frames here.
Object.assign(window, { berth: page });
