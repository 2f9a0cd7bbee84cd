// The plan as text: the buffers as a table that Berth reads, and a summary for logs.
import { abridged, visible } from "./format";
import { conflictSentence } from "./header";
import type { PlanPage } from "./plan-page";

/** The buffers that pass the filter, as a table that Berth reads. */
export function csv(app: PlanPage): string {
  const plan = app.plan;
  const b = plan.raw.buffers;
  const quoted = (id: string) => (/[",\r\n]|^\s|\s$/.test(id) ? `"${id.replaceAll('"', '""')}"` : id);
  const rows = app.kept[app.side]!.map((i) => [quoted(b.id[i]!), b.start[i], b.end[i], b.size[i], ...(b.offset ? [b.offset[i]] : [])].join(","));
  return [`id,lower,upper,size${b.offset ? ",offset" : ""}`, ...rows].join("\n") + "\n";
}

export function summary(app: PlanPage): string {
  const lines: string[] = [];
  for (const plan of app.plans) {
    const head = plan.raw.head as Record<string, unknown>;
    const input = head["input"] as { name?: string } | undefined;
    lines.push(visible(String(head["file"] ?? input?.name ?? "plan")));
    for (const key of ["outcome", "capacity", "height", "lower_bound", "program_order_peak"]) {
      const value = head[key];
      if (value !== undefined && value !== null) lines.push(`  ${key.replaceAll("_", " ").padEnd(20)} ${value}`);
    }
    const peak = plan.raw.peak;
    lines.push(`  ${"peak load".padEnd(20)} ${peak.load} at step ${peak.start}`, `  ${"padding, holes".padEnd(20)} ${peak.padding}, ${peak.fragmentation}`);
    for (const [i, size] of peak.live.slice(0, 20)) lines.push(`    ${String(size).padStart(16)}  ${abridged(plan.name(i), 100)}`);
    if (peak.live.length > 20) lines.push(`    and ${peak.live.length - 20} smaller ones`);
  }
  if (app.data.conflict) lines.push(conflictSentence(app.data.conflict!));
  for (const remedy of app.data.remedies) lines.push(visible(`* ${remedy.title}: ${remedy.detail}`));
  return lines.join("\n") + "\n";
}
