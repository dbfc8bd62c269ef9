/** Which kernels take the device's time. */
import { useMemo } from "react";
import { type KernelsTable, type Result, settled, tables, useTable } from "../../api";
import { Donut, HBars, largest, slicesWithRest, type TopN, TopNControl } from "../../charts";
import { kernelColor } from "../../draw/parts";
import { duration, fraction, inSentence } from "../../format";
import { chartsTexts, compareTexts, noteText, kernelsTexts as text } from "../../i18n";
import { BaselineNote, useCompared } from "../../shell";
import { useAddress, useBaseline, usePicked, useTableParams, useTrace } from "../../state";
import {
  byName,
  DataTable,
  notHere,
  numberAt,
  rowCount,
  textAt,
  useLargest,
  useRemoteTable,
  useWhole,
} from "../../table";
import { Empty, Flow, Panel, QueryPanel, Segmented, Skeleton } from "../../ui";
import { ByOperator } from "./ByOperator";
import { CopiesPanel } from "./CopiesPanel";
import { kernelTable } from "./columns";
import { params } from "./params";
import { TensorShare } from "./TensorShare";
import "./kernels.css";

const GROUPS = (["name", "name_op_launch"] as const).map((value) => ({
  value,
  label: text.groups[value],
}));
const CHARTS = (["bars", "donut"] as const).map((value) => ({ value, label: text[value] }));

export default function Kernels() {
  const { sel } = useTrace();
  const query = useTable(tables.kernels(sel));
  if (query.data && rowCount(query.data) === 0) return <NoKernels answer={query.data} />;
  return (
    <Flow>
      <div className="kernels-top beside">
        <LargestPanel query={query} />
        <QueryPanel title={text.tensor} help={text.tensorHelp} query={query}>
          {(answer) => <TensorShare meta={answer.meta} />}
        </QueryPanel>
      </div>
      <TablePanel />
      {query.data && <CopiesPanel {...query.data} />}
    </Flow>
  );
}

function NoKernels({ answer }: { answer: KernelsTable }) {
  const { meta } = answer;
  const note = meta.notes[0];
  return (
    <>
      <Panel title={text.table}>
        <Empty
          title={text.empty}
          reason={(note && noteText(note)) ?? text.emptyReason}
          remedy={note?.remedy ?? text.emptyRemedy}
        />
      </Panel>
      <CopiesPanel {...answer} />
    </>
  );
}

function LargestPanel({ query }: { query: Result<KernelsTable> }) {
  const [chart, setChart] = useAddress(params.chart);
  const [top, setTop] = useAddress(params.top);
  return (
    <QueryPanel
      title={text.largest}
      help={text.largestHelp}
      query={query}
      actions={
        <>
          <Segmented label={text.chart} value={chart} options={CHARTS} onChange={setChart} />
          <TopNControl value={top} onChange={setTop} />
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

function Largest({ answer, ...props }: LargestProps) {
  const { sel } = useTrace();
  const found = useLargest(answer, tables.kernels(sel), "total_ns");
  const baseline = useBaseline()?.key ?? null;
  const before = useWhole(tables.kernels(baseline));
  if (!found) return <Skeleton />;
  return <LargestChart answer={found} baseline={baseline && settled(before)} {...props} />;
}

function LargestChart({
  answer,
  baseline,
  chart,
  top,
}: LargestProps & { readonly baseline: KernelsTable | null }) {
  const [, setSelected] = usePicked();
  const ranked = useMemo(() => {
    const before = baseline && byName(baseline, "total_ns");
    return Array.from({ length: rowCount(answer) }, (_, row) => ({
      label: textAt(answer.rows, "short_name", row),
      title: textAt(answer.rows, "name", row),
      value: numberAt(answer.rows, "total_ns", row) ?? 0,
      color: kernelColor(textAt(answer.rows, "kind", row)),
      ...(before && { before: before.get(textAt(answer.rows, "name", row)) ?? 0 }),
    }));
  }, [answer, baseline]);
  const items = useMemo(() => largest(ranked, top), [ranked, top]);
  const slices = useMemo(
    // Kernels of one kind have one colour, which slices beside each other cannot have.
    () =>
      slicesWithRest(
        ranked.map((item) => ({ ...item, color: undefined })),
        top,
        chartsTexts.others,
        notHere(answer, "total_ns"),
      ),
    [ranked, top, answer],
  );
  const select = (name: string) => setSelected({ kind: "kernel", name });
  const [first] = items;
  return chart === "bars" ? (
    <>
      {first && answer.meta.kernel_ns > 0 && (
        <p>
          {text.sentence(
            inSentence(first.label),
            duration(first.value),
            fraction(first.value / answer.meta.kernel_ns),
          )}
        </p>
      )}
      <HBars
        title={text.largest}
        unit="ns"
        items={items}
        total={answer.meta.kernel_ns}
        onPick={({ label, title }) => select(title ?? label)}
      />
    </>
  ) : (
    <Donut
      title={text.largest}
      unit="ns"
      slices={slices}
      onPick={(index) => {
        const slice = slices[index];
        if (slice) select(slice.title ?? slice.label);
      }}
    />
  );
}

function TablePanel() {
  const [group, setGroup] = useAddress(params.group);
  const { shown, query, baseline, awaited, after, before } = useCompared((sel) =>
    tables.kernels(sel, group),
  );
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
          <BaselineNote baseline={baseline} query={awaited} />
          <KernelRows answer={after ?? answer} shown={shown} baseline={before} />
        </>
      )}
    </QueryPanel>
  );
}

interface RowsProps {
  readonly answer: KernelsTable;
  readonly shown: ReturnType<typeof tables.kernels>;
  /** What it is compared with. */
  readonly baseline: KernelsTable | null;
}

function KernelRows({ answer, shown, baseline }: RowsProps) {
  const state = useTableParams(params.filter, params.sort);
  const [selected, setSelected] = usePicked();
  const table = useMemo(() => kernelTable(answer, baseline), [answer, baseline]);
  const remote = useRemoteTable(answer, shown, kernelTable);
  return (
    <>
      <p className="kernels-total">{text.total(duration(answer.meta.kernel_ns))}</p>
      <DataTable
        id="kernels"
        label={text.table}
        table={table}
        remote={remote}
        {...state}
        selected={selected?.kind === "kernel" ? selected.name : null}
        onSelect={(row, rows) => setSelected({ kind: "kernel", name: textAt(rows, "name", row) })}
        renderExpanded={(row, rows) => (
          <>
            <p className="kernel-name">{textAt(rows, "name", row)}</p>
            {rows.calls?.[row] === 0 ? (
              <p className="muted">{compareTexts.table.gone}</p>
            ) : (
              <ByOperator name={textAt(rows, "name", row)} />
            )}
          </>
        )}
      />
    </>
  );
}
