/** What the tables of the view have in common. */
import type { ReactNode } from "react";
import { momentIn } from "../../draw";
import { memoryTexts as text } from "../../i18n";
import type { Look } from "./useLook";

export interface TableProps {
  readonly look: Look;
  /** Null while it is not known yet: nothing is asked. */
  readonly device: string | null;
  /** The choice of the table, for the head of the panel. */
  readonly tabs: ReactNode;
}

/** "Time range: …": what the table below is about. */
export function RangeLine({ look: { range, whole } }: { look: Look }) {
  const shown = range
    ? text.range(momentIn(range.start, range), momentIn(range.end, range))
    : text.whole;
  return (
    <span className="muted">{text.follows(whole.end > whole.start ? shown : text.whole)}</span>
  );
}
