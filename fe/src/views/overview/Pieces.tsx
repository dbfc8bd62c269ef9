/** The intervals of a part of the waterfall: where they are in the trace, and what ended them. */
import { useEffect, useId, useRef } from "react";
import { useTraceQuery, type Waterfall } from "../../api";
import { partName } from "../../draw/parts";
import { duration } from "../../format";
import { overviewTexts } from "../../i18n";
import { showInTrace } from "../../shell/findings";
import { useTrace } from "../../state";
import { ListTable } from "../../table";
import { Async, Button, Link } from "../../ui";

const text = overviewTexts.pieces;
const LISTED = 20;

/** Opens in place, and comes into sight. */
export function Pieces({ cause, onClose }: { cause: string; onClose: () => void }) {
  const { sel } = useTrace();
  const query = useTraceQuery("waterfall", sel, { cause, limit: LISTED });
  const box = useRef<HTMLElement>(null);
  const id = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another part is opened, and when it is here
  useEffect(() => {
    box.current?.scrollIntoView({ block: "nearest" });
  }, [cause, query.data === undefined]);
  return (
    <section ref={box} className="pieces" aria-labelledby={id}>
      <div className="pieces-head">
        <h3 id={id}>{text.title(partName(cause))}</h3>
        <Button quiet onClick={onClose}>
          {text.close}
        </Button>
      </div>
      <Async query={query}>{(answer) => <List answer={answer} />}</Async>
    </section>
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
          { label: text.where, kind: "text", cell: (piece) => <Where piece={piece} /> },
        ]}
      />
    </>
  );
}

type Piece = NonNullable<Waterfall["pieces"]>["largest"][number];

/** What is known of an interval, a line each; a long name is cut, and whole on hover. */
function Where({ piece }: { piece: Piece }) {
  const known = [
    [text.host, piece.host],
    [text.line, piece.frame ?? piece.module],
    [text.owner, piece.owner],
    [text.work, piece.work],
  ] as const;
  return known.map(
    ([label, name]) =>
      name && (
        <div key={label} className="piece-name" title={name}>
          <span className="muted">{label}: </span>
          {name}
        </div>
      ),
  );
}
