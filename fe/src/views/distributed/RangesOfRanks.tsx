/** The ranges that the program names, over the ranks; one of them on each rank. */
import { useMemo } from "react";
import { type Columns, useRanksQuery } from "../../api";
import { ranksTexts } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import { DataTable, type Table, textAt } from "../../table";
import { Async, Panel } from "../../ui";
import { params } from "./params";

const text = ranksTexts.ranges;
interface Props {
  /** A step; null: the median of the steps. */
  readonly step: string | null;
  readonly onPick: (worker: string) => void;
}

const ofStep = (step: string | null) => (step === null ? {} : { step });

/** Renders nothing where no rank names a range. */
export function RangesOfRanks({ step, onPick }: Props) {
  const { sel } = useTrace();
  const { data } = useRanksQuery("ranks/ranges", sel?.run ?? null, sel?.span ?? null, ofStep(step));
  const [filter, setFilter] = useAddress(params.rangesFilter);
  const [sort, setSort] = useAddress(params.rangesSort);
  const [range, setRange] = useAddress(params.named);
  const table = useMemo(() => (data ? shown(data.names) : null), [data]);
  if (!data || !table || (data.names.rows.name ?? []).length === 0) return null;
  return (
    <Panel title={text.title} help={text.help}>
      <DataTable
        id="run-ranges"
        label={text.title}
        table={table}
        filter={filter}
        onFilter={setFilter}
        sort={sort}
        onSort={setSort}
        selected={range}
        onSelect={(row, rows) => {
          const name = textAt(rows, "name", row);
          setRange(name === range ? null : name);
        }}
      />
      {data.left_out > 0 && <p className="muted">{text.leftOut(String(data.left_out))}</p>}
      {range !== null && <OnEachRank range={range} step={step} onPick={onPick} />}
    </Panel>
  );
}

function OnEachRank({ range, step, onPick }: Props & { readonly range: string }) {
  const { sel } = useTrace();
  const query = useRanksQuery("ranks/range", sel?.run ?? null, sel?.span ?? null, {
    name: range,
    ...ofStep(step),
  });
  const title = step === null ? text.onEach(range) : text.onEachInStep(range, step);
  return (
    <div className="run-range">
      <h3>{title}</h3>
      <Async query={query}>
        {(answer) => <Ranks key={range} label={title} ranks={answer.ranks} onPick={onPick} />}
      </Async>
    </div>
  );
}

interface RanksProps extends Pick<Props, "onPick"> {
  readonly label: string;
  readonly ranks: Columns;
}

function Ranks({ label, ranks, onPick }: RanksProps) {
  const { sel } = useTrace();
  const [filter, setFilter] = useAddress(params.rangeRanksFilter);
  const [sort, setSort] = useAddress(params.rangeRanksSort);
  const table = useMemo(() => shown(ranks), [ranks]);
  return (
    <DataTable
      id="run-range"
      label={label}
      table={table}
      nameKey="worker"
      filter={filter}
      onFilter={setFilter}
      sort={sort}
      onSort={setSort}
      selected={sel?.worker ?? null}
      onSelect={(row, rows) => onPick(textAt(rows, "worker", row))}
    />
  );
}

/** Which time is far is said in words; the times of devices are left out where none was recorded. */
export function shown({ columns, rows }: Columns): Table {
  const known = (key: string) => (rows[key] ?? []).some((value) => value !== null);
  const kept = columns
    .filter(({ key }) => key !== "device_ns" || known(key))
    .map((column) => (column.key === "far_time" ? { ...column, words: text.times } : column));
  return { columns: kept, rows };
}
