/** Which run, worker and span every view shows; refresh, link, theme, keys. */
import { useEffect, useState } from "react";
import type { RunStatus, Status, TraceStatus } from "../api";
import { fraction } from "../format";
import { copyText, type ThemeChoice, useThemeChoice } from "../host";
import { t } from "../i18n";
import { linkToPage, type Selection, selectTrace, spansOf, workersOf } from "../state";
import { Combo } from "./Combo";
import { Icon } from "./Icon";
import type { Option } from "./options";
import { traceProgress } from "./progress";

const NEXT_THEME: Record<ThemeChoice, ThemeChoice> = { auto: "light", light: "dark", dark: "auto" };
const FEEDBACK_MS = 2_000;

interface Props {
  status: Status | undefined;
  selection: Selection;
  refreshing: boolean;
  onRefresh: () => void;
  onKeys: () => void;
}

export function ContextBar({ status, selection, refreshing, onRefresh, onKeys }: Props) {
  const { run, sel } = selection;
  const [theme, setTheme] = useThemeChoice();
  const workers = run ? workersOf(run) : [];
  const spans = run && sel ? spansOf(run, sel.worker) : [];
  return (
    <header className="bar">
      <section className="bar-pickers" aria-label={t.bar.label}>
        <Combo
          label={t.bar.run}
          value={sel?.run ?? run?.name ?? null}
          options={status?.runs.map(runOption) ?? []}
          onChange={(name) => selectTrace({ run: name })}
        />
        <Combo
          label={t.bar.worker}
          value={sel?.worker ?? null}
          options={run ? workers.map((worker) => workerOption(run, worker)) : []}
          onChange={(worker) => selectTrace({ worker })}
        />
        {spans.length > 1 && (
          <Combo
            label={t.bar.span}
            value={sel?.span ?? null}
            options={spans.map((trace) => option(trace.span, [trace]))}
            onChange={(span) => selectTrace({ span })}
          />
        )}
      </section>
      <div className="bar-tools">
        <button
          type="button"
          className="button quiet"
          title={t.bar.refreshHint}
          disabled={refreshing}
          onClick={onRefresh}
        >
          {refreshing ? <span className="spinner" /> : <Icon name="refresh" />}
          {t.bar.refresh}
        </button>
        <CopyLink selection={selection} />
        <button
          type="button"
          className="button quiet icon"
          aria-label={t.bar.theme(t.bar.themes[theme])}
          title={t.bar.theme(t.bar.themes[theme])}
          onClick={() => setTheme(NEXT_THEME[theme])}
        >
          <Icon name={theme} />
        </button>
        <button
          type="button"
          className="button quiet icon"
          aria-label={t.bar.keys}
          title={`${t.bar.keys} (?)`}
          onClick={onKeys}
        >
          <Icon name="keyboard" />
        </button>
      </div>
    </header>
  );
}

function CopyLink({ selection }: { selection: Selection }) {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    setState((await copyText(linkToPage(selection.sel))) ? "copied" : "refused");
  };
  return (
    <>
      {state === "refused" && (
        <input
          className="bar-link"
          aria-label={t.bar.copyFailed}
          title={t.bar.copyFailed}
          readOnly
          value={linkToPage(selection.sel)}
          onFocus={(event) => event.target.select()}
        />
      )}
      <button type="button" className="button quiet" aria-live="polite" onClick={() => void copy()}>
        <Icon name="link" />
        {state === "copied" ? t.bar.linkCopied : t.bar.copyLink}
      </button>
    </>
  );
}

function runOption(run: RunStatus): Option {
  return option(run.name, run.traces);
}

function workerOption(run: RunStatus, worker: string): Option {
  const traces = spansOf(run, worker);
  return option(worker, traces, rankOf(traces));
}

/** Says of the traces behind an option what is not simply ready. */
function option(
  value: string,
  traces: readonly TraceStatus[],
  about: string | null = null,
): Option {
  const details = [about, stateOf(traces)].filter((detail) => detail !== null);
  return { value, label: value, ...(details.length > 0 ? { detail: details.join(", ") } : {}) };
}

function rankOf(traces: readonly TraceStatus[]): string | null {
  const known = traces.find(({ rank }) => rank !== null && rank !== undefined);
  if (known?.rank === null || known?.rank === undefined) return null;
  return t.bar.rank(known.rank, known.world_size ?? null);
}

function stateOf(traces: readonly TraceStatus[]): string | null {
  const loading = traces.find((trace) => trace.state === "loading");
  if (loading) {
    const progress = traceProgress(loading);
    return progress === null
      ? t.traceState.loading
      : `${t.traceState.loading} ${fraction(progress, 0)}`;
  }
  if (traces.some((trace) => trace.state === "queued")) return t.traceState.queued;
  if (traces.length > 0 && traces.every((trace) => trace.state === "failed")) {
    return t.traceState.failed;
  }
  return null;
}
