import { useState } from "react";
import { storedTrace, traceAddresses } from "../../api";
import { bytes, count, exact } from "../../format";
import { canSave, openInPerfetto, PERFETTO_URL } from "../../host";
import { t } from "../../i18n";
import { useSelection } from "../../state";
import { Popup } from "../../table/Popup";
import { CopyButton } from "../../ui";

const text = t.trace;

/** The file itself: what it is, taking it away, looking at it elsewhere. */
export function FileMenu() {
  const { sel, trace } = useSelection();
  const [problem, setProblem] = useState<string | null>(null);
  if (!sel || !trace) return null;
  const { stored, withCounters } = traceAddresses(sel);
  const plain = `${trace.file.replace(/\.(gz|zst)$/, "").replace(/\.json$/, "")}.counters.json`;
  const perfetto = () => {
    setProblem(null);
    const opened = openInPerfetto(trace.file, async () => {
      try {
        return await storedTrace(sel);
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
          <dl className="trace-facts">
            <div>
              <dt>{text.name}</dt>
              <dd>
                <code>{trace.file}</code>
              </dd>
            </div>
            <div>
              <dt>{text.size}</dt>
              <dd className="num" title={exact(trace.size, "bytes")}>
                {bytes(trace.size)}
              </dd>
            </div>
            <div>
              <dt>{text.events}</dt>
              <dd className="num">{count(trace.events)}</dd>
            </div>
          </dl>
          {canSave() ? (
            <div className="trace-downloads">
              <a className="button" href={stored} download={trace.file} title={text.downloadHelp}>
                {text.download}
              </a>
              <a
                className="button"
                href={withCounters}
                download={plain}
                title={text.downloadCountersHelp}
              >
                {text.downloadCounters}
              </a>
              <button type="button" className="button" title={text.perfettoHelp} onClick={perfetto}>
                {text.perfetto}
              </button>
            </div>
          ) : (
            // A sandbox around us drops downloads and new windows without a word.
            <div className="trace-downloads">
              <span>{text.blocked}</span>
              {[stored, withCounters, PERFETTO_URL].map((address) => (
                <span key={address} className="trace-address">
                  <code>{address}</code>
                  <CopyButton text={address} />
                </span>
              ))}
            </div>
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
