/** What the tooltip says of what lies under the pointer. Pure. */

import { momentIn, type TimeWindow, type TooltipContent } from "../draw";
import { bytes, count, decimal, duration, fraction, rate } from "../format";
import { timelineTexts as text, traceTexts } from "../i18n";
import type { Hit } from "./stage";

export function tipOf(hit: Hit, whole: TimeWindow): TooltipContent {
  if (hit.type === "counter") {
    const { min, max, mean, unit } = hit.values;
    return {
      title: hit.name,
      lines: [
        { label: text.time, value: momentIn(hit.time, whole, 1e6) },
        { label: text.mean, value: counterValue(mean, unit) },
        { label: text.between, value: `${counterValue(min, unit)} – ${counterValue(max, unit)}` },
      ],
    };
  }
  const { picked, source, tick } = hit;
  const category = source.meta.categories[hit.category] ?? "";
  const name = source.names.text(hit.name) ?? "…";
  source.names.flush();
  const time = (value: string) => (tick > 1 ? `≈ ${value}` : value);
  const lines = [
    { label: text.start, value: time(momentIn(picked.start, whole, 1e6)) },
    { label: text.duration, value: time(duration(picked.duration)) },
    { label: text.category, value: traceTexts.categories[category] ?? category },
  ];
  if (hit.count < 2) return { title: name, lines };
  return {
    title: text.cell(count(hit.count)),
    subtitle: name,
    lines: [
      ...lines.slice(0, 2),
      { label: text.busy, value: fraction(hit.fill, 0) },
      ...lines.slice(2),
    ],
  };
}

export function counterValue(value: number, unit: string): string {
  if (unit === "fraction") return fraction(value, 1);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return rate(value);
  return decimal(value, 1);
}
