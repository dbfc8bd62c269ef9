import { AnswerTable } from "../../answers/AnswerTable";
import { type CriticalPath, tables, useTable } from "../../api";
import { partName } from "../../draw/parts";
import { exact } from "../../format";
import { criticalpath } from "../../i18n/en/criticalpath";
import { goToView, useAddress, useTrace, type ViewLook } from "../../state";
import { type Answer, asDeclared, described, numberAt, type Rows, type Table } from "../../table";
import { anchor, Button, Panel, QueryPanel } from "../../ui";
import { params } from "./params";

const text = criticalpath.pieces;
/** Where the pieces are on the page. */
export const PIECES = anchor("path-pieces-place");
/** Another step's path would mislead while this one is on its way. */
const DETAIL = { keep: false };

/** The path of the step that is chosen. */
export function Pieces(props: { steps: CriticalPath["steps"] }) {
  return (
    <div id={PIECES.id} className="path-pieces-place">
      <OfChosen {...props} />
    </div>
  );
}

function OfChosen({ steps }: { steps: CriticalPath["steps"] }) {
  const [step] = useAddress(params.step);
  const at = step === null ? -1 : steps.names.indexOf(step);
  if (step === null || at < 0) {
    return (
      <Panel title={text.one}>
        <p className="muted">{text.none}</p>
      </Panel>
    );
  }
  const start = steps.start_ns[at] ?? 0;
  return <OfStep step={step} window={{ start, end: start + (steps.step_ns[at] ?? 0) }} />;
}

interface Props {
  readonly step: string;
  readonly window: { readonly start: number; readonly end: number };
}

function OfStep({ step, window }: Props) {
  const { sel } = useTrace();
  const [, setStep] = useAddress(params.step);
  const pieces = tables.pathPieces(sel, step);
  const query = useTable(pieces, DETAIL);
  return (
    <QueryPanel
      title={text.title(step)}
      help={text.help}
      query={query}
      actions={
        <>
          <Button onClick={() => goToView("trace", undefined, { window, event: null, search: "" })}>
            {text.showStep}
          </Button>
          <Button quiet onClick={() => setStep(null)}>
            {text.close}
          </Button>
        </>
      }
    >
      {(answer) => (
        <AnswerTable
          id="path-pieces"
          label={text.title(step)}
          answer={answer}
          handle={pieces}
          shape={pieceTable}
          filter={params.piecesFilter}
          sort={params.piecesSort}
          renderExpanded={(row, rows) => <PieceDetails rows={rows} row={row} />}
        />
      )}
    </QueryPanel>
  );
}

/** Names of the parts in the language of the page; the step, which is the same in all rows, on demand. */
function pieceTable(answer: Answer<"critical_path/pieces">): Table {
  const { columns, rows } = asDeclared(answer);
  const parts = [...new Set((rows.part ?? []).map(String))];
  const words = Object.fromEntries(parts.map((part) => [part, partName(part)]));
  const said = { part: { words }, name: { grow: true }, step: { hidden: true } };
  return { columns: described(columns, said), rows };
}

function PieceDetails({ rows, row }: { rows: Rows; row: number }) {
  const event = numberAt(rows, "row", row);
  const start = numberAt(rows, "start_ns", row) ?? 0;
  const length = numberAt(rows, "duration_ns", row) ?? 0;
  return (
    <div className="row">
      <Button onClick={() => goToView("trace", undefined, lookAt(event, start, length))}>
        {text.show}
      </Button>
      <span className="muted num">{exact(length, "ns")}</span>
      {event === null && <span className="muted">{text.noEvent}</span>}
    </div>
  );
}

/** The timeline around a piece, with its event selected. */
export function lookAt(event: number | null, start: number, length: number): ViewLook<"trace"> {
  const around = Math.max(1_000, length);
  return {
    event: event === null ? null : { type: "row", worker: null, row: event },
    window: { start: Math.max(0, start - around), end: start + length + around },
    search: "",
  };
}
