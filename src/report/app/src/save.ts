// A plan as text: its buffers as a table that Berth reads, and a summary for logs.
import { conflictSentence } from "./conflict";
import type { Data, Plan } from "./data";
import { abridged, csvTable, visible } from "./format";

/** The given buffers as a table that Berth reads. */
export function csv(plan: Plan, buffers: number[]): string {
  const b = plan.raw.buffers;
  const rows = buffers.map((i) => {
    const row = [b.id[i]!, b.start[i]!, b.end[i]!, b.size[i]!];
    const memory = plan.raw.memories?.[plan.laneOfBuffer(i)]?.name;
    return [...row, ...(memory === undefined ? [] : [memory]), ...(b.offset ? [b.offset[i]!] : [])];
  });
  const memory = plan.raw.memories ? ",memory" : "";
  return csvTable(`id,lower,upper,size${memory}${b.offset ? ",offset" : ""}`, rows);
}

const MOST = 20; // Buffers at the peak that are listed.

export function summary(data: Data, plans: Plan[]): string {
  const lines: string[] = [];
  for (const plan of plans) {
    const { head } = plan;
    const { peak } = plan.raw;
    const row = (title: string, value: unknown) => {
      if (value !== null && value !== "") lines.push(`  ${title.padEnd(20)} ${value}`);
    };
    lines.push(visible(head.file || head.input));
    row("outcome", head.outcome);
    row("capacity", head.capacity);
    row("height", head.height);
    row("lower bound", head.heightBound);
    if (!plan.scratchpads) {
      row("cost", head.cost);
      if (head.cost !== null) row("cost, lower bound", head.costBound);
    }
    row("traffic", head.traffic?.avoidable ?? null);
    if (head.traffic) row("traffic, lower bound", head.trafficBound);
    for (const { name, height: used, capacity } of plan.raw.memories ?? []) {
      row(abridged(name, 20), capacity === null ? used : `${used} of ${capacity}`);
    }
    row("program order peak", head.programOrderPeak);
    row("peak load", `${peak.load} at step ${peak.start}`);
    row("padding, holes", `${peak.padding}, ${peak.fragmentation}`);
    for (const [i, size] of peak.live.slice(0, MOST)) {
      lines.push(`    ${String(size).padStart(16)}  ${abridged(plan.name(i), 100)}`);
    }
    if (peak.live.length > MOST) lines.push(`    and ${peak.live.length - MOST} smaller ones`);
  }
  if (data.conflict) lines.push(conflictSentence(data.conflict));
  for (const remedy of data.remedies) lines.push(visible(`* ${remedy.title}: ${remedy.detail}`));
  return lines.join("\n") + "\n";
}
