/** The files of the log directory, each with what became of it. */
import { bytes, fraction } from "../format";
import { t } from "../i18n";
import { ListTable } from "../table";
import { ProgressBar } from "../ui";
import { type FileRow, traceProgress } from "./progress";
import "./files.css";

const BADGE: Partial<Record<FileRow["state"], string>> = { skipped: "warning", unlisted: "failed" };

export default function FilesTable({ rows }: { rows: readonly FileRow[] }) {
  if (rows.length === 0) return <p className="muted">{t.files.none}</p>;
  return (
    <ListTable
      label={t.files.title}
      wide
      className="files"
      rows={rows}
      columns={[
        { label: t.files.run, cell: ({ run }) => run },
        { label: t.files.file, kind: "text", cell: ({ file }) => <code>{file}</code> },
        { label: t.files.size, cell: ({ trace }) => (trace ? bytes(trace.size) : "") },
        {
          label: t.files.state,
          kind: "text",
          cell: ({ state }) => (
            <span className={`badge ${BADGE[state] ?? state}`}>{t.traceState[state]}</span>
          ),
        },
        { label: t.files.reason, kind: "text", cell: (row) => <Remarks row={row} /> },
      ]}
    />
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
