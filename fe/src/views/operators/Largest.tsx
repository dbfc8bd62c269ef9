import { useMemo } from "react";
import type { OperatorsTable } from "../../api";
import { Donut, HBars, largest, slicesWithRest, type TopN } from "../../charts";
import { t } from "../../i18n";
import { useSelected } from "../../state";
import { type Metric, ranked, wholeOf } from "./metrics";

const text = t.operators;

interface Props {
  readonly answer: OperatorsTable;
  readonly metric: Metric;
  readonly top: TopN;
}

export function LargestBars({ answer, metric, top }: Props) {
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

export function LargestDonut({ answer, metric, top }: Props) {
  const [, select] = useSelected();
  const slices = useMemo(
    () => slicesWithRest(ranked(answer, metric), top, t.charts.others),
    [answer, metric, top],
  );
  return (
    <section className="operators-donut">
      <h3>{text.metrics[metric]}</h3>
      <Donut
        title={text.metrics[metric]}
        unit="ns"
        slices={slices}
        onPick={(index) => {
          const slice = slices[index];
          if (slice) select({ kind: "op", name: slice.label });
        }}
      />
    </section>
  );
}
