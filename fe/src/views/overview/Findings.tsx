/** What costs time, what removing it would save, where it is, and what to do. */
import type { Evidence, Finding, Overview } from "../../api";
import { duration, fraction, value } from "../../format";
import { isEmbedded } from "../../host";
import {
  evidenceLabel,
  findingAdvice,
  findingDetail,
  findingTitle,
  linkText,
  overviewTexts,
} from "../../i18n";
import { longestSlice } from "../../shell";
import { goToView, isViewId, parsePicked, useAddress, viewName } from "../../state";
import { Panel } from "../../ui";
import { inCode } from "./code";
import { params } from "./params";
import { markInTrace, showInTrace } from "./places";

const text = overviewTexts.findings;
/** How many places in the trace a finding lists. */
const PLACES = 5;

export function Findings({ overview }: { overview: Overview }) {
  const [hidden, setHidden] = useAddress(params.mute);
  const { findings, average } = overview;
  const shown = findings.filter(({ id }) => !hidden.includes(id));
  return (
    <Panel className="area-findings" title={text.title} help={text.help}>
      {shown.length === 0 ? (
        <p className="muted">{text.none}</p>
      ) : (
        <ol className="findings">
          {shown.map((finding, at) => (
            <FindingItem
              key={finding.key}
              finding={finding}
              stepNs={average.step_ns}
              isFirst={at === 0}
              onHide={() => setHidden([...hidden, finding.id])}
            />
          ))}
        </ol>
      )}
      <Rest overview={overview} hidden={hidden} onShow={() => setHidden([])} />
    </Panel>
  );
}

interface ItemProps {
  readonly finding: Finding;
  readonly stepNs: number;
  readonly isFirst: boolean;
  readonly onHide: () => void;
}

function FindingItem({ finding, stepNs, isFirst, onHide }: ItemProps) {
  const { severity, confidence, saving, evidence, links, where, instances, count } = finding;
  return (
    <li className="finding">
      <h3>
        <span className={`badge ${severity}`}>{text.severity[severity]}</span>
        <span>{findingTitle(finding)}</span>
        {saving && <Saving saving={saving} stepNs={stepNs} isFirst={isFirst} />}
        {confidence !== "high" && <span className="badge">{text.confidence[confidence]}</span>}
        <button type="button" className="link finding-hide" onClick={onHide}>
          {text.hide}
        </button>
      </h3>
      {where && (
        <p className="finding-where">
          <code>{where.text}</code>
          {where.share < 0.95 && (
            <span className="muted"> {text.partHere(fraction(where.share))}</span>
          )}
          {where.missing && <span className="muted"> {text.noLine(where.missing)}</span>}
        </p>
      )}
      <p>{inCode(findingDetail(finding))}</p>
      <p className="finding-advice">{inCode(findingAdvice(finding))}</p>
      {evidence.length > 0 && (
        <dl className="evidence num">
          {evidence.map((item) => (
            <div key={`${item.key} ${item.gpu} ${item.select}`}>
              <dt>
                {evidenceLabel(item)} <Of select={item.select} />
              </dt>
              <dd>
                {value(item.value, item.unit)} <Where evidence={item} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {instances.length > 0 && (
        <p className="finding-places">
          <span className="muted">{text.places(Math.min(PLACES, instances.length), count)}</span>
          {instances.slice(0, PLACES).map((place) => (
            <button
              key={place.row}
              type="button"
              className="link num"
              title={place.name}
              onClick={() => showInTrace(place, place.row)}
            >
              {text.place(duration(place.duration_ns), place.step)}
            </button>
          ))}
          <button type="button" className="link" onClick={() => markInTrace(finding)}>
            {text.markAll(viewName("trace"))}
          </button>
        </p>
      )}
      {links.length > 0 && (
        <p className="finding-links">
          {links.map((link) => (
            <WebLink key={link.url} link={link} />
          ))}
        </p>
      )}
    </li>
  );
}

/** "at most 59 ms (33 %) [54, 64], after those above". */
function Saving({
  saving,
  stepNs,
  isFirst,
}: {
  saving: NonNullable<Finding["saving"]>;
  stepNs: number;
  isFirst: boolean;
}) {
  const { after_others_ns: after, alone_ns: alone, low_ns: low, high_ns: high } = saving;
  if (after === null || alone === null)
    return (
      <span className="finding-refused" title={saving.refused ?? ""}>
        {text.refused}
      </span>
    );
  return (
    <span
      className="finding-saving num"
      title={text.savingHelp(
        duration(alone),
        low === null ? "" : duration(low),
        high === null ? "" : duration(high),
      )}
    >
      {(saving.bound ? text.atMost : text.about)(duration(after), fraction(after / stepNs))}
      {low !== null && high !== null && ` [${duration(low)}, ${duration(high)}]`}
      {!isFirst && `, ${text.afterAbove}`}
    </span>
  );
}

/** What was checked without a finding, what could not be checked, and what is hidden. */
function Rest({
  overview: { checked, not_evaluated: missing, muted },
  hidden,
  onShow,
}: {
  overview: Overview;
  hidden: readonly string[];
  onShow: () => void;
}) {
  return (
    <div className="findings-rest">
      {hidden.length > 0 && (
        <p className="muted">
          {text.hidden(hidden.join(", "))}{" "}
          <button type="button" className="link" onClick={onShow}>
            {text.showHidden}
          </button>
        </p>
      )}
      {muted.length > 0 && <p className="muted">{text.mutedByServer(muted.join(", "))}</p>}
      {checked.length > 0 && (
        <details>
          <summary>{text.checked(checked.length)}</summary>
          <p className="muted">{checked.map((id) => id.replaceAll("_", " ")).join(" · ")}</p>
        </details>
      )}
      {missing.length > 0 && (
        <details>
          <summary>{text.notEvaluated(missing.length)}</summary>
          <ul className="muted">
            {missing.map(({ id, text: why }) => (
              <li key={id}>
                {id.replaceAll("_", " ")}: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** What a number is of, where several have the same label. */
function Of({ select }: Pick<Evidence, "select">) {
  const selected = parsePicked(select);
  return selected && <code>{selected.name}</code>;
}

/** The views in which the number can be seen, unless that is this one. */
function Where({ evidence: { view, select } }: { evidence: Evidence }) {
  const selected = parsePicked(select);
  return (
    <>
      {view !== null && view !== "overview" && isViewId(view) && (
        <button type="button" className="link" onClick={() => goToView(view, selected)}>
          {text.showIn(viewName(view))}
        </button>
      )}{" "}
      {selected && view !== "trace" && (selected.kind === "op" || selected.kind === "kernel") && (
        <button
          type="button"
          className="link"
          onClick={() => goToView("trace", selected, longestSlice(selected.name))}
        >
          {text.showIn(viewName("trace"))}
        </button>
      )}
    </>
  );
}

/** Only the web's own schemes: an address from elsewhere must not become a script. */
function WebLink({ link }: { link: Finding["links"][number] }) {
  const { url } = link;
  const label = linkText(link);
  if (!/^https?:\/\//i.test(url)) return <span>{label}</span>;
  // A sandbox around us opens no windows: the address is shown to be copied.
  if (isEmbedded()) {
    return (
      <span>
        {label}: <code>{url}</code>
      </span>
    );
  }
  return (
    <a href={url} target="_blank" rel="noreferrer" title={url}>
      {label}
    </a>
  );
}
