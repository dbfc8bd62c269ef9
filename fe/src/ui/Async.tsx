/** What a panel shows while its answer is on the way, missing or wrong. */

import type { ReactNode } from "react";
import type { ApiError, Result } from "../api";
import { fraction, inSentence } from "../format";
import { t } from "../i18n";
import { Button } from "./Button";
import { Code } from "./Code";
import { ProgressBar } from "./ProgressBar";
import "./async.css";

export interface EmptyReason {
  title?: string;
  reason: string;
  /** A line of code that would record what is missing. */
  remedy?: string | null;
}

interface Props<T> {
  query: Result<T>;
  /** Why there is nothing to draw, or null when there is something. */
  empty?: (data: T) => EmptyReason | null;
  /** The old answer can be used while the new one is on its way: it holds the field whose text is being typed. */
  usable?: boolean;
  children: (data: T) => ReactNode;
}

export function Async<T>({ query, empty, usable = false, children }: Props<T>) {
  const { data, error } = query;
  if (data === undefined) {
    if (error?.loading) return <Waiting error={error} />;
    if (error?.notInReport) return <Missing />;
    if (error) return <Failure error={error} onRetry={() => void query.refetch()} />;
    return <Skeleton />;
  }
  const reason = empty?.(data) ?? null;
  return (
    <div className={query.isPlaceholderData ? "panel-stale" : undefined}>
      {query.isFetching && (
        <div className="panel-refreshing" role="status">
          <span className="spinner" /> {t.panel.refreshing}
        </div>
      )}
      {error?.notInReport && <Missing />}
      {error && !error.loading && !error.notInReport && (
        <Failure error={error} onRetry={() => void query.refetch()} />
      )}
      <div className="panel-content" inert={query.isPlaceholderData && !usable}>
        {reason ? <Empty {...reason} /> : children(data)}
      </div>
    </div>
  );
}

export function Skeleton() {
  return (
    <div className="skeleton" role="status" aria-label={t.panel.loading}>
      <i />
      <i />
      <i />
    </div>
  );
}

function Waiting({ error }: { error: ApiError }) {
  const { progress } = error;
  return (
    <div className="state" role="status">
      <span>
        {progress === null ? t.panel.waiting : t.panel.waitingProgress(fraction(progress, 0))}
      </span>
      <ProgressBar value={progress} label={t.panel.waiting} />
    </div>
  );
}

/** What there is not on this page, and what to type to have it: by default what only a server can answer. */
export function Missing({
  words = t.report.missing,
}: {
  words?: Readonly<Record<"title" | "reason" | "remedy", string>>;
}) {
  const { title, reason, remedy } = words;
  return (
    <div className="state">
      <strong>{title}</strong>
      <span>{reason}</span>
      <Code text={remedy} />
    </div>
  );
}

export function Empty({ title = t.panel.empty, reason, remedy }: EmptyReason) {
  return (
    <div className="state">
      <strong>{title}</strong>
      <span>{reason}</span>
      {remedy && (
        <>
          <span>{t.panel.record}</span>
          <Code text={remedy} />
        </>
      )}
    </div>
  );
}

export function Failure({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  return (
    <div className="state error" role="alert">
      <strong>{t.panel.error}</strong>
      <span>{error.message}</span>
      <span>
        {t.panel.request}: <code>{inSentence(error.path)}</code>
        {error.status > 0 && <span className="muted"> ({error.status})</span>}
      </span>
      <Button onClick={onRetry}>{t.panel.retry}</Button>
    </div>
  );
}
