/** Which run, worker and span every view shows; refresh, link, theme, keys. */
import { useEffect, useMemo, useState } from "react";
import type { RunStatus, Status, TraceStatus } from "../api";
import { fraction } from "../format";
import { copyText, type ThemeChoice, useThemeChoice } from "../host";
import { LANGUAGES, type LanguageId, t } from "../i18n";
import {
  formatRange,
  linkToPage,
  type Selection,
  selectTrace,
  spansOf,
  useStepRange,
} from "../state";
import { StepBrush } from "./brush/StepBrush";
import { Combo } from "./Combo";
import { Icon } from "./Icon";
import { switchLanguage } from "./language";
import type { Option } from "./options";
import { traceProgress } from "./progress";

const NEXT_THEME: Record<ThemeChoice, ThemeChoice> = { auto: "light", light: "dark", dark: "auto" };
const FEEDBACK_MS = 2_000;
const SHORT: Record<LanguageId, string> = { en: "EN", "zh-CN": "中文" };
const PALETTE_KEYS = /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘K" : "Ctrl K";

interface Props {
  status: Status | undefined;
  selection: Selection;
  refreshing: boolean;
  link: CopiedLink;
  onRefresh: () => void;
  onKeys: () => void;
  onPalette: () => void;
}

export function ContextBar(props: Props) {
  const { status, selection, refreshing, link, onRefresh, onKeys, onPalette } = props;
  const { run, trace, steps, range } = selection;
  const [theme, setTheme] = useThemeChoice();
  const [, setRange] = useStepRange();
  const runs = useMemo(() => status?.runs.map(runOption) ?? [], [status]);
  const workers = useMemo(() => (run ? workerOptions(run) : []), [run]);
  const spans = run && trace ? spansOf(run, trace.worker) : [];
  return (
    <header className="bar">
      <section className="bar-pickers" aria-label={t.bar.label}>
        <Combo
          label={t.bar.run}
          value={run?.name ?? null}
          options={runs}
          onChange={(name) => selectTrace({ run: name })}
        />
        <Combo
          label={t.bar.worker}
          value={trace?.worker ?? null}
          options={workers}
          onChange={(worker) => selectTrace({ worker })}
        />
        {spans.length > 1 && (
          <Combo
            label={t.bar.span}
            value={trace?.span ?? null}
            options={spans.map((trace) => option(trace.span, [trace]))}
            onChange={(span) => selectTrace({ span })}
          />
        )}
        {steps && steps.names.length > 1 && (
          <StepBrush
            // Half a choice must not be carried over to other steps.
            key={`${trace?.file} ${steps.names.length}`}
            steps={steps}
            range={range}
            onChange={(next) => setRange(formatRange(steps.names, next))}
          />
        )}
      </section>
      <div className="bar-tools">
        <button
          type="button"
          className="button bar-search"
          aria-keyshortcuts="Control+K Meta+K"
          title={t.palette.title}
          onClick={onPalette}
        >
          <Icon name="search" />
          <span className="visually-hidden">{t.palette.title}</span>
          <span className="bar-keys">{PALETTE_KEYS}</span>
        </button>
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
        <CopyLink link={link} />
        <LanguageSwitch />
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

/** Copying the address of the page, which has more than one button. */
export interface CopiedLink {
  state: "idle" | "copied" | "refused";
  copy: () => void;
  /** To be taken by hand where copying is refused. */
  address: () => string;
}

export function useCopyLink({ run, trace }: Selection): CopiedLink {
  const [state, setState] = useState<CopiedLink["state"]>("idle");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const address = () =>
    linkToPage(run && trace && { run: run.name, worker: trace.worker, span: trace.span });
  const copy = async () => {
    setState((await copyText(address())) ? "copied" : "refused");
  };
  return { state, copy: () => void copy(), address };
}

function CopyLink({ link: { state, copy, address } }: { link: CopiedLink }) {
  return (
    <>
      {state === "refused" && (
        <input
          className="bar-link"
          aria-label={t.bar.copyFailed}
          title={t.bar.copyFailed}
          readOnly
          value={address()}
          onFocus={(event) => event.target.select()}
        />
      )}
      <button type="button" className="button quiet" aria-live="polite" onClick={copy}>
        <Icon name="link" />
        {state === "copied" ? t.bar.linkCopied : t.bar.copyLink}
      </button>
    </>
  );
}

/** There are two: the button names the other one, in its own words. */
function LanguageSwitch() {
  const ids = Object.keys(LANGUAGES) as LanguageId[];
  const other = ids.find((id) => id !== t.lang) ?? "en";
  return (
    <button
      type="button"
      className="button quiet"
      lang={other}
      title={LANGUAGES[other]}
      onClick={() => switchLanguage(other)}
    >
      {SHORT[other]}
      <span className="visually-hidden"> {LANGUAGES[other]}</span>
    </button>
  );
}

function runOption(run: RunStatus): Option {
  return option(run.name, run.traces);
}

function workerOptions(run: RunStatus): Option[] {
  // One pass: a run may have a thousand workers, and this is drawn at every news of them.
  const traces = new Map<string, TraceStatus[]>();
  for (const trace of run.traces) {
    const spans = traces.get(trace.worker);
    if (spans) spans.push(trace);
    else traces.set(trace.worker, [trace]);
  }
  return [...traces].map(([worker, spans]) => option(worker, spans, rankOf(spans)));
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
