/** The collectives of all ranks, and what their sizes say about the links. */
import { useCallback, useMemo, useState } from "react";
import { AnswerTable } from "../../answers/AnswerTable";
import {
  type BandwidthFit,
  type CollectiveTable,
  type RanksOverview,
  useRanksQuery,
} from "../../api";
import { Scatter, type ScatterSeries } from "../../charts";
import { seriesColor } from "../../draw";
import { bytes, count, duration, rate } from "../../format";
import { ranksTexts } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { SimpleTable } from "../../table";
import { Panel, QueryPanel } from "../../ui";
import { curveOf } from "./curve";
import { COLLECTIVES, showEvent } from "./go";
import { params } from "./params";
import { collectivesTable, fitName, fitsTable, foldCollectives, isOf } from "./runTables";
import { FoldLink } from "./Structure";

const text = ranksTexts.collectives;
const words = ranksTexts.scatter;

export function Collectives({ answer: { groups } }: { answer: RanksOverview }) {
  const { sel } = useTrace();
  const query = useRanksQuery("ranks/collectives", sel);
  const [filter] = useAddress(params.collectivesFilter);
  const [wanted, setAll] = useState(false);
  // A filter may name one of those that are folded.
  const all = wanted || filter !== "";
  const rows = query.data?.rows;
  const folds = useMemo(() => {
    const each = rows ?? [];
    return all ? each.map((row) => ({ row, count: 1 })) : foldCollectives(each, groups);
  }, [rows, groups, all]);
  const shape = useCallback(
    (answer: CollectiveTable) => collectivesTable(answer, folds, groups),
    [folds, groups],
  );
  return (
    <div id={COLLECTIVES.id} className="run-collectives">
      <QueryPanel
        title={text.title}
        help={text.help}
        query={query}
        empty={({ rows }) =>
          rows.length === 0 ? { title: text.empty, reason: text.emptyReason } : null
        }
      >
        {(answer) => (
          <>
            <AnswerTable
              id="run-collectives"
              label={text.title}
              answer={answer}
              shape={shape}
              filter={params.collectivesFilter}
              sort={params.collectivesSort}
              onSelect={(at) => {
                const row = folds[at]?.row;
                if (row) showEvent(row.worker, row.row);
              }}
            />
            {filter === "" && (
              <FoldLink all={all} setAll={setAll} shown={folds.length} rows={answer.rows.length} />
            )}
          </>
        )}
      </QueryPanel>
    </div>
  );
}

export function SizeAndBandwidth({ answer }: { answer: RanksOverview }) {
  const { fits, fit_columns: columns, groups } = answer;
  const { sel } = useTrace();
  const collectives = useRanksQuery("ranks/collectives", sel).data;
  const shown = useMemo(() => fits.filter(({ points }) => points.some(hasSpeed)), [fits]);
  const series = useMemo(() => shown.map(seriesOf), [shown]);
  const table = useMemo(
    () =>
      fitsTable(
        columns,
        shown.filter(({ alpha_ns: alpha }) => alpha !== null),
      ),
    [columns, shown],
  );
  if (shown.length === 0) return null;
  const pointOf = (at: number, point: number) => shown[at]?.points.filter(hasSpeed)[point];
  return (
    <Panel title={words.title} help={words.help}>
      <Scatter
        title={words.title}
        summary={words.summary(count(shown.length))}
        series={series}
        xUnit="bytes"
        yUnit="bytes_per_second"
        xLabel={words.size}
        yLabel={words.bandwidth}
        tip={(at, point) => {
          const found = pointOf(at, point);
          const lines = found
            ? [
                { label: words.size, value: bytes(found.bytes) },
                { label: words.bandwidth, value: rate(speedOf(found)) },
                { label: words.busbw, value: rate(found.busbw) },
                { label: words.transfer, value: duration(found.transfer_ns) },
                { label: words.calls, value: count(found.calls) },
              ]
            : [];
          return { title: series[at]?.label ?? "", lines };
        }}
        onPick={(at, point) => {
          const [fit, found] = [shown[at], pointOf(at, point)];
          const rows = collectives?.rows ?? [];
          const row = fit && found && rows.find((each) => isOf(each, groups, fit, found.bytes));
          if (row) showEvent(row.worker, row.row);
        }}
        head={[words.which, words.size, words.transfer, words.bandwidth, words.busbw, words.calls]}
        texts={1}
        rows={() =>
          shown.flatMap((fit) =>
            fit.points.filter(hasSpeed).map((point) => ({
              cells: [
                fitName(fit),
                bytes(point.bytes),
                duration(point.transfer_ns),
                rate(speedOf(point)),
                rate(point.busbw),
                count(point.calls),
              ],
            })),
          )
        }
      />
      {table.rows.which?.length ? <SimpleTable caption={words.fit} table={table} /> : null}
    </Panel>
  );
}

type Point = BandwidthFit["points"][number];

const hasSpeed = ({ bytes: size, transfer_ns: ns }: Point) => size > 0 && ns > 0;

/** Bytes per second. */
function speedOf({ bytes: size, transfer_ns: ns }: Point): number {
  return (size / ns) * 1e9;
}

function seriesOf(fit: BandwidthFit, at: number): ScatterSeries {
  return {
    key: `${at}`,
    label: fitName(fit),
    color: seriesColor(at),
    points: fit.points.filter(hasSpeed).map((point) => ({ x: point.bytes, y: speedOf(point) })),
    curve: curveOf(fit),
  };
}
