/** Every file of the log directory with what became of it. */
import type { Status } from "../api";
import { bytes, fraction } from "../format";
import { reasonText, t } from "../i18n";
import { Dialog, ProgressBar } from "../ui";
import { type FileRow, fileRows, traceProgress } from "./progress";
import "./files.css";

export function FilesDialog({ status, onClose }: { status: Status; onClose: () => void }) {
  return (
    <Dialog title={t.files.title} onClose={onClose}>
      <p className="muted files-dir">
        <code>{status.logdir}</code>
      </p>
      {status.error && <p className="reason">{reasonText(status.error, status.why)}</p>}
      <FilesTable rows={fileRows(status)} />
    </Dialog>
  );
}

const BADGE: Partial<Record<FileRow["state"], string>> = { skipped: "warning", unlisted: "failed" };

export function FilesTable({ rows }: { rows: readonly FileRow[] }) {
  if (rows.length === 0) return <p className="muted">{t.files.none}</p>;
  return (
    <table className="files">
      <thead>
        <tr>
          <th scope="col">{t.files.run}</th>
          <th scope="col">{t.files.file}</th>
          <th scope="col" className="right">
            {t.files.size}
          </th>
          <th scope="col">{t.files.state}</th>
          <th scope="col">{t.files.reason}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.run}/${row.file}`}>
            <td>{row.run}</td>
            <td>
              <code>{row.file}</code>
            </td>
            <td className="right num">{row.trace ? bytes(row.trace.size) : ""}</td>
            <td>
              <span className={`badge ${BADGE[row.state] ?? row.state}`}>
                {t.traceState[row.state]}
              </span>
            </td>
            <td>
              <Remarks row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Remarks({ row: { trace, reason } }: { row: FileRow }) {
  if (reason) return <>{reason}</>;
  if (trace?.state !== "loading") return null;
  const progress = traceProgress(trace);
  return (
    <>
      <ProgressBar value={progress} label={t.traceState.loading} />
      {progress !== null && (
        <span className="muted num">
          {t.files.progress(
            fraction(progress, 0),
            bytes(trace.bytes_done),
            bytes(trace.bytes_total),
          )}
        </span>
      )}
    </>
  );
}
