import { useMemo } from "react";
import { type OperatorsTable, settled, type TableSource, useOperators } from "../../api";
import { Donut, HBars, largest, slicesWithRest, type TopN } from "../../charts";
import { chartsTexts, operatorsTexts as text } from "../../i18n";
import { useBaseline, usePicked } from "../../state";
import { notHere, useLargest, useTableSource, useWhole } from "../../table";
import { Skeleton } from "../../ui";
import { type Metric, ranked, wholeOf } from "./metrics";

interface Props {
  readonly answer: OperatorsTable;
  /** Where the answer is from: it may be only the first page. */
  readonly source: TableSource | null;
  readonly metric: Metric;
  readonly top: TopN;
}

export function LargestBars({ answer, source, metric, top }: Props) {
  const found = useLargest(answer, source, `${metric}_ns`);
  const baseline = useBaseline()?.key ?? null;
  const before = useWhole(
    useOperators(baseline, "name"),
    useTableSource("operators", baseline, { group_by: "name" }),
  );
  if (!found) return <Skeleton />;
  return <Bars answer={found} baseline={baseline && settled(before)} metric={metric} top={top} />;
}

export function LargestDonut({ answer, source, metric, top }: Props) {
  const found = useLargest(answer, source, `${metric}_ns`);
  return (
    <section className="operators-donut">
      <h3>{text.metrics[metric]}</h3>
      {found ? <Slices answer={found} metric={metric} top={top} /> : <Skeleton />}
    </section>
  );
}

type Found = Omit<Props, "source">;

function Bars({
  answer,
  baseline,
  metric,
  top,
}: Found & { readonly baseline: OperatorsTable | null }) {
  const [, select] = usePicked();
  const items = useMemo(
    () => largest(ranked(answer, metric, baseline), top),
    [answer, metric, baseline, top],
  );
  return (
    <HBars
      title={text.metrics[metric]}
      unit="ns"
      items={items}
      total={wholeOf(answer, metric)}
      onPick={({ label }) => select({ kind: "op", name: label })}
    />
  );
}

function Slices({ answer, metric, top }: Found) {
  const [, select] = usePicked();
  const slices = useMemo(
    () =>
      slicesWithRest(
        ranked(answer, metric),
        top,
        chartsTexts.others,
        notHere(answer, `${metric}_ns`),
      ),
    [answer, metric, top],
  );
  return (
    <Donut
      title={text.metrics[metric]}
      unit="ns"
      slices={slices}
      onPick={(index) => {
        const slice = slices[index];
        if (slice) select({ kind: "op", name: slice.label });
      }}
    />
  );
}
