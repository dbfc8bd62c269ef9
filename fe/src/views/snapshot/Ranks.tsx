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
            <ListTable caption={text.ranksOrder} columns={text.rankColumns}>
              {rows.trace.slice(0, LISTED).map((trace, at) => (
                <tr key={trace}>
                  <td>
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
                  </td>
                  <td className="number">{bytes(rows.peak_requested[at])}</td>
                  <td className="number">{bytes(rows.difference[at])}</td>
                  <td className="number">{bytes(rows.peak_reserved[at])}</td>
                  <td className="number">{bytes(rows.requested[at])}</td>
                  <td className="number">{count(rows.ooms[at])}</td>
                  <td title={rows.line[at]}>{frameLabel(rows.line[at] ?? "")}</td>
                  <td className="number">{rows.line[at] ? bytes(rows.line_bytes[at]) : ""}</td>
                </tr>
              ))}
            </ListTable>
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
