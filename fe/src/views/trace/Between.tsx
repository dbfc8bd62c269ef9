/** How long it takes from one slice to another. */
import type { SliceDetails } from "../../api";
import { traceTexts as text } from "../../i18n";
import { between, isSameSlice, signed } from "../../timeline";
import { Button, Facts, Link, Panel } from "../../ui";
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
        <Button quiet onClick={() => model.measureFrom(null)}>
          {text.clear}
        </Button>
      }
    >
      <p className="trace-between">
        <Link onClick={() => model.pick(from)}>{nameOf(start.details)}</Link> →{" "}
        {found ? nameOf(event.details) : text.betweenNext}
      </p>
      {found && (
        <Facts
          facts={(Object.keys(found) as (keyof typeof found)[]).map((kind) => ({
            name: text.betweenKinds[kind],
            value: signed(found[kind]),
          }))}
        />
      )}
    </Panel>
  );
}

function nameOf(details: SliceDetails | null): string {
  return details?.short_name ?? details?.name ?? "";
}
