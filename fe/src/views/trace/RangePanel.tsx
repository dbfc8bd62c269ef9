/** What ran in the marked range: exact sums of the server, never of what is drawn. */
import { useMemo, useState } from "react";
import { useTimelineRange } from "../../api";
import { momentIn } from "../../draw";
import { count, duration } from "../../format";
import { traceTexts as text } from "../../i18n";
import { useTableParams } from "../../state";
import { DataTable, SimpleTable, type Table, textAt } from "../../table";
import type { Mark, PickedSlice, RankTiles, TrackRows } from "../../timeline";
import { QueryPanel, Segmented } from "../../ui";
import { params } from "./params";
import { shownLanes } from "./shownLanes";
import { type AllSums, mergeSums } from "./sums";

interface Props {
  readonly mark: Mark;
  /** The ranks that are shown; the mark is in times of the page. */
  readonly sources: readonly RankTiles[];
  readonly rows: TrackRows;
  readonly onPick: (picked: PickedSlice | null) => void;
  readonly onClear: () => void;
}

export function RangePanel({ mark, sources, rows, onPick, onClear }: Props) {
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
            options={[
              { value: "all", label: text.allTracks },
              { value: "shown", label: text.shownTracks },
            ]}
            onChange={setWhich}
          />
          <button type="button" className="button quiet" onClick={onClear}>
            {text.clear}
          </button>
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
          onPick={onPick}
        />
      )}
    </QueryPanel>
  );
}

interface SumsProps extends Pick<Props, "mark" | "onPick"> {
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

function nameTable({ by_name: names }: AllSums): Table {
  return {
    columns: [
      { key: "name", label: text.sliceName, type: "string", unit: null },
      { key: "category", label: text.category, type: "string", unit: null },
      { key: "count", label: text.count, type: "number", unit: "count" },
      { key: "total_ns", label: text.sum, type: "number", unit: "ns" },
      { key: "mean_ns", label: text.mean, type: "number", unit: "ns" },
    ],
    rows: {
      name: names.map(({ name }) => name),
      category: names.map(({ category }) => text.categories[category] ?? category),
      count: names.map(({ count: n }) => n),
      total_ns: names.map(({ total_ns }) => total_ns),
      mean_ns: names.map(({ count: n, total_ns }) => (n > 0 ? total_ns / n : null)),
    },
  };
}

function categoryTable({ by_category: categories }: AllSums): Table {
  return {
    columns: [
      { key: "category", label: text.category, type: "string", unit: null },
      { key: "count", label: text.count, type: "number", unit: "count" },
      { key: "total_ns", label: text.sum, type: "number", unit: "ns" },
    ],
    rows: {
      category: categories.map(({ category }) => text.categories[category] ?? category),
      count: categories.map(({ count: n }) => n),
      total_ns: categories.map(({ total_ns }) => total_ns),
    },
  };
}

function deviceTable({ devices }: AllSums, length: number, several: boolean): Table {
  const whole = Math.max(1, length);
  return {
    columns: [
      { key: "device", label: text.device, type: "string", unit: null },
      { key: "busy_ns", label: text.busy, type: "number", unit: "ns" },
      { key: "busy", label: text.busyShare, type: "number", unit: "percent" },
      { key: "idle_ns", label: text.idle, type: "number", unit: "ns" },
      { key: "computing_ns", label: text.computing, type: "number", unit: "ns" },
      { key: "communicating_ns", label: text.communicating, type: "number", unit: "ns" },
      { key: "exposed_communication_ns", label: text.exposedTime, type: "number", unit: "ns" },
      { key: "memcpy_ns", label: text.memcpyTime, type: "number", unit: "ns" },
    ],
    rows: {
      device: devices.map(({ worker, device }) =>
        several ? `${worker}: GPU ${device}` : `GPU ${device}`,
      ),
      busy_ns: devices.map(({ busy_ns }) => busy_ns),
      busy: devices.map(({ busy_ns }) => (busy_ns / whole) * 100),
      idle_ns: devices.map(({ idle_ns }) => idle_ns),
      computing_ns: devices.map(({ computing_ns }) => computing_ns),
      communicating_ns: devices.map(({ communicating_ns }) => communicating_ns),
      exposed_communication_ns: devices.map(
        ({ exposed_communication_ns }) => exposed_communication_ns,
      ),
      memcpy_ns: devices.map(({ memcpy_ns }) => memcpy_ns),
    },
  };
}
