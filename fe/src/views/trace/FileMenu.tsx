import { useState } from "react";
import { storedTrace, traceAddresses, traceWindow, windowAddress } from "../../api";
import type { TimeWindow } from "../../draw";
import { bytes, count, exact } from "../../format";
import { canSave, openInPerfetto, PERFETTO_URL } from "../../host";
import { traceTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { Button, CopyButton, Facts, Popup } from "../../ui";

/** The file itself: what it is, taking it away, looking at it elsewhere. `window`: what is in sight, null for all. */
export function FileMenu({ window }: { window: TimeWindow | null }) {
  const { sel, trace } = useTrace();
  const [problem, setProblem] = useState<string | null>(null);
  if (!sel || !trace) return null;
  const { stored, withCounters } = traceAddresses(sel);
  const name = `${trace.file.replace(/\.(gz|zst)$/, "").replace(/\.json$/, "")}`;
  const perfetto = (title: string, load: () => Promise<ArrayBuffer>) => {
    setProblem(null);
    const opened = openInPerfetto(title, async () => {
      try {
        return await load();
      } catch (error) {
        setProblem(error instanceof Error ? error.message : String(error));
        throw error;
      }
    });
    if (!opened) setProblem(text.perfettoBlocked);
  };
  return (
    <Popup label={text.file}>
      {() => (
        <section className="trace-menu trace-file" aria-label={text.file}>
          <Facts
            facts={[
              { name: text.name, value: <code>{trace.file}</code> },
              { name: text.size, value: bytes(trace.size), title: exact(trace.size, "bytes") },
              { name: text.events, value: count(trace.events) },
            ]}
          />
          {canSave() ? (
            <div className="trace-downloads">
              <a className="button" href={stored} download={trace.file} title={text.downloadHelp}>
                {text.download}
              </a>
              <a
                className="button"
                href={withCounters}
                download={`${name}.counters.json`}
                title={text.downloadCountersHelp}
              >
                {text.downloadCounters}
              </a>
              <InPerfetto
                label={text.perfetto}
                help={text.perfettoHelp}
                onOpen={() => perfetto(trace.file, () => storedTrace(sel))}
              />
              {window && (
                <>
                  <a
                    className="button"
                    href={windowAddress(sel, window.start, window.end)}
                    download={`${name}.window.json`}
                    title={text.windowHelp}
                  >
                    {text.downloadWindow}
                  </a>
                  <InPerfetto
                    label={text.perfettoWindow}
                    help={text.windowHelp}
                    onOpen={() =>
                      perfetto(`${name}.window.json`, () =>
                        traceWindow(sel, window.start, window.end),
                      )
                    }
                  />
                </>
              )}
            </div>
          ) : (
            <Addresses of={[stored, withCounters, PERFETTO_URL]} />
          )}
          {problem !== null && (
            <p role="alert" className="trace-wrong">
              {problem}
            </p>
          )}
          <p className="muted">{text.perfettoNote}</p>
        </section>
      )}
    </Popup>
  );
}

interface InPerfettoProps {
  readonly label: string;
  readonly help: string;
  readonly onOpen: () => void;
}

function InPerfetto({ label, help, onOpen }: InPerfettoProps) {
  return (
    <Button title={help} onClick={onOpen}>
      {label}
    </Button>
  );
}

/** A sandbox around us drops downloads and new windows without a word. */
function Addresses({ of }: { of: readonly string[] }) {
  return (
    <div className="trace-downloads">
      <span>{text.blocked}</span>
      {of.map((address) => (
        <span key={address} className="trace-address">
          <code>{address}</code>
          <CopyButton text={address} />
        </span>
      ))}
    </div>
  );
}
