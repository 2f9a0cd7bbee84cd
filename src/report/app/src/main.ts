// The entry point: reads the data and starts the page of its kind.
import { parseExactly } from "./data";
import { PlanPage } from "./plan-page";
import { SweepPage } from "./sweep-page";

const data = parseExactly(document.getElementById("data")!.textContent!);
const page = data.kind === "sweep" ? new SweepPage(data) : new PlanPage(data);
page.start(document.getElementById("app")!);
// For use from the console; the tests count frames here.
Object.assign(window, { berth: page });
