/** What costs time, what removing it would save, where it is, and what to do. */
import type { Finding, Overview } from "../../api";
import { partName } from "../../draw/parts";
import { fraction } from "../../format";
import { overviewTexts } from "../../i18n";
import {
  FindingItem,
  type ItemProps,
  markInTrace,
  Places,
  showInTrace,
} from "../../shell/findings";
import { useAddress } from "../../state";
import { Link, Panel } from "../../ui";
import { params } from "./params";

const text = overviewTexts.findings;

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
            <FindingOfRank
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

interface OfRankProps extends Pick<ItemProps, "stepNs" | "isFirst" | "onHide" | "number" | "fold"> {
  readonly finding: Finding;
}

/** One of this trace, with its places in the program and on the timeline. */
export function FindingOfRank({ finding, ...more }: OfRankProps) {
  return (
    <FindingItem
      {...more}
      finding={finding}
      here="overview"
      onTrace={finding.instances.length > 0 ? () => markInTrace(finding) : undefined}
      where={finding.where && <Where where={finding.where} />}
      places={
        <Places
          places={finding.instances}
          count={finding.count}
          onShow={(place) => showInTrace(place, place.row)}
          onMark={() => markInTrace(finding)}
        />
      }
    />
  );
}

/** The place in the program. */
function Where({ where }: { where: NonNullable<Finding["where"]> }) {
  return (
    <p className="finding-where">
      <code>{text.where(where)}</code>
      {where.share < 0.95 && <span className="muted"> {text.partHere(fraction(where.share))}</span>}
      {where.missing && <span className="muted"> {text.noLine(where.missing)}</span>}
    </p>
  );
}

/** What was checked without a finding, what could not be checked, and what is hidden. */
function Rest({
  overview: { checked, not_evaluated: missing, muted, not_looked_at: left, waterfall, average },
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
          {text.hidden(hidden.join(", "))} <Link onClick={onShow}>{text.showHidden}</Link>
        </p>
      )}
      {left.length > 0 && (
        <p className="muted">
          {text.notLookedAt(
            waterfall
              .filter(({ cause }) => left.includes(cause))
              .map(({ cause, ns }) => `${partName(cause)} ${fraction(ns / average.step_ns)}`)
              .join(", "),
          )}
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
