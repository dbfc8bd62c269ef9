/** A table beside that of the baseline. */
import { type Result, settled, type TableHandle, type TraceKey, useTable } from "../api";
import { type Baseline, useBaseline, useTrace } from "../state";
import { type Answer, type TableRoute, useWhole } from "../table";

export interface Compared<R extends TableRoute> {
  readonly shown: TableHandle<R>;
  readonly query: Result<Answer<R>>;
  readonly baseline: Baseline | null;
  /** For `BaselineNote`: what is still on its way. */
  readonly awaited: Result<Answer<R>>;
  /** All rows of both sides; null as long as one of them is not here. */
  readonly after: Answer<R> | null;
  readonly before: Answer<R> | null;
}

/** `tableOf`: the table of a trace. */
export function useCompared<R extends TableRoute>(
  tableOf: (sel: TraceKey | null) => TableHandle<R>,
): Compared<R> {
  const { sel } = useTrace();
  const shown = tableOf(sel);
  const query = useTable(shown) as Result<Answer<R>>;
  const baseline = useBaseline();
  const against = baseline?.key ?? null;
  const compared = useWhole(tableOf(against));
  // First pages cannot be compared: a row of one may be on a later page of the other.
  const whole = useWhole(shown, against !== null);
  const before = (against && settled(compared)) ?? null;
  const after = before && (whole.data ?? null);
  const awaited = before && !after ? whole : compared;
  return { shown, query, baseline, awaited, after, before: after && before };
}
