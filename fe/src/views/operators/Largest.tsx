import { useMemo } from "react";
import type { OperatorsTable, TableSource } from "../../api";
import { Donut, HBars, largest, slicesWithRest, type TopN } from "../../charts";
import { t } from "../../i18n";
import { useSelected } from "../../state";
import { notHere, useLargest } from "../../table";
import { Skeleton } from "../../ui/Async";
import { type Metric, ranked, wholeOf } from "./metrics";

const text = t.operators;

interface Props {
  readonly answer: OperatorsTable;
  /** Where the answer is from: it may be only the first page. */
  readonly source: TableSource | null;
  readonly metric: Metric;
  readonly top: TopN;
}

export function LargestBars({ answer, source, metric, top }: Props) {
  const found = useLargest(answer, source, `${metric}_ns`);
  return found ? <Bars answer={found} metric={metric} top={top} /> : <Skeleton />;
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

function Bars({ answer, metric, top }: Found) {
  const [, select] = useSelected();
  const items = useMemo(() => largest(ranked(answer, metric), top), [answer, metric, top]);
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
  const [, select] = useSelected();
  const slices = useMemo(
    () =>
      slicesWithRest(ranked(answer, metric), top, t.charts.others, notHere(answer, `${metric}_ns`)),
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
