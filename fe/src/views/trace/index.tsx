/** The trace itself: a timeline of all its events, and what is known of the one that is selected. */
import { type CSSProperties, memo, useRef } from "react";
import { traceTexts as text } from "../../i18n";
import { useAddress } from "../../state";
import { Async, Button, Panel, Splitter, useMedia, useWidth } from "../../ui";
import { BetweenPanel } from "./Between";
import { DetailsPanel } from "./Details";
import { FileMenu } from "./FileMenu";
import { InstancesPanel } from "./Instances";
import { params } from "./params";
import { RangePanel } from "./RangePanel";
import { RankMenu } from "./RankMenu";
import { RecordPanel } from "./RecordPanel";
import { SearchField } from "./SearchField";
import { Sentence } from "./Sentence";
import { Slices } from "./Slices";
import { TimelinePanel } from "./TimelinePanel";
import { useLongest } from "./useLongest";
import { ModelContext, useRanks, useTraceModel, useTraceState } from "./useTraceModel";
import "../../ui/lines.css";
import "./trace.css";
import "./tools.css";

/** Windows that a timeline fills: alone, and with something docked below it. */
const ROOM = {
  alone: "(width > 860px) and (height >= 560px)",
  both: "(width > 860px) and (height >= 860px)",
};
/** Pixels of what is docked below the timeline. */
const BELOW = { least: 120, usual: 300, most: 900 };

export default function Trace() {
  return (
    <ModelContext value={useTraceModel()}>
      <View />
    </ModelContext>
  );
}

/** Drawn again for what the model says, not for what it is told. */
const View = memo(function View() {
  useLongest();
  const frame = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useWidth("trace-below", BELOW);
  const docked = useDocked();
  const hasBelow = Object.values(docked).some((shown) => shown);
  const fills = useMedia(hasBelow ? ROOM.both : ROOM.alone);
  return (
    <div ref={frame} className={fills ? "trace filling" : "trace"}>
      <Panel full={frame} title={text.timeline} help={text.timelineHelp} actions={<Actions />}>
        <Picture onInspect={() => below.current?.focus()} />
      </Panel>
      {hasBelow && (
        <div className="trace-edge">
          <Splitter
            label={text.belowHeight}
            side="top"
            width={height}
            limits={BELOW}
            onChange={setHeight}
          />
        </div>
      )}
      <div
        ref={below}
        tabIndex={-1}
        className="trace-below"
        style={{ "--below": `${height}px` } as CSSProperties}
      >
        {docked.instances && <InstancesPanel />}
        {docked.between && <BetweenPanel />}
        {docked.details && <DetailsPanel />}
        {docked.record && <RecordPanel />}
        {docked.range && <RangePanel mark={docked.range} />}
        {docked.list && <Slices />}
      </div>
    </div>
  );
});

/** What stands below the picture. */
function useDocked() {
  const { ranks, event, from, record } = useTraceState();
  const [finding] = useAddress(params.finding);
  const [mark] = useAddress(params.mark);
  const [list] = useAddress(params.list);
  return {
    instances: finding !== "",
    between: from.picked !== null,
    details: event.row !== null,
    record: record.wanted !== null,
    range: mark?.kind === "range" && ranks.length > 0 ? mark : null,
    list,
  };
}

function Actions() {
  const { ranks, windows } = useTraceState();
  const [list, setList] = useAddress(params.list);
  return (
    <>
      {ranks.length > 0 && <SearchField />}
      <Button aria-pressed={list} onClick={() => setList(!list)}>
        {text.list}
      </Button>
      <RankMenu />
      <FileMenu window={windows.window === windows.work ? null : windows.window} />
    </>
  );
}

function Picture({ onInspect }: { readonly onInspect: () => void }) {
  const { ranks } = useTraceState();
  const { query, overview, failed } = useRanks();
  const [main] = ranks;
  return (
    <Async
      query={query}
      empty={({ events }) =>
        events.slices + events.instants === 0
          ? { title: text.empty, reason: text.emptyReason, remedy: text.emptyRemedy }
          : null
      }
    >
      {(meta) => (
        <>
          {main && <Sentence source={main} />}
          {main && <TimelinePanel meta={meta} onInspect={onInspect} />}
          {failed.map(({ worker, error }) => (
            <p key={worker} className="trace-wrong" role="status">
              {text.rankFailed(worker, error.message)}
            </p>
          ))}
          {ranks.length > 1 && overview && !overview.aligned && (
            <p className="muted">{text.notAligned}</p>
          )}
        </>
      )}
    </Async>
  );
}
