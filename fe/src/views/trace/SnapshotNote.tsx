/** On what the tracks of a memory snapshot rest, what their colours mean, and the moments worth going to. */

import type { CurveKind } from "../../api/snapshotTracks";
import { bytes, count, duration, fraction } from "../../format";
import { traceTexts } from "../../i18n";
import { goToView, selectTrace } from "../../state";
import { LineLegend } from "../../timeline";
import { Link } from "../../ui";
import type { KnownSnapshot } from "./snapshots";
import { useModel, useTraceState } from "./useTraceModel";
import "./snapshots.css";

const text = traceTexts.snapshot;
const CURVES: readonly CurveKind[] = ["requested", "allocated", "active", "reserved"];
/** Of a kind of moment, so many are offered. */
const MOST = 5;

export function SnapshotNote() {
  return useTraceState().known.map((each) => <OfRank key={each.rank.worker} known={each} />);
}

function OfRank({ known: { rank, worker, span, link, about } }: { readonly known: KnownSnapshot }) {
  const { pickRecord } = useModel();
  const open = (
    <Link
      onClick={() => {
        selectTrace({ run: rank.key.run, worker, span });
        goToView("snapshot", null, link.device === null ? {} : { device: String(link.device) });
      }}
    >
      {text.open}
    </Link>
  );
  if (link.reason !== "linked")
    return (
      <p className="muted">
        {text.notDrawn(worker, rank.worker, text.reasons[link.reason])} {open}
      </p>
    );
  const unknown = CURVES.filter((kind) => !about?.curves.some((each) => each.kind === kind));
  const shown = (about?.moments ?? []).filter(
    ({ kind, time_ns }, at, all) =>
      time_ns !== null && all.slice(0, at).filter((each) => each.kind === kind).length < MOST,
  );
  return (
    <div className="trace-snapshot">
      <p className="muted num">
        {text.linked(
          worker,
          rank.worker,
          fraction(link.matched),
          count(link.records),
          duration(link.offset_ns ?? 0),
          duration(link.spread_ns ?? 0),
        )}{" "}
        {open}
      </p>
      {about && about.start_ns !== null && unknown.length > 0 && (
        <p className="muted">{text.unknown(unknown.map((kind) => text.curves[kind]).join(", "))}</p>
      )}
      {about && about.contradictions > 0 && (
        <p className="trace-wrong">{text.contradictions(count(about.contradictions))}</p>
      )}
      {about && about.lines.length > 0 && (
        <div className="trace-legend">
          <span className="muted">{text.curves.requested}</span>
          <LineLegend lines={about.lines} />
        </div>
      )}
      {shown.length > 0 && (
        <p className="row num">
          <span className="muted">{text.moments}</span>
          {shown.map(({ kind, position, requested, reserved }) => (
            <Link
              key={`${kind} ${position}`}
              onClick={() => pickRecord({ worker: rank.worker, at: { type: "record", position } })}
            >
              {text.kinds[kind] ?? kind} ·{" "}
              {kind === "reserved_peak" ? bytes(reserved) : text.inUse(bytes(requested))}
            </Link>
          ))}
        </p>
      )}
    </div>
  );
}
