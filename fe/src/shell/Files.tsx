/** Every file of the log directory with what became of it. */
import type { Status } from "../api";
import { reasonText, t } from "../i18n";
import { Dialog } from "../ui";
import FilesTable from "./FilesTable";
import { fileRows } from "./progress";

export default function Files({ status, onClose }: { status: Status; onClose: () => void }) {
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
