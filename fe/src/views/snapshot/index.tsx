/** What a memory snapshot holds: when most was in use, by what, where it lay, and why memory ran out. */
import { useTraceQuery } from "../../api";
import type { SnapshotAnswer } from "../../api/schema.gen";
import { memoryText, snapshotTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { Empty, Flow, Panel, QueryPanel } from "../../ui";
import { AlivePanel } from "./Alive";
import { DeviceChoice, Facts } from "./Facts";
import { MapPanel } from "./Map";
import { OomPanel } from "./Oom";
import { RanksPanel } from "./Ranks";
import { TimelinePanel } from "./Timeline";
import { ALIVE, useLook } from "./useSnapshot";
import "../../ui/lines.css";
import "./snapshot.css";

export default function Snapshot() {
  const { sel, trace } = useTrace();
  const is = trace?.kind === "snapshot";
  const query = useTraceQuery("snapshot", is ? sel : null);
  if (!is) {
    return (
      <Panel title={text.title} help={text.help}>
        <Empty title={text.none} reason={text.noneReason} remedy={text.noneRemedy} />
      </Panel>
    );
  }
  if (!query.data || query.data.devices.length === 0) {
    return (
      <QueryPanel title={text.title} help={text.help} query={query}>
        {({ said }) => <p>{memoryText("empty", said, {})}</p>}
      </QueryPanel>
    );
  }
  return <Whole answer={query.data} query={query} />;
}

interface Props {
  readonly answer: SnapshotAnswer;
  readonly query: ReturnType<typeof useTraceQuery<"snapshot">>;
}

function Whole({ answer, query }: Props) {
  const look = useLook(answer);
  if (!look) return null;
  const oom = answer.ooms.findLast((each) => each.device === look.device.device);
  return (
    <Flow>
      <QueryPanel
        title={text.title}
        help={text.help}
        query={query}
        actions={<DeviceChoice look={look} />}
      >
        {() => <Facts answer={answer} look={look} />}
      </QueryPanel>
      {oom && <OomPanel oom={oom} />}
      <RanksPanel />
      <TimelinePanel look={look} />
      <MapPanel look={look} />
      <div id={ALIVE.id} className="stack beside">
        <AlivePanel look={look} />
      </div>
    </Flow>
  );
}
