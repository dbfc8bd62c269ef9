/** Which kernels take the device's time. */
import { useMemo } from "react";
import { type KernelGroup, type KernelsTable, useKernels } from "../../api";
import {
  DEFAULT_TOP,
  Donut,
  HBars,
  largest,
  parseTopN,
  slicesWithRest,
  type TopN,
  TopNControl,
} from "../../charts";
import { duration } from "../../format";
import { t } from "../../i18n";
import { useBaseline, useParam, useSelected, useSelection } from "../../state";
import { DataTable, numberAt, rowCount, textAt } from "../../table";
import { BaselineNote, Empty, Panel, QueryPanel, Segmented, settled } from "../../ui";
import { ByOperator } from "./ByOperator";
import { CopiesPanel } from "./CopiesPanel";
import { kernelTable } from "./columns";
import { TensorShare } from "./TensorShare";
import "./kernels.css";

const text = t.kernels;

const GROUPS = (["name", "name_op_launch"] as const).map((value) => ({
  value,
  label: text.groups[value],
}));
const CHARTS = (["bars", "donut"] as const).map((value) => ({ value, label: text[value] }));

export default function Kernels() {
  const { sel } = useSelection();
  const query = useKernels(sel, "name");
  if (query.data && rowCount(query.data) === 0) return <NoKernels answer={query.data} />;
  return (
    <>
      <div className="kernels-top">
        <LargestPanel query={query} />
        <QueryPanel title={text.tensor} help={text.tensorHelp} query={query}>
          {(answer) => <TensorShare answer={answer} />}
        </QueryPanel>
      </div>
      <TablePanel />
      {query.data && <CopiesPanel meta={query.data.meta} />}
    </>
  );
}

function NoKernels({ answer: { meta } }: { answer: KernelsTable }) {
  const note = meta.notes[0];
  return (
    <>
      <Panel title={text.table}>
        <Empty
          title={text.empty}
          reason={note?.text ?? text.emptyReason}
          remedy={note?.remedy ?? text.emptyRemedy}
        />
      </Panel>
      <CopiesPanel meta={meta} />
    </>
  );
}

function LargestPanel({ query }: { query: ReturnType<typeof useKernels> }) {
  const [chart, setChart] = useParam<"bars" | "donut">("c", "bars");
  const [n, setN] = useParam<string>("n", String(DEFAULT_TOP));
  const top = parseTopN(n) ?? DEFAULT_TOP;
  return (
    <QueryPanel
      title={text.largest}
      help={text.largestHelp}
      query={query}
      actions={
        <>
          <Segmented label={text.chart} value={chart} options={CHARTS} onChange={setChart} />
          <TopNControl value={top} onChange={(next) => setN(String(next))} />
        </>
      }
    >
      {(answer) => <Largest answer={answer} chart={chart} top={top} />}
    </QueryPanel>
  );
}

interface LargestProps {
  readonly answer: KernelsTable;
  readonly chart: "bars" | "donut";
  readonly top: TopN;
}

function Largest({ answer, chart, top }: LargestProps) {
  const [, setSelected] = useSelected();
  const ranked = useMemo(
    () =>
      Array.from({ length: rowCount(answer) }, (_, row) => ({
        label: textAt(answer.rows, "name", row),
        value: numberAt(answer.rows, "total_ns", row) ?? 0,
      })),
    [answer],
  );
  const items = useMemo(() => largest(ranked, top), [ranked, top]);
  const slices = useMemo(() => slicesWithRest(ranked, top, t.charts.others), [ranked, top]);
  const select = (name: string) => setSelected({ kind: "kernel", name });
  return chart === "bars" ? (
    <HBars
      title={text.largest}
      unit="ns"
      items={items}
      total={answer.meta.kernel_ns}
      onPick={({ label }) => select(label)}
    />
  ) : (
    <Donut
      title={text.largest}
      unit="ns"
      slices={slices}
      onPick={(index) => {
        const slice = slices[index];
        if (slice) select(slice.label);
      }}
    />
  );
}

function TablePanel() {
  const { sel } = useSelection();
  const [group, setGroup] = useParam<KernelGroup>("g", "name");
  const known = GROUPS.some(({ value }) => value === group) ? group : "name";
  const query = useKernels(sel, known);
  const baseline = useBaseline();
  const compared = useKernels(baseline?.key ?? null, known);
  return (
    <QueryPanel
      title={text.table}
      query={query}
      actions={
        <Segmented labelled label={text.group} value={group} options={GROUPS} onChange={setGroup} />
      }
    >
      {(answer) => (
        <>
          <BaselineNote baseline={baseline} query={compared} />
          <KernelRows answer={answer} baseline={baseline?.key ? settled(compared) : null} />
        </>
      )}
    </QueryPanel>
  );
}

interface RowsProps {
  readonly answer: KernelsTable;
  /** What it is compared with. */
  readonly baseline: KernelsTable | null;
}

function KernelRows({ answer, baseline }: RowsProps) {
  const [filter, setFilter] = useParam<string>("q", "");
  const [sort, setSort] = useParam<string>("o", "-total_ns");
  const [selected, setSelected] = useSelected();
  const table = useMemo(() => kernelTable(answer, baseline), [answer, baseline]);
  const nameOf = (row: number) => textAt(table.rows, "name", row);
  return (
    <>
      <p className="kernels-total">{text.total(duration(answer.meta.kernel_ns))}</p>
      <DataTable
        id="kernels"
        label={text.table}
        table={table}
        filter={filter}
        onFilter={setFilter}
        sort={sort}
        onSort={setSort}
        selected={selected?.kind === "kernel" ? selected.name : null}
        onSelect={(row) => setSelected({ kind: "kernel", name: nameOf(row) })}
        renderExpanded={(row) => (
          <>
            <p className="kernel-name">{nameOf(row)}</p>
            {table.rows.calls?.[row] === 0 ? (
              <p className="muted">{t.compare.table.gone}</p>
            ) : (
              <ByOperator name={nameOf(row)} />
            )}
          </>
        )}
      />
    </>
  );
}
