/** The stretches of time that a part of the waterfall has: where they are in the trace, and what ended them. */
import { useTraceQuery, type Waterfall } from "../../api";
import { partName } from "../../draw/parts";
import { duration } from "../../format";
import { overviewTexts } from "../../i18n";
import { showInTrace } from "../../shell/findings";
import { useTrace } from "../../state";
import { type ListColumn, ListTable } from "../../table";
import { Async, Button, Link, Panel } from "../../ui";

const text = overviewTexts.pieces;
const LISTED = 20;

export function Pieces({ cause, onClose }: { cause: string; onClose: () => void }) {
  const { sel } = useTrace();
  const query = useTraceQuery("waterfall", sel, { cause, limit: LISTED });
  return (
    <Panel
      className="area-pieces"
      title={text.title(partName(cause))}
      actions={
        <Button quiet onClick={onClose}>
          {text.close}
        </Button>
      }
    >
      <Async query={query}>{(answer) => <List answer={answer} />}</Async>
    </Panel>
  );
}

function List({ answer: { pieces, causes } }: { answer: Waterfall }) {
  if (!pieces) return null;
  const help = causes.find(({ cause }) => cause === pieces.cause)?.help;
  return (
    <>
      {help && <p className="muted">{help}</p>}
      <p className="muted">
        {text.shown(pieces.largest.length, pieces.total, duration(pieces.total_ns))}
      </p>
      <ListTable
        label={text.title(partName(pieces.cause))}
        wide
        rows={pieces.largest}
        columns={[
          {
            label: text.duration,
            cell: (piece) => (
              <Link onClick={() => showInTrace(piece, piece.host_row ?? piece.work_row)}>
                {duration(piece.duration_ns)}
              </Link>
            ),
          },
          { label: text.step, kind: "text", cell: ({ step }) => step },
          named(text.host, ({ host }) => host),
          named(text.line, ({ frame, module }) => frame ?? module),
          named(text.owner, ({ owner }) => owner),
          named(text.work, ({ work }) => work),
        ]}
      />
    </>
  );
}

type Piece = NonNullable<Waterfall["pieces"]>["largest"][number];

/** A long name is cut, and whole on hover. */
function named(label: string, of: (piece: Piece) => string | null): ListColumn<Piece> {
  return {
    label,
    kind: "text",
    className: "piece-name",
    cell: (piece) => of(piece) ?? "–",
    title: (piece) => of(piece) ?? undefined,
  };
}
