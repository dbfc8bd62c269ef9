/** Above a table with columns of a baseline: what it is compared with, or why there are no such columns yet. */
import type { ReactNode } from "react";
import { type Result, settled, useOverview, useStatus } from "../api";
import { count, fraction } from "../format";
import { compareTexts, reasonText } from "../i18n";
import { type Baseline, useTrace } from "../state";
import { traceProgress } from "./progress";
import { traceTitle } from "./traceTitle";
import "./baselineNote.css";

const text = compareTexts.table;

interface Props<T> {
  /** Null when nothing is compared. */
  baseline: Baseline | null;
  /** The baseline's answer. */
  query: Result<T>;
}

export function BaselineNote<T>({ baseline, query }: Props<T>) {
  const status = useStatus().data;
  if (!baseline) return null;
  const { trace, name, itself, key } = baseline;
  if (itself) return <Line>{text.itself}</Line>;
  if (trace.state === "failed")
    return <Line bad>{text.failed(reasonText(trace.reason ?? "", trace.why))}</Line>;
  if (key === null) return <Line>{text.waiting(percent(traceProgress(trace)))}</Line>;
  if (query.data === undefined || query.isPlaceholderData) {
    const { error } = query;
    if (error?.loading) return <Line>{text.waiting(percent(error.progress))}</Line>;
    return error ? <Line bad>{text.problem(error.message)}</Line> : <Line>{text.joining}</Line>;
  }
  return (
    <Line>
      {text.with(traceTitle(status, name))} <Steps baseline={baseline} />
    </Line>
  );
}

/** Sums over different numbers of steps are no comparison. */
function Steps({ baseline }: { baseline: Baseline }) {
  const { sel } = useTrace();
  const [before, after] = [useOverview(baseline.key), useOverview(sel)].map(
    (query) => settled(query)?.steps.names.length,
  );
  if (before === undefined || after === undefined || before === after) return null;
  return <strong>{text.steps(count(before), count(after))}</strong>;
}

function Line({ bad = false, children }: { bad?: boolean; children: ReactNode }) {
  return (
    <p role="status" className={bad ? "baseline-note bad" : "baseline-note"}>
      {children}
    </p>
  );
}

function percent(progress: number | null): string | null {
  return progress === null ? null : fraction(progress, 0);
}
