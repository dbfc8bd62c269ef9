import { traceAddresses } from "../../api";
import { bytes, count, exact } from "../../format";
import { canSave } from "../../host";
import { t } from "../../i18n";
import { useSelection } from "../../state";
import { CopyButton, Panel } from "../../ui";

const text = t.trace;

export function FilePanel() {
  const { sel, trace } = useSelection();
  if (!sel || !trace) return null;
  const { stored, withCounters } = traceAddresses(sel);
  const plain = `${trace.file.replace(/\.(gz|zst)$/, "").replace(/\.json$/, "")}.counters.json`;
  return (
    <Panel title={text.file}>
      <div className="trace-file">
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
            <a
              className="button primary"
              href={stored}
              download={trace.file}
              title={text.downloadHelp}
            >
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
          </div>
        ) : (
          // A sandbox around us drops downloads without a word.
          <div className="trace-downloads">
            <span>{text.blocked}</span>
            {[stored, withCounters].map((address) => (
              <span key={address} className="trace-address">
                <code>{address}</code>
                <CopyButton text={address} />
              </span>
            ))}
          </div>
        )}
        <section className="trace-perfetto" aria-label={text.perfetto}>
          <h3>{text.perfetto}</h3>
          <ol>
            {text.perfettoSteps.map((step, index) => (
              <li key={step}>
                {step}
                {index === 1 && (
                  <span className="trace-address">
                    <code>{text.perfettoUrl}</code>
                    <CopyButton text={text.perfettoUrl} />
                  </span>
                )}
              </li>
            ))}
          </ol>
          <p className="muted">{text.perfettoNote}</p>
        </section>
      </div>
    </Panel>
  );
}
