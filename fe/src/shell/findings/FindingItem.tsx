/** A finding: what it costs, where it is, and what to do. */

import type { ReactNode } from "react";
import type { Evidence, Finding } from "../../api";
import { duration, fraction, value } from "../../format";
import { isEmbedded } from "../../host";
import {
  evidenceLabel,
  findingAdvice,
  findingDetail,
  findingTitle,
  linkText,
  overviewTexts,
  refusedText,
} from "../../i18n";
import { isViewId, parsePicked } from "../../state";
import { Facts, Link } from "../../ui";
import { longestSlice } from "../places";
import { inCode } from "./code";
import { ShowIn } from "./ShowIn";
import "../../ui/lines.css";
import "./findings.css";

const text = overviewTexts.findings;

export interface ItemProps {
  readonly finding: Omit<Finding, "where" | "instances" | "count">;
  readonly stepNs: number;
  readonly isFirst: boolean;
  /** Where in the program. */
  readonly where?: ReactNode;
  /** Where in the trace. */
  readonly places?: ReactNode;
  /** The view that shows it: numbers that are seen there have no link. */
  readonly here: string;
  /** Shows in the Trace view what numbers are made of that are seen there; without it nothing is marked. */
  readonly onTrace?: () => void;
  /** Hides the rule; without it nothing is offered. */
  readonly onHide?: (() => void) | undefined;
  /** Of the pin that shows it in a picture. */
  readonly number?: number | undefined;
  /** Whether it is one line, and what opens and closes it; without it there is nothing to open. */
  readonly fold?: { readonly isFolded: boolean; readonly onFold: () => void } | undefined;
}

export function FindingItem(props: ItemProps) {
  const { finding, stepNs, isFirst, where, places, here, onTrace, onHide, number, fold } = props;
  const { severity, confidence, saving, evidence, links } = finding;
  const title = findingTitle(finding);
  const heading = (
    <h3>
      {number !== undefined && <span className="finding-number num">{number}</span>}
      <span className={`badge ${severity}`}>{text.severity[severity]}</span>
      <span className="finding-title" title={fold && title}>
        {title}
      </span>
      {saving && (
        <Saving saving={saving} stepNs={stepNs} isFirst={isFirst} isShort={fold !== undefined} />
      )}
      {confidence !== "high" && !fold && (
        <span className="badge">{text.confidence[confidence]}</span>
      )}
      {onHide && !fold && (
        <Link className="finding-hide" onClick={onHide}>
          {text.hide}
        </Link>
      )}
      {fold && (
        <Link
          className="finding-hide"
          aria-label={text.detailsOf(title)}
          aria-expanded={!fold.isFolded}
          onClick={fold.onFold}
        >
          {text.details}
        </Link>
      )}
    </h3>
  );
  if (fold?.isFolded) return <li className="finding folded">{heading}</li>;
  return (
    <li className={fold ? "finding unfolded" : "finding"}>
      {heading}
      {where}
      <p>{inCode(findingDetail(finding))}</p>
      <p className="finding-advice">{inCode(findingAdvice(finding))}</p>
      {evidence.length > 0 && (
        <Facts
          look="line"
          facts={evidence.map((item) => ({
            key: `${item.key} ${item.gpu} ${item.select}`,
            name: (
              <>
                {evidenceLabel(item)}
                <Of select={item.select} />
              </>
            ),
            value: (
              <>
                {value(item.value, item.unit)}{" "}
                <Where evidence={item} here={here} onTrace={onTrace} />
              </>
            ),
          }))}
        />
      )}
      {places}
      {links.length > 0 && (
        <p className="row">
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
  isShort,
}: {
  saving: NonNullable<Finding["saving"]>;
  stepNs: number;
  isFirst: boolean;
  /** Without its interval. */
  isShort: boolean;
}) {
  const { after_others_ns: after, alone_ns: alone, low_ns: low, high_ns: high } = saving;
  if (after === null || alone === null)
    return (
      <span
        className="finding-refused"
        title={refusedText({
          id: saving.refused_id,
          text: saving.refused,
          share: saving.refused_share,
        })}
      >
        {saving.at_most_ns === null
          ? isShort && saving.share_of_step !== null
            ? text.takes(fraction(saving.share_of_step))
            : text.refused
          : text.atMost(duration(saving.at_most_ns), fraction(saving.at_most_ns / stepNs))}
      </span>
    );
  if (after === 0)
    return (
      <span className="finding-refused" title={text.savingHelp(duration(alone), "", "")}>
        {text.noSaving}
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
      {!isShort && low !== null && high !== null && ` [${duration(low)}, ${duration(high)}]`}
      {!isShort && !isFirst && `, ${text.afterAbove}`}
    </span>
  );
}

/** What a number is of, where several have the same label. */
function Of({ select }: Pick<Evidence, "select">) {
  const selected = parsePicked(select);
  if (!selected) return null;
  return (
    <>
      {" "}
      <code>{selected.name}</code>
    </>
  );
}

/** The views in which the number can be seen, unless that is this one. */
function Where({
  evidence: { view, select },
  here,
  onTrace,
}: Pick<ItemProps, "here" | "onTrace"> & { evidence: Evidence }) {
  const selected = parsePicked(select);
  return (
    <>
      {view !== null && view !== here && isViewId(view) && (
        <ShowIn
          view={view}
          select={selected}
          inText
          onClick={view === "trace" && !selected ? onTrace : undefined}
        />
      )}{" "}
      {selected && view !== "trace" && (selected.kind === "op" || selected.kind === "kernel") && (
        <ShowIn view="trace" select={selected} look={longestSlice(selected.name)} inText />
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
