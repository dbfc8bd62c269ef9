import { useMemo } from "react";
import {
  type ColumnSeries,
  Columns,
  largestFirst,
  type Range,
  rangeWithin,
  totalsOf,
} from "../../charts/stackedColumns";
import { partColor } from "../../draw/parts";
import { distributedTexts as text } from "../../i18n";
import { selectTrace, useTrace } from "../../state";
import type { Column } from "../../table";
import { Panel } from "../../ui";
import { PARTS, type Part, type RankRow, waitParts } from "./ranks";

/** As in the old plugin's charts; communication has its colour of the other views. */
const COLORS: Partial<Record<Part, string>> = {
  computation_ns: "var(--cat-kernel)",
  overlap_ns: "var(--series-7)",
  communication_only_ns: "var(--cat-communication)",
  other_ns: "var(--cat-other)",
  transfer_ns: "var(--cat-communication)",
  wait_ns: partColor("sync"),
  unmatched_ns: "var(--series-8)",
};

interface Props {
  readonly rows: readonly RankRow[];
  /** Workers that are named as slow, marked in the charts. */
  readonly slow: ReadonlySet<string>;
  readonly definitions: readonly Column[];
  readonly order: "rank" | "slowest";
  readonly mode: "absolute" | "percent";
  readonly range: Range | null;
  readonly onRange: (range: Range | null) => void;
}

export function Charts(props: Props) {
  const waits = useMemo(() => waitParts(props.rows), [props.rows]);
  return (
    <div className="distributed-charts">
      <Chart {...props} title={text.overlap} help={text.overlapHelp} parts={PARTS} />
      <Chart {...props} title={text.waits} help={text.waitsHelp} parts={waits} />
    </div>
  );
}

interface ChartProps extends Props {
  readonly title: string;
  readonly help: string;
  readonly parts: readonly Part[];
}

function Chart({ rows, definitions, order, mode, range, onRange, ...props }: ChartProps) {
  const { title, help, parts, slow } = props;
  const selected = useTrace().sel?.worker;
  const flagged = useMemo(() => rows.map(({ worker }) => slow.has(worker.worker)), [rows, slow]);
  const names = useMemo(() => rows.map(({ name }) => name), [rows]);
  const series = useMemo<ColumnSeries[]>(
    () =>
      parts.map((part) => ({
        key: part,
        label: definitions.find(({ key }) => key === part)?.label ?? part,
        color: COLORS[part] ?? "var(--series-1)",
        values: rows.map(({ numbers }) => numbers?.[part] ?? null),
      })),
    [parts, rows, definitions],
  );
  // Each chart by what it shows: the longest steps in one, the longest operations in the other.
  const positions = useMemo(
    () =>
      order === "slowest"
        ? largestFirst(totalsOf(series, rows.length))
        : rows.map((_, index) => index),
    [order, series, rows],
  );
  const shown = useMemo(() => rangeWithin(range, positions.length), [range, positions.length]);
  const at = rows.findIndex(({ worker }) => worker.worker === selected);
  return (
    <Panel title={title} help={<Definitions text={help} parts={parts} definitions={definitions} />}>
      <Columns
        title={title}
        unit="ns"
        xLabel={names[0] === rows[0]?.worker.worker ? text.worker : text.rank}
        what={text.what}
        names={names}
        details={(index) => {
          const worker = rows[index]?.worker;
          return worker ? `${worker.worker}, ${worker.node}` : null;
        }}
        series={series}
        mode={mode}
        order={positions}
        range={shown}
        onRange={onRange}
        selected={at < 0 ? null : at}
        flagged={flagged}
        onPick={(index) => {
          const worker = rows[index]?.worker.worker;
          if (worker !== undefined) selectTrace({ worker });
        }}
      />
    </Panel>
  );
}

function Definitions(props: {
  readonly text: string;
  readonly parts: readonly Part[];
  readonly definitions: readonly Column[];
}) {
  return (
    <>
      {props.text}
      <dl>
        {props.definitions
          .filter(({ key }) => props.parts.some((part) => part === key))
          .map(({ key, label, help }) => [
            <dt key={key}>{label}</dt>,
            <dd key={`${key} help`}>{help}</dd>,
          ])}
      </dl>
    </>
  );
}
