/** The stretches of time that a part of the waterfall has: where they are in the trace, and what ended them. */
import { useWaterfall, type Waterfall } from "../../api";
import { partName } from "../../draw/parts";
import { duration } from "../../format";
import { overviewTexts } from "../../i18n";
import { showInTrace } from "../../shell/findings";
import { useTrace } from "../../state";
import { Async, Button, Link, Panel, Wide } from "../../ui";

const text = overviewTexts.pieces;
const LISTED = 20;

export function Pieces({ cause, onClose }: { cause: string; onClose: () => void }) {
  const { sel } = useTrace();
  const query = useWaterfall(sel, cause, LISTED);
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
      <Wide>
        <table className="plain num pieces">
          <thead>
            <tr>
              <th scope="col">{text.duration}</th>
              <th scope="col">{text.step}</th>
              <th scope="col">{text.host}</th>
              <th scope="col">{text.line}</th>
              <th scope="col">{text.owner}</th>
              <th scope="col">{text.work}</th>
            </tr>
          </thead>
          <tbody>
            {pieces.largest.map((piece) => (
              <tr key={`${piece.device} ${piece.start_ns}`}>
                <td>
                  <Link onClick={() => showInTrace(piece, piece.host_row ?? piece.work_row)}>
                    {duration(piece.duration_ns)}
                  </Link>
                </td>
                <td>{piece.step}</td>
                <Name name={piece.host} />
                <Name name={piece.frame ?? piece.module} />
                <Name name={piece.owner} />
                <Name name={piece.work} />
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </>
  );
}

function Name({ name }: { name: string | null }) {
  return (
    <td className="piece-name" title={name ?? undefined}>
      {name ?? "–"}
    </td>
  );
}
