/** Any number of traces in their order: the table of their changes, and the line above it. Pure. */

import type { Trends } from "../../api";
import { change as signed } from "../../format";
import { textFor } from "../../i18n";
import { change as changeTexts } from "../../i18n/en/change";
import { type Cell, type Column, numberColumn, type Table, textColumn } from "../../table";

const text = changeTexts.trends;

export type Trend = Trends["trends"][number];

/** `+6.2 % [+4.9 %, +7.4 %]` */
export function changeText(found: {
  readonly shift: number | null;
  readonly low: number | null;
  readonly high: number | null;
}): string {
  if (found.shift === null) return "";
  const said = signed(100 * found.shift, "percent");
  return found.low === null || found.high === null ? said : `${said} ${intervalText(found)}`;
}

function intervalText({ low, high }: { low: number | null; high: number | null }): string {
  if (low === null || high === null) return "";
  return `[${signed(100 * low, "percent")}, ${signed(100 * high, "percent")}]`;
}

export function metricName({ metric }: Trend): string {
  return textFor(text.metrics, metric) ?? metric;
}

export function trendsTable(answer: Trends): Table {
  const columns: Column[] = [textColumn("trace", text.trace, { grow: true })];
  const rows: Record<string, readonly Cell[]> = {
    trace: answer.recordings.map(({ name }) => name),
  };
  for (const trend of answer.trends) {
    const { metric, points } = trend;
    const name = metricName(trend);
    const percent = (value: number | null) => (value === null ? null : 100 * value);
    columns.push(
      numberColumn(metric, name, "ns", { help: text.valueHelp, family: metric }),
      numberColumn(`${metric}_shift`, text.shift(name), "percent", {
        help: text.shiftHelp,
        change: "cost",
        noise: `${metric}_noise`,
      }),
      textColumn(`${metric}_interval`, text.interval(name), { help: text.intervalHelp }),
      textColumn(`${metric}_verdict`, text.verdict(name), {
        help: text.verdictHelp,
        words: text.verdicts,
      }),
      textColumn(`${metric}_since`, text.since(name), { help: text.sinceHelp }),
    );
    rows[metric] = points.map(({ value }) => value);
    rows[`${metric}_shift`] = points.map(({ shift }) => percent(shift));
    rows[`${metric}_interval`] = points.map(intervalText);
    rows[`${metric}_verdict`] = points.map(({ verdict }, at) =>
      at === answer.baseline ? null : verdict,
    );
    rows[`${metric}_since`] = points.map((point) =>
      changeText({ shift: point.since, low: point.since_low, high: point.since_high }),
    );
    rows[`${metric}_noise`] = points.map(
      ({ verdict }) => verdict !== "regressed" && verdict !== "improved",
    );
  }
  return { columns, rows };
}

export interface Line {
  /** Stretches of traces that follow each other and have a value, as points of a polyline. */
  readonly stretches: readonly string[];
  readonly dots: readonly { readonly at: number; readonly x: number; readonly y: number }[];
}

/** Values from 0 on at the bottom would hide what changes: the line spans what there is, within the box. */
export function lineOf(values: readonly (number | null)[], width: number, height: number): Line {
  const known = values.filter((value) => value !== null);
  const least = Math.min(...known);
  const span = Math.max(...known) - least || 1;
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const dots = values.flatMap((value, at) =>
    value === null ? [] : [{ at, x: at * step, y: height - ((value - least) / span) * height }],
  );
  const stretches: string[][] = [];
  dots.forEach(({ at, x, y }, index) => {
    if (index === 0 || dots[index - 1]?.at !== at - 1) stretches.push([]);
    stretches[stretches.length - 1]?.push(`${x.toFixed(1)},${y.toFixed(1)}`);
  });
  return { stretches: stretches.map((points) => points.join(" ")), dots };
}
