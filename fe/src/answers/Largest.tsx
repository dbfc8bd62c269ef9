/** The largest rows of a table of the server by one of its columns. */
import { useMemo } from "react";
import { settled, type TableHandle, type TraceKey } from "../api";
import { Donut, HBars, largest, slicesWithRest, type TopN } from "../charts";
import { duration, fraction, inSentence } from "../format";
import { chartsTexts } from "../i18n";
import { type PickedKind, useBaseline, usePicked, useTrace } from "../state";
import { type Answer, notHere, type TableRoute, useLargest, useWhole } from "../table";
import { Skeleton } from "../ui";
import { type RowColor, ranked } from "./ranked";

interface Props<R extends TableRoute> {
  readonly title: string;
  /** The table, or its first page. */
  readonly answer: Answer<R>;
  readonly tableOf: (sel: TraceKey | null) => TableHandle<R>;
  /** Of times. */
  readonly column: string;
  readonly top: TopN;
  /** What a row is. */
  readonly kind: PickedKind;
  /** Must keep its identity. */
  readonly color?: RowColor;
}

interface BarsProps<R extends TableRoute> extends Props<R> {
  /** What the bars are parts of; null where they overlap. */
  readonly whole: number | null;
  /** About the first one. */
  readonly sentence: (name: string, time: string, share: string) => string;
}

/** As bars, with outlines of what they were in the baseline. */
export function LargestBars<R extends TableRoute>(props: BarsProps<R>) {
  const { answer, tableOf, column } = props;
  const found = useLargest(answer, tableOf(useTrace().sel), column);
  const baseline = useBaseline()?.key ?? null;
  const before = useWhole(tableOf(baseline));
  if (!found) return <Skeleton />;
  return <Bars {...props} answer={found} before={baseline && settled(before)} />;
}

function Bars<R extends TableRoute>({
  title,
  answer,
  before,
  column,
  top,
  kind,
  color,
  whole,
  sentence,
}: BarsProps<R> & { readonly before: Answer<R> | null }) {
  const pick = usePick(kind);
  const items = useMemo(
    () => largest(ranked(answer, column, color, before), top),
    [answer, column, color, before, top],
  );
  const [first] = items;
  return (
    <>
      {first && (
        <p>
          {sentence(
            inSentence(first.label),
            duration(first.value),
            whole ? fraction(first.value / whole) : "",
          )}
        </p>
      )}
      <HBars title={title} unit="ns" items={items} total={whole} onPick={pick} />
    </>
  );
}

/** As a ring, of which the rest is one slice. */
export function LargestDonut<R extends TableRoute>(props: Props<R>) {
  const found = useLargest(props.answer, props.tableOf(useTrace().sel), props.column);
  return found ? <Ring {...props} answer={found} /> : <Skeleton />;
}

function Ring<R extends TableRoute>({ title, answer, column, top, kind, color }: Props<R>) {
  const pick = usePick(kind);
  const slices = useMemo(
    () =>
      slicesWithRest(
        ranked(answer, column, color),
        top,
        chartsTexts.others,
        notHere(answer, column),
      ),
    [answer, column, color, top],
  );
  return <Donut title={title} unit="ns" slices={slices} onPick={(index) => pick(slices[index])} />;
}

function usePick(kind: PickedKind) {
  const [, select] = usePicked();
  return (item: { readonly label: string; readonly title?: string } | undefined) => {
    if (item) select({ kind, name: item.title ?? item.label });
  };
}
