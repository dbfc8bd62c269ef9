/** From a place in the trace to the Trace view. */
import { goToView } from "../../state";

interface Stretch {
  readonly start_ns: number;
  readonly duration_ns: number;
}

/** Shows a stretch with half of its length on both sides, and an event selected where there is one. */
export function showInTrace(
  { start_ns: start, duration_ns: length }: Stretch,
  row: number | null,
): void {
  const margin = Math.max(1_000, length / 2);
  goToView("trace", null, {
    ...(row === null ? {} : { event: { type: "row", worker: null, row } }),
    window: { start: Math.max(0, start - margin), end: start + length + margin },
    search: "",
  });
}
