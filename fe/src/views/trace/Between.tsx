/** How long it takes from one slice to another. */
import type { SliceDetails } from "../../api";
import { traceTexts as text } from "../../i18n";
import { between, isSameSlice, signed } from "../../timeline";
import { Panel } from "../../ui";
import { useModel, useTraceState } from "./useTraceModel";

export function BetweenPanel() {
  const model = useModel();
  const { from: start, event } = useTraceState();
  const from = start.picked;
  if (!from) return null;
  const to = event.picked && !isSameSlice(event.picked, from) ? event.picked : null;
  const found = to && between(from, to);
  return (
    <Panel
      title={text.between}
      help={text.betweenHelp}
      actions={
        <button type="button" className="button quiet" onClick={() => model.measureFrom(null)}>
          {text.clear}
        </button>
      }
    >
      <p className="trace-between">
        <button type="button" className="link" onClick={() => model.pick(from)}>
          {nameOf(start.details)}
        </button>{" "}
        → {found ? nameOf(event.details) : text.betweenNext}
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

function nameOf(details: SliceDetails | null): string {
  return details?.short_name ?? details?.name ?? "";
}
