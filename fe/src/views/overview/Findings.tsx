import type { Evidence, Finding } from "../../api";
import { duration, value } from "../../format";
import { isEmbedded } from "../../host";
import { evidenceLabel, findingDetail, findingTitle, linkText, overviewTexts } from "../../i18n";
import { longestSlice } from "../../shell";
import { goToView, isViewId, parsePicked, viewName } from "../../state";
import { Panel } from "../../ui";

const text = overviewTexts.findings;

export function findingId(id: string): string {
  return `finding-${id}`;
}

export function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <Panel className="area-findings" title={text.title} help={text.help}>
      {findings.length === 0 ? (
        <p className="muted">{text.none}</p>
      ) : (
        <ol className="findings">
          {findings.map((finding) => (
            <FindingItem key={finding.id} finding={finding} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function FindingItem({ finding }: { finding: Finding }) {
  const { id, severity, saving_ns: saving, evidence, links } = finding;
  return (
    <li className="finding" id={findingId(id)} tabIndex={-1}>
      <h3>
        <span className={`badge ${severity}`}>{text.severity[severity]}</span>
        <span>{findingTitle(finding)}</span>
        {saving !== null && saving > 0 && (
          <span className="finding-saving num">{text.saving(duration(saving))}</span>
        )}
      </h3>
      <p>{findingDetail(finding)}</p>
      {evidence.length > 0 && (
        <dl className="evidence num">
          {evidence.map((item) => (
            <div key={`${item.key} ${item.gpu}`}>
              <dt>{evidenceLabel(item)}</dt>
              <dd>
                {value(item.value, item.unit)} <Where evidence={item} />
              </dd>
            </div>
          ))}
        </dl>
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
