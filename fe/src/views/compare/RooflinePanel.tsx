/** FLOP, MFU and lost time of both sides. */
import { AnswerTable } from "../../answers/AnswerTable";
import { type ComparedRoofline, type TraceKey, useCompareRoofline } from "../../api";
import { duration, flop, fraction, change as signed } from "../../format";
import { compareTexts } from "../../i18n";
import { roofline } from "../../i18n/en/roofline";
import { utilization } from "../../i18n/en/utilization";
import { shownUtilization } from "../../shell/utilization";
import { described, SimpleTable, type Table, textColumn } from "../../table";
import { QueryPanel } from "../../ui";
import { params } from "./params";

const text = roofline.compare;

interface Props {
  readonly baseline: TraceKey;
  readonly experiment: TraceKey;
  /** See `useCompare`. */
  readonly versions: string;
}

export function RooflinePanel({ baseline, experiment, versions }: Props) {
  const query = useCompareRoofline(baseline, experiment, versions);
  return (
    <QueryPanel title={text.title} help={text.help} query={query}>
      {(answer) => <Both answer={answer} />}
    </QueryPanel>
  );
}

function Both({ answer }: { answer: ComparedRoofline }) {
  const { change } = answer;
  const points = (value: number) => signed(100 * value, "percent");
  return (
    <div className="compare-roofline">
      <p>
        {change
          ? text.change(points(change.total), points(change.idle), points(change.kernels))
          : text.noChange}
      </p>
      <SimpleTable caption={text.figures} table={figures(answer)} />
      <AnswerTable
        id="compare-roofline"
        label={text.table}
        answer={answer}
        shape={callsTable}
        filter={params.rooflinesFilter}
        sort={params.rooflinesSort}
      />
    </div>
  );
}

function figures({ baseline, exp }: ComparedRoofline): Table {
  const sides = [baseline, exp];
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [utilization.mfu, sides.map(({ mfu }) => shownUtilization(mfu))],
    [utilization.hfu, sides.map(({ hfu }) => shownUtilization(hfu))],
    [utilization.busy, sides.map(({ busy_mfu: busy }) => shownUtilization(busy))],
    [text.perStep, sides.map(({ per_step: each }) => flop(each))],
    [text.total, sides.map(({ total_ns: total }) => duration(total))],
    [text.lost, sides.map(lostOf)],
  ];
  return {
    columns: [
      textColumn("figure", text.figure),
      textColumn("baseline", compareTexts.baseline),
      textColumn("exp", compareTexts.experiment),
    ],
    rows: {
      figure: rows.map(([name]) => name),
      baseline: rows.map(([, values]) => values[0] ?? ""),
      exp: rows.map(([, values]) => values[1] ?? ""),
    },
  };
}

function lostOf({ lost_ns: lost, total_ns: total }: ComparedRoofline["exp"]): string {
  if (lost === null) return utilization.notKnown;
  return total > 0 ? `${duration(lost)} (${fraction(lost / total)})` : duration(lost);
}

const SAID = {
  cause: { words: text.causes },
  delta_lost_ns: { change: "cost" },
  delta_time_ns: { change: "cost" },
} as const;

function callsTable({ calls: { columns, rows } }: ComparedRoofline): Table {
  return { columns: described(columns, SAID), rows };
}
