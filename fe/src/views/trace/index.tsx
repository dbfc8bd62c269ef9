/** The trace itself: a timeline of all its events, and what is known of the one that is selected. */
import { type CSSProperties, memo, useRef, useState } from "react";
import { traceTexts as text } from "../../i18n";
import { ViewHead } from "../../shell";
import { useAddress } from "../../state";
import type { Tool } from "../../timeline";
import { Async, Button, FullScreen, Help, Splitter, useMedia, useWidth } from "../../ui";
import { BetweenPanel } from "./Between";
import { DetailsPanel } from "./Details";
import { FileMenu } from "./FileMenu";
import { InstancesPanel } from "./Instances";
import { params } from "./params";
import { PICKABLE } from "./pickedSlice";
import { RangePanel } from "./RangePanel";
import { RankMenu } from "./RankMenu";
import { RecordPanel } from "./RecordPanel";
import { apart } from "./ranks";
import { SearchField } from "./SearchField";
import { Slices } from "./Slices";
import { TimelinePanel } from "./TimelinePanel";
import { Tools } from "./Tools";
import { useLongest } from "./useLongest";
import { ModelContext, useRanks, useTraceModel, useTraceState } from "./useTraceModel";
import "../../ui/lines.css";
import "./trace.css";
import "./tools.css";

/** Windows that the timeline fills, with what is docked beside it. */
const ROOM = "(width > 860px) and (height >= 560px)";
/** Pixels of what is docked beside the timeline: of facts, and of tables. */
const FACTS = { least: 240, usual: 360, most: 900 };
const TABLES = { least: 240, usual: 560, most: 1200 };

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
  const { ranks, windows, event } = useTraceState();
  const frame = useRef<HTMLDivElement>(null);
  const side = useRef<HTMLDivElement>(null);
  const [tool, setTool] = useState<Tool>("pan");
  const [list, setList] = useAddress(params.list);
  const docked = useDocked();
  // The details say what the drawer of the page does, and lead to the same views.
  const isSaid = event.details !== null && PICKABLE[event.details.category] !== undefined;
  const hasTables = docked.instances || docked.list || docked.range !== null;
  const limits = hasTables ? TABLES : FACTS;
  const ofFacts = useWidth("trace-facts", FACTS);
  const ofTables = useWidth("trace-tables", TABLES);
  const [width, setWidth] = hasTables ? ofTables : ofFacts;
  const fills = useMedia(ROOM);
  return (
    <div ref={frame} className={fills ? "trace filling" : "trace"}>
      <div className="trace-head">
        <ViewHead view="trace">
          <Help title={text.timeline}>{text.timelineHelp}</Help>
          {ranks.length > 0 && <Tools tool={tool} onTool={setTool} />}
          <div className="trace-actions">
            {ranks.length > 0 && <SearchField />}
            <Button aria-pressed={list} onClick={() => setList(!list)}>
              {text.list}
            </Button>
            <RankMenu />
            <FileMenu window={windows.window === windows.work ? null : windows.window} />
            <FullScreen target={frame} title={text.timeline} />
          </div>
        </ViewHead>
      </div>
      <div className="trace-body">
        <section className="trace-picture" aria-label={text.timeline}>
          <Picture tool={tool} onInspect={() => side.current?.focus()} />
        </section>
        {Object.values(docked).some((shown) => shown) && (
          <div
            className="trace-side"
            data-instead={isSaid || undefined}
            style={{ "--side": `${width}px` } as CSSProperties}
          >
            <Splitter
              label={text.sideWidth}
              side="left"
              width={width}
              limits={limits}
              onChange={setWidth}
            />
            <div ref={side} tabIndex={-1} className="trace-docked">
              {docked.details && <DetailsPanel />}
              {docked.instances && <InstancesPanel />}
              {docked.between && <BetweenPanel />}
              {docked.record && <RecordPanel />}
              {docked.range && <RangePanel mark={docked.range} />}
              {docked.list && <Slices />}
            </div>
          </div>
        )}
      </div>
    </div>
  );
});

/** What stands beside the picture. */
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

interface PictureProps {
  readonly tool: Tool;
  readonly onInspect: () => void;
}

function Picture({ tool, onInspect }: PictureProps) {
  const { ranks } = useTraceState();
  const { query, failed } = useRanks();
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
          {main && <TimelinePanel meta={meta} main={main} tool={tool} onInspect={onInspect} />}
          {failed.map(({ worker, error }) => (
            <p key={worker} className="trace-wrong" role="status">
              {text.rankFailed(worker, error.message)}
            </p>
          ))}
          {ranks.length > 1 && <NotAligned />}
        </>
      )}
    </Async>
  );
}

/** How ranks stand beside each other that have no common clock. */
function NotAligned() {
  const { metas, overview, clock } = useRanks();
  const [page, ...others] = metas;
  if (!page || !overview) return null;
  const by = others
    .filter(({ meta }) => meta)
    .map((rank) => apart(overview, clock, page, rank))
    .find((each) => each.by !== "clock");
  if (!by) return null;
  return <p className="muted">{by.by === "step" ? text.alignedAt(by.step) : text.notAligned}</p>;
}
