/** Which run, worker and span every view shows; refresh, link, theme, keys. */
import { useEffect, useState } from "react";
import type { Status } from "../api";
import { copyText, type ThemeChoice, useThemeChoice } from "../host";
import { t } from "../i18n";
import { linkToPage, type Selection, selectTrace } from "../state";
import { ComparedWith } from "./ComparedWith";
import { Icon } from "./Icon";
import { TracePicker } from "./TracePicker";

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
  return (
    <header className="bar">
      <section className="bar-pickers" aria-label={t.bar.label}>
        <TracePicker
          status={status}
          run={sel?.run ?? run?.name ?? null}
          worker={sel?.worker ?? null}
          span={sel?.span ?? null}
          onChange={selectTrace}
        />
        <ComparedWith selection={selection} status={status} />
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
    setState(
      (await copyText(linkToPage(selection.sel, selection.comparison))) ? "copied" : "refused",
    );
  };
  return (
    <>
      {state === "refused" && (
        <input
          className="bar-link"
          aria-label={t.bar.copyFailed}
          title={t.bar.copyFailed}
          readOnly
          value={linkToPage(selection.sel, selection.comparison)}
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
