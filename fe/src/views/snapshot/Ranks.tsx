/** The snapshots of the run beside each other; nothing where there is one. */
import { useSnapshotRanks } from "../../api/traces";
import { bytes, count, frameLabel } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { PartialNotes } from "../../shell";
import { selectTrace, useTrace } from "../../state";
import { ListTable } from "../../table";
import { Link, QueryPanel } from "../../ui";

const LISTED = 50;

export function RanksPanel() {
  const { sel, run } = useTrace();
  const several = (run?.traces ?? []).filter(({ kind }) => kind === "snapshot").length > 1;
  const query = useSnapshotRanks(several ? sel : null);
  if (!several) return null;
  return (
    <QueryPanel title={text.ranks} help={text.ranksHelp} query={query}>
      {({ rows: answered, meta }) => {
        const rows = answered as unknown as Rows;
        const more = rows.trace.length - LISTED;
        return (
          <>
            <PartialNotes notes={meta.notes} />
            <ListTable
              caption={text.ranksOrder}
              heads={text.rankColumns}
              rows={rows.trace.slice(0, LISTED)}
              columns={[
                {
                  cell: (trace, at) => (
                    <Link
                      onClick={() =>
                        selectTrace({
                          run: run?.name,
                          worker: rows.worker[at],
                          span: rows.span[at],
                        })
                      }
                    >
                      {trace}
                    </Link>
                  ),
                },
                { cell: (_, at) => bytes(rows.peak_requested[at]) },
                { cell: (_, at) => bytes(rows.difference[at]) },
                { cell: (_, at) => bytes(rows.peak_reserved[at]) },
                { cell: (_, at) => bytes(rows.requested[at]) },
                { cell: (_, at) => count(rows.ooms[at]) },
                {
                  kind: "text",
                  cell: (_, at) => (
                    <span title={rows.line[at]}>{frameLabel(rows.line[at] ?? "")}</span>
                  ),
                },
                { cell: (_, at) => (rows.line[at] ? bytes(rows.line_bytes[at]) : "") },
              ]}
            />
            {more > 0 && <p className="muted">{text.more(count(more))}</p>}
          </>
        );
      }}
    </QueryPanel>
  );
}

interface Rows {
  readonly trace: string[];
  readonly worker: string[];
  readonly span: string[];
  readonly peak_requested: (number | null)[];
  readonly difference: number[];
  readonly peak_reserved: (number | null)[];
  readonly requested: number[];
  readonly ooms: number[];
  readonly line: string[];
  readonly line_bytes: number[];
}
