/** What was in use at the moment by what the trace of the same process says of it, where there is one. */
import { useTraceQuery } from "../../api";
import { useSnapshotPartner } from "../../api/snapshotLink";
import { bytes, count, fraction } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { ListTable } from "../../table";
import { Panel } from "../../ui";
import type { Look } from "./useSnapshot";

const LISTED = 40;

interface Props {
  readonly look: Look;
  readonly by: "module" | "annotation";
}

/** Nothing where the run has no trace of the same process. */
export function LinkedAlivePanel({ look, by }: Props) {
  const { sel, run, trace } = useTrace();
  const partner = useSnapshotPartner(run, trace)?.partner;
  const key = sel && partner ? { run: sel.run, worker: partner.worker, span: partner.span } : null;
  const { data } = useTraceQuery("snapshot/alive_in_trace", key, {
    at: look.at,
    by,
    exp_run: sel?.run,
    exp_worker: sel?.worker,
    exp_span: sel?.span,
  });
  if (!data || data.linked === null || data.link.device !== look.device.device) return null;
  const { group, blocks, bytes: sizes } = data.rows;
  const shown = group.slice(0, LISTED);
  const rest = group.length - shown.length + data.left_out;
  return (
    <Panel title={text.linked.title[by]} help={text.linked.help}>
      <ListTable
        caption={text.linked.share(fraction(data.linked))}
        heads={text.linked.columns}
        rows={shown}
        columns={[
          { cell: String },
          { cell: (_, at) => bytes(sizes[at]) },
          { cell: (_, at) => count(blocks[at]) },
        ]}
      />
      {rest > 0 && <p className="muted">{text.more(count(rest))}</p>}
    </Panel>
  );
}
