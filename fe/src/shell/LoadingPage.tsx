/** Instead of a view while its trace is not ready: how far it is, or why it failed. */
import type { Status, TraceStatus } from "../api";
import { bytes, count, fraction } from "../format";
import { reasonText, t } from "../i18n";
import { type CurrentTrace, selectTrace } from "../state";
import { Link, later, ProgressBar } from "../ui";
import { fileRows, traceProgress } from "./progress";
import "./page.css";

const FilesTable = later(() => import("./FilesTable"));

/** The complete list is behind "Files" in the status line. */
const LISTED = 10;

interface Props {
  status: Status;
  current: CurrentTrace;
  trace: TraceStatus;
}

export default function LoadingPage({ status, current, trace }: Props) {
  const failed = trace.state === "failed";
  const nothing = hasNoEvents(trace.why);
  const progress = traceProgress(trace);
  const others = fileRows(status).filter((row) => row.trace !== trace);
  const listed = others.slice(0, LISTED);
  return (
    <div className="page">
      <h1>{titleOf(trace)}</h1>
      {failed ? (
        <>
          <p className="reason">
            {nothing && `${trace.file} `}
            {reasonText(trace.reason ?? "", trace.why)}
          </p>
          <p className="muted">{t.loading.failedHelp}</p>
        </>
      ) : (
        <>
          <ProgressBar value={progress} label={t.loading.title(trace.file)} />
          <p className="num" role="status">
            {trace.state === "queued" || progress === null
              ? t.loading.queued
              : t.loading.bytes(
                  fraction(progress, 0),
                  bytes(trace.bytes_done),
                  bytes(trace.bytes_total),
                )}
          </p>
        </>
      )}
      <ReadyTraces status={status} current={current} />
      {others.length > 0 && (
        <section>
          <h2>{t.loading.others}</h2>
          <FilesTable rows={listed} />
          {others.length > listed.length && (
            <p className="muted">{t.loading.more(count(others.length - listed.length))}</p>
          )}
        </section>
      )}
    </div>
  );
}

function hasNoEvents(why: TraceStatus["why"]): boolean {
  return why?.kind === "no_events" || why?.kind === "no_readable_events";
}

function titleOf({ state, file, why }: TraceStatus): string {
  if (state !== "failed") return t.loading.title(file);
  return hasNoEvents(why) ? t.loading.noEventsTitle : t.loading.failedTitle(file);
}

/** Enough to go on with; the rest is in the pickers. */
const OFFERED = 8;

function ReadyTraces({ status, current }: { status: Status; current: CurrentTrace }) {
  const ready = status.runs
    .flatMap((run) => run.traces.map((trace) => ({ run: run.name, trace })))
    .filter(({ trace }) => trace.state === "ready" && trace !== current.trace)
    .slice(0, OFFERED);
  if (ready.length === 0) return null;
  return (
    <section>
      <h2>{t.loading.ready}</h2>
      <ul className="ready-traces">
        {ready.map(({ run, trace }) => (
          <li key={`${run}/${trace.file}`}>
            <Link onClick={() => selectTrace({ run, worker: trace.worker, span: trace.span })}>
              {run} · {trace.worker} · {trace.span}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
