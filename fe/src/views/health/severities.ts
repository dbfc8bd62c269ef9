import type { Note, NoteSeverity } from "../../api";

const ORDER: readonly NoteSeverity[] = ["error", "warning", "info"];

/** How many notes there are of each severity that occurs, the worst first. */
export function severities(notes: readonly Note[]): [NoteSeverity, number][] {
  return ORDER.map((severity): [NoteSeverity, number] => [
    severity,
    notes.filter((note) => note.severity === severity).length,
  ]).filter(([, count]) => count > 0);
}
