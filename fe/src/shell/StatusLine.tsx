/** The line at the bottom: what is shown, what is loading, what needs attention. */
import { reportAddress, reportMade, type Status } from "../api";
import { bytes, count, fraction, moment } from "../format";
import { canSave } from "../host";
import { reasonText, t } from "../i18n";
import { type CurrentTrace, goToView, viewName } from "../state";
import { Link, ProgressBar } from "../ui";
import { isOf } from "./presence";
import { summarise } from "./progress";
import "./statusLine.css";

interface Props {
  status: Status | undefined;
  current: CurrentTrace;
  onFiles: () => void;
  onNotes: () => void;
}

export function StatusLine({ status, current: { sel, trace, run }, onFiles, onNotes }: Props) {
  const load = status && summarise(status);
  return (
    <footer className="status">
      {trace && (
        <>
          <span className="status-file" title={trace.file}>
            {trace.file}
          </span>
          <span className="num">{bytes(trace.size)}</span>
          {trace.events !== null && trace.state === "ready" && (
            <span className="num">
              {(trace.kind === "snapshot" ? t.status.records : t.status.events)(
                count(trace.events),
              )}
            </span>
          )}
          {trace.state === "ready" && <Link onClick={onNotes}>{t.status.notes(trace.notes)}</Link>}
          {trace.state === "ready" && isOf("health", trace, run) && (
            <Link onClick={() => goToView("health")}>{viewName("health")}</Link>
          )}
        </>
      )}
      <span className="status-gap" />
      <span role="status" className="status-load num">
        {load && load.pending > 0 ? (
          <>
            <ProgressBar value={load.progress} label={t.traceState.loading} />
            {t.status.loading(
              load.pending,
              fraction(load.progress ?? 0, 0),
              bytes(load.bytesDone),
              bytes(load.bytesTotal),
            )}
          </>
        ) : (
          status?.scanning && t.status.scanning
        )}
      </span>
      {status?.error && (
        <Link className="status-bad" title={reasonText(status.error, status.why)} onClick={onFiles}>
          {t.status.unlisted}
        </Link>
      )}
      {load && load.unlisted > 0 && (
        <Link className="status-bad" onClick={onFiles}>
          {t.status.unlistedDirectories(load.unlisted)}
        </Link>
      )}
      {load && load.failed > 0 && (
        <Link className="status-bad" onClick={onFiles}>
          {t.status.failed(load.failed)}
        </Link>
      )}
      {load && load.skipped > 0 && <Link onClick={onFiles}>{t.status.skipped(load.skipped)}</Link>}
      {status && (
        <>
          <Link onClick={onFiles}>{t.status.files}</Link>
          {reportMade() !== null ? (
            <span>{t.report.made(moment(reportMade()))}</span>
          ) : (
            sel &&
            trace?.state === "ready" &&
            canSave() && (
              <a className="link" href={reportAddress(sel)} download title={t.report.downloadHint}>
                {t.report.download}
              </a>
            )
          )}
          <span className="status-version muted">{t.status.version(status.version)}</span>
        </>
      )}
    </footer>
  );
}
