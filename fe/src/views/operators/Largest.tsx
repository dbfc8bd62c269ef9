import { useMemo } from "react";
import { type OperatorsTable, settled, tables } from "../../api";
import { Donut, HBars, largest, slicesWithRest, type TopN } from "../../charts";
import { duration, fraction, inSentence } from "../../format";
import { chartsTexts, operatorsTexts as text } from "../../i18n";
import { useBaseline, usePicked, useTrace } from "../../state";
import { notHere, useLargest, useWhole } from "../../table";
import { Skeleton } from "../../ui";
import { type Metric, ranked, wholeOf } from "./metrics";

interface Props {
  readonly answer: OperatorsTable;
  readonly metric: Metric;
  readonly top: TopN;
}

export function LargestBars({ answer, metric, top }: Props) {
  const { sel } = useTrace();
  const found = useLargest(answer, tables.operators(sel), `${metric}_ns`);
  const baseline = useBaseline()?.key ?? null;
  const before = useWhole(tables.operators(baseline));
  if (!found) return <Skeleton />;
  return <Bars answer={found} baseline={baseline && settled(before)} metric={metric} top={top} />;
}

export function LargestDonut({ answer, metric, top }: Props) {
  const { sel } = useTrace();
  const found = useLargest(answer, tables.operators(sel), `${metric}_ns`);
  return (
    <section className="operators-donut">
      <h3>{text.metrics[metric]}</h3>
      {found ? <Slices answer={found} metric={metric} top={top} /> : <Skeleton />}
    </section>
  );
}

function Bars({
  answer,
  baseline,
  metric,
  top,
}: Props & { readonly baseline: OperatorsTable | null }) {
  const [, select] = usePicked();
  const items = useMemo(
    () => largest(ranked(answer, metric, baseline), top),
    [answer, metric, baseline, top],
  );
  const [first] = items;
  const whole = wholeOf(answer, metric);
  return (
    <>
      {first && first.value > 0 && (
        <p>
          {text.sentence(
            inSentence(first.label),
            text.metrics[metric],
            duration(first.value),
            whole ? fraction(first.value / whole) : "",
          )}
        </p>
      )}
      <HBars
        title={text.metrics[metric]}
        unit="ns"
        items={items}
        total={whole}
        onPick={({ label }) => select({ kind: "op", name: label })}
      />
    </>
  );
}

function Slices({ answer, metric, top }: Props) {
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
