/** From a place in the trace to the Trace view. */
import type { Finding } from "../../api";
import { goToView, type ViewLook } from "../../state";
import { numberAt, type Rows } from "../../table";

interface Stretch {
  readonly start_ns: number;
  readonly duration_ns: number;
}

/** Shows a stretch with half of its length on both sides, and an event selected where there is one. `more`: parameters. */
export function showInTrace(
  { start_ns: start, duration_ns: length }: Stretch,
  row: number | null,
  more: ViewLook<"trace"> = {},
): void {
  const margin = Math.max(1_000, length / 2);
  goToView("trace", null, {
    ...more,
    ...(row === null ? {} : { event: { type: "row", worker: null, row } }),
    window: { start: Math.max(0, start - margin), end: start + length + margin },
    search: "",
  });
}

/** Shows an event of the trace that is on screen, selected. */
export function showRow(row: number): void {
  goToView("trace", null, {
    event: { type: "row", worker: null, row },
    window: null,
    search: "",
  });
}

/** Where the rows of a table lead that have an event of the trace in the column `row`. */
export function doorsToEvents(rows: Rows): (row: number) => (() => void) | null {
  return (row) => {
    const event = numberAt(rows, "row", row);
    return event === null || event < 0 ? null : () => showRow(event);
  };
}

/** Where a number leads that stands for several rows: to the event of the one with most in a column, if any has some. */
export function doorToMost(
  rows: Rows,
  key: string,
  counts: (row: number) => boolean = () => true,
): (() => void) | undefined {
  const [most] = [...(rows[key] ?? []).keys()]
    .filter((row) => counts(row) && (numberAt(rows, key, row) ?? 0) > 0)
    .toSorted((a, b) => (numberAt(rows, key, b) ?? 0) - (numberAt(rows, key, a) ?? 0));
  return most === undefined ? undefined : (doorsToEvents(rows)(most) ?? undefined);
}

/** Marks the instances of a finding, all of them in sight. */
export function markInTrace({ key, instances }: Pick<Finding, "key" | "instances">): void {
  const start = Math.min(...instances.map(({ start_ns }) => start_ns));
  const end = Math.max(...instances.map(({ start_ns, duration_ns }) => start_ns + duration_ns));
  const margin = Math.max(1_000, (end - start) / 20);
  goToView("trace", null, {
    finding: key,
    window: { start: Math.max(0, start - margin), end: end + margin },
  });
}
