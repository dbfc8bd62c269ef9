/** What ran in the marked range: exact sums of the server, never of what is drawn. */
import { useMemo, useState } from "react";
import { useTimelineRange } from "../../api";
import { momentIn } from "../../draw";
import { count, duration } from "../../format";
import { traceTexts as text } from "../../i18n";
import { change, setAddress, useTableParams } from "../../state";
import {
  DataTable,
  type Drawing,
  declaredTable,
  derive,
  numberColumn,
  SimpleTable,
  shareOf,
  type Table,
  textAt,
} from "../../table";
import type { Mark, PickedSlice } from "../../timeline";
import { Button, QueryPanel, Segmented } from "../../ui";
import { params } from "./params";
import { shownLanes } from "./shownLanes";
import { type AllSums, mergeSums } from "./sums";
import { useModel, useTraceState } from "./useTraceModel";

export function RangePanel({ mark }: { readonly mark: Mark }) {
  const { pick } = useModel();
  const { ranks: sources, rows } = useTraceState();
  const [which, setWhich] = useState<"all" | "shown">("all");
  const { start, end } = mark.window;
  const shown = useMemo(
    () =>
      sources.flatMap((source) => {
        const lanes = which === "all" ? null : shownLanes(rows, source.worker);
        const [from, to] = [start - source.offset, end - source.offset];
        return lanes?.length === 0 ? [] : [{ source, range: { from, to, lanes } }];
      }),
    [sources, which, rows, start, end],
  );
  const query = useTimelineRange(
    shown.map(({ source }) => source.key),
    shown.map(({ range }) => range),
  );
  return (
    <QueryPanel
      title={text.range}
      help={text.rangeHelp}
      query={query}
      actions={
        <>
          <Segmented
            label={text.rangeOf}
            value={which}
            options={["all", "shown"]}
            names={{ all: text.allTracks, shown: text.shownTracks }}
            onChange={setWhich}
          />
          <Button quiet onClick={() => setAddress(change(params.mark, null))}>
            {text.clear}
          </Button>
        </>
      }
    >
      {(answers) => (
        <Sums
          sums={mergeSums(
            answers.flatMap((sums, at) => {
              const worker = shown[at]?.source.worker;
              return worker === undefined ? [] : [{ worker, sums }];
            }),
          )}
          mark={mark}
          several={sources.length > 1}
          onPick={pick}
        />
      )}
    </QueryPanel>
  );
}

interface SumsProps {
  /** In times of the page. */
  readonly mark: Mark;
  readonly onPick: (picked: PickedSlice | null) => void;
  readonly sums: AllSums;
  readonly several: boolean;
}

function Sums({ sums, mark: { window }, several, onPick }: SumsProps) {
  const state = useTableParams(params.sumsFilter, params.sumsSort);
  const byName = useMemo(() => nameTable(sums), [sums]);
  const whole = { start: 0, end: window.end };
  return (
    <div className="trace-range">
      <p className="num">
        {text.rangeIs(
          momentIn(window.start, whole, 1e6),
          momentIn(window.end, whole, 1e6),
          duration(window.end - window.start),
          count(sums.slices),
          count(sums.instants),
        )}
      </p>
      <div className="trace-range-tables">
        {sums.devices.length > 0 && (
          <SimpleTable
            caption={text.byDevice}
            table={deviceTable(sums, window.end - window.start, several)}
          />
        )}
        <SimpleTable caption={text.byCategory} table={categoryTable(sums)} />
      </div>
      <DataTable
        id="trace-range"
        label={text.byName}
        table={byName}
        {...state}
        onSelect={(row) => {
          const name = textAt(byName.rows, "name", row);
          const found = sums.by_name.find((each) => each.name === name);
          if (found)
            onPick({
              worker: found.worker,
              row: found.longest_row,
              lane: -1,
              start: -1,
              duration: 0,
            });
        }}
      />
      {sums.rest.count > 0 && (
        <p className="muted">{text.rest(count(sums.rest.count), duration(sums.rest.total_ns))}</p>
      )}
    </div>
  );
}

const CATEGORY: Drawing<{ category: string }> = {
  category: { cell: ({ category }) => text.categories[category] ?? category },
};

function nameTable({ columns, by_name: names }: AllSums): Table {
  return derive(declaredTable(columns, names, CATEGORY), [
    {
      column: numberColumn("mean_ns", text.mean, "ns"),
      after: "total_ns",
      value: (_, row) => {
        const { count: n, total_ns } = names[row] ?? { count: 0, total_ns: 0 };
        return n > 0 ? total_ns / n : null;
      },
    },
  ]);
}

function categoryTable({ columns, by_category: categories }: AllSums): Table {
  const shown = columns.filter(({ key }) => key !== "name");
  return declaredTable(shown, categories, CATEGORY);
}

function deviceTable(
  { device_columns: columns, devices }: AllSums,
  length: number,
  several: boolean,
): Table {
  const table = declaredTable(columns, devices, {
    device: {
      type: "string",
      unit: null,
      cell: ({ worker, device }) => (several ? `${worker}: GPU ${device}` : `GPU ${device}`),
    },
  });
  const busy = { key: "busy", label: text.busyShare, bar: false };
  return derive(table, [shareOf("busy_ns", length, busy)]);
}
