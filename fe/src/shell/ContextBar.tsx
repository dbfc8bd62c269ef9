/** Which run, worker and span every view shows; refresh, link, theme, keys. */
import { useEffect, useState } from "react";
import { reportMade, type Status } from "../api";
import { copyText, type ThemeChoice, useThemeChoice } from "../host";
import { LANGUAGES, type LanguageId, t } from "../i18n";
import {
  type CurrentTrace,
  formatRange,
  linkToPage,
  page,
  selectTrace,
  useAddress,
} from "../state";
import { Button, Icon } from "../ui";
import { StepBrush } from "./brush/StepBrush";
import { ComparedWith } from "./ComparedWith";
import { preloadPalette } from "./palette/Palette";
import { switchLanguage } from "./switchLanguage";
import { TracePicker } from "./TracePicker";
import "./contextBar.css";

const NEXT_THEME: Record<ThemeChoice, ThemeChoice> = { auto: "light", light: "dark", dark: "auto" };
const FEEDBACK_MS = 2_000;
const PALETTE_KEYS = /Mac|iP(hone|ad)/.test(navigator.platform) ? "⌘K" : "Ctrl K";

interface Props {
  status: Status | undefined;
  current: CurrentTrace;
  refreshing: boolean;
  link: CopiedLink;
  onRefresh: () => void;
  onKeys: () => void;
  onPalette: () => void;
}

export function ContextBar(props: Props) {
  const { status, current, refreshing, link, onRefresh, onKeys, onPalette } = props;
  const { run, trace, steps, range } = current;
  const [theme, setTheme] = useThemeChoice();
  const [, setRange] = useAddress(page.steps);
  return (
    <header className="bar">
      <section className="bar-pickers" aria-label={t.bar.label}>
        <TracePicker
          status={status}
          run={run?.name ?? null}
          worker={trace?.worker ?? null}
          span={trace?.span ?? null}
          onChange={selectTrace}
        />
        <ComparedWith current={current} status={status} />
        {steps && steps.names.length > 1 && reportMade() === null && (
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
        <Button
          className="bar-search"
          aria-keyshortcuts="Control+K Meta+K"
          title={t.palette.title}
          onPointerEnter={preloadPalette}
          onFocus={preloadPalette}
          onClick={onPalette}
        >
          <Icon name="search" />
          <span className="visually-hidden">{t.palette.title}</span>
          <span className="bar-keys">{PALETTE_KEYS}</span>
        </Button>
        {reportMade() === null && (
          <Button quiet title={t.bar.refreshHint} disabled={refreshing} onClick={onRefresh}>
            {refreshing ? <span className="spinner" /> : <Icon name="refresh" />}
            <span className="bar-words">{t.bar.refresh}</span>
          </Button>
        )}
        <CopyLink link={link} />
        <LanguageSwitch />
        <Button
          quiet
          icon
          aria-label={t.bar.theme(t.bar.themes[theme])}
          title={t.bar.theme(t.bar.themes[theme])}
          onClick={() => setTheme(NEXT_THEME[theme])}
        >
          <Icon name={theme} />
        </Button>
        <Button quiet icon aria-label={t.bar.keys} title={`${t.bar.keys} (?)`} onClick={onKeys}>
          <Icon name="keyboard" />
        </Button>
      </div>
    </header>
  );
}

/** Copying the address of the page, which has more than one button. */
interface CopiedLink {
  state: "idle" | "copied" | "refused";
  copy: () => void;
  /** To be taken by hand where copying is refused. */
  address: () => string;
}

export function useCopyLink({ run, trace, comparison }: CurrentTrace): CopiedLink {
  const [state, setState] = useState<CopiedLink["state"]>("idle");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const address = () =>
    linkToPage(
      run && trace && { run: run.name, worker: trace.worker, span: trace.span },
      comparison,
    );
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
      <Button quiet aria-live="polite" title={t.bar.copyLink} onClick={copy}>
        <Icon name={state === "copied" ? "check" : "link"} />
        <span className="bar-words">{state === "copied" ? t.bar.linkCopied : t.bar.copyLink}</span>
      </Button>
    </>
  );
}

/** There are two: the button is called as the other one calls itself. */
function LanguageSwitch() {
  const ids = Object.keys(LANGUAGES) as LanguageId[];
  const other = ids.find((id) => id !== t.lang) ?? "en";
  return (
    // A sign, as the font of a server may lack the other writing.
    <Button
      quiet
      icon
      lang={other}
      aria-label={LANGUAGES[other]}
      title={LANGUAGES[other]}
      onClick={() => switchLanguage(other)}
    >
      <Icon name="language" />
    </Button>
  );
}
