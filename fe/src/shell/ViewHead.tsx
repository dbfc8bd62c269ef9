import type { ReactNode } from "react";
import { useTrace, type ViewId, viewName } from "../state";
import { RangeChip } from "./brush/RangeChip";

/** The line above a view: its name, which steps it shows, and at the right what the view puts there. */
export function ViewHead({ view, children }: { view: ViewId; children?: ReactNode }) {
  const current = useTrace();
  return (
    <div className="view-head">
      <h1>{viewName(view)}</h1>
      <RangeChip view={view} current={current} />
      {children}
    </div>
  );
}
