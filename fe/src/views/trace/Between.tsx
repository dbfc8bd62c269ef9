/** How long it takes from one slice to another. */
import { traceTexts as text } from "../../i18n";
import { between, type PickedSlice, signed } from "../../timeline";
import { Panel } from "../../ui";
import type { Related } from "./useRelated";

interface Props {
  readonly related: Related;
  readonly to: PickedSlice | null;
  readonly toName: string;
  readonly onPick: (picked: PickedSlice | null) => void;
}

export function BetweenPanel({ related: { from, fromName, stop }, to, toName, onPick }: Props) {
  if (!from) return null;
  const found = to && between(from, to);
  return (
    <Panel
      title={text.between}
      help={text.betweenHelp}
      actions={
        <button type="button" className="button quiet" onClick={stop}>
          {text.clear}
        </button>
      }
    >
      <p className="trace-between">
        <button type="button" className="link" onClick={() => onPick(from)}>
          {fromName}
        </button>{" "}
        → {found ? toName : text.betweenNext}
      </p>
      {found && (
        <dl className="trace-facts">
          {(Object.keys(found) as (keyof typeof found)[]).map((kind) => (
            <div key={kind}>
              <dt>{text.betweenKinds[kind]}</dt>
              <dd className="num">{signed(found[kind])}</dd>
            </div>
          ))}
        </dl>
      )}
    </Panel>
  );
}
