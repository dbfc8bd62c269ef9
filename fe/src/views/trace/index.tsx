/** The trace itself: a timeline of all its events, and what is known of the one that is selected. */
import { type CSSProperties, type RefObject, useEffect, useMemo, useRef } from "react";
import { nextOnPath, timelineNext } from "../../api";
import type { TimeWindow } from "../../draw";
import { traceTexts as text } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import {
  DerivedSource,
  isSameSlice,
  layOut,
  type RankTiles,
  type Stage,
  showing,
} from "../../timeline";
import { Async, Panel, Splitter, useMedia, useWidth } from "../../ui";
import { BetweenPanel } from "./Between";
import { DetailsPanel } from "./Details";
import { FileMenu } from "./FileMenu";
import { InstancesPanel, useInstances } from "./Instances";
import { params } from "./params";
import { pickedSlice } from "./pickedSlice";
import { RangePanel } from "./RangePanel";
import { Ranks } from "./Ranks";
import { RecordPanel } from "./RecordPanel";
import { SearchField } from "./SearchField";
import { Sentence } from "./Sentence";
import { Slices } from "./Slices";
import { useSearch } from "./search";
import { TimelinePanel } from "./TimelinePanel";
import { useArrangement } from "./useArrangement";
import { useDerived } from "./useDerived";
import { useEvent } from "./useEvent";
import { useRankTiles } from "./useRankTiles";
import { useRelated } from "./useRelated";
import { type SnapshotsState, useSnapshots } from "./useSnapshots";
import "./trace.css";
import "./tools.css";
import "./filling.css";

/** Windows that a timeline fills: alone, and with something docked below it. */
const ROOM = {
  alone: "(width > 860px) and (height >= 560px)",
  both: "(width > 860px) and (height >= 860px)",
};
/** Pixels of what is docked below the timeline. */
const BELOW = { least: 120, usual: 300, most: 900 };

export default function Trace() {
  const [workers] = useAddress(params.workers);
  const [list, setList] = useAddress(params.list);
  const [mark, setMark] = useAddress(params.mark);
  const stage = useRef<Stage | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useWidth("trace-below", BELOW);
  const { query, sources, failed, overview } = useRankTiles(workers);
  const derived = useDerived(sources);
  const snapshots = useSnapshots(sources, derived.tracks);
  const { tracks, record } = snapshots;
  const arranged = useArrangement(tracks);
  const rows = useMemo(() => layOut(tracks, arranged.arrangement), [tracks, arranged.arrangement]);
  const event = useEvent(sources, rows, stage);
  const { source, picked, pick } = event;
  const related = useRelated(event, sources);
  const main = sources[0] ?? null;
  const search = useSearch(sources, picked);
  const { whole, work, unasked, window } = useWindow(sources);
  useInSight(stage, record, whole);
  const instances = useInstances(main, stage, picked, pick);
  const sameName = async (by: -1 | 1) => {
    if (!source || !picked) return;
    const next = await timelineNext(source.key, picked.row, by < 0 ? "previous" : "next");
    if (next.slice) pick(pickedSlice(source, next.slice));
  };
  const onPath = useRef<{ row: number; start: number; end: number } | null>(null);
  const along = async (by: -1 | 1) => {
    const rank = source ?? main;
    const seen = stage.current?.window ?? window;
    if (!rank?.source(DerivedSource).tiles("path")) return;
    const row = picked?.row ?? null;
    // An event may have many pieces: it goes on from the one that led to it.
    const from =
      onPath.current && onPath.current.row === row
        ? onPath.current
        : {
            start: (picked ? picked.start + picked.duration : seen.end) - rank.offset,
            end: (picked?.start ?? seen.start) - rank.offset,
          };
    const time = by > 0 ? from.end : from.start;
    const { slice, start_ns, end_ns } = await nextOnPath(rank.key, derived.how, time, row, by);
    if (!slice || start_ns === null || end_ns === null) return;
    onPath.current = { row: slice.row, start: start_ns, end: end_ns };
    pick(pickedSlice(rank, slice));
  };

  const hasBelow =
    instances.id !== "" ||
    event.wanted ||
    record.wanted !== null ||
    related.from !== null ||
    (mark?.kind === "range" && main !== null) ||
    list;
  const fills = useMedia(hasBelow ? ROOM.both : ROOM.alone);
  return (
    <div ref={frame} className={fills ? "trace filling" : "trace"}>
      <Panel
        full={frame}
        title={text.timeline}
        help={text.timelineHelp}
        actions={
          <>
            {main && <SearchField search={search} onPick={pick} />}
            <button
              type="button"
              className="button"
              aria-pressed={list}
              onClick={() => setList(!list)}
            >
              {text.list}
            </button>
            <Ranks />
            <FileMenu window={window === work ? null : window} />
          </>
        }
      >
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
              {main && (
                <Sentence
                  source={main}
                  onLook={(start, end) => stage.current?.look({ start, end })}
                />
              )}
              {main && (
                <TimelinePanel
                  meta={meta}
                  sources={sources}
                  overview={overview}
                  stage={stage}
                  whole={whole}
                  unasked={unasked}
                  window={window}
                  rows={rows}
                  tracks={arranged}
                  derived={derived}
                  instances={instances}
                  related={related}
                  snapshots={snapshots}
                  search={search}
                  selected={picked}
                  details={event.details}
                  onPick={pick}
                  onSameName={(by) => void sameName(by)}
                  onAlong={(by) => void along(by)}
                  onInspect={() => below.current?.focus()}
                />
              )}
              {failed.map(({ worker, error }) => (
                <p key={worker} className="trace-wrong" role="status">
                  {text.rankFailed(worker, error.message)}
                </p>
              ))}
              {sources.length > 1 && overview && !overview.aligned && (
                <p className="muted">{text.notAligned}</p>
              )}
            </>
          )}
        </Async>
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
        {instances.id !== "" && <InstancesPanel state={instances} whole={whole} />}
        <BetweenPanel
          related={related}
          to={picked && related.from && !isSameSlice(picked, related.from) ? picked : null}
          toName={event.details?.short_name ?? event.details?.name ?? ""}
          onPick={pick}
        />
        {event.wanted && (
          <DetailsPanel
            query={event.query}
            source={source}
            onPick={pick}
            onSameName={(by) => void sameName(by)}
          />
        )}
        {record.wanted && <RecordPanel state={snapshots} />}
        {mark?.kind === "range" && main && (
          <RangePanel
            mark={mark}
            sources={sources}
            rows={rows}
            onPick={pick}
            onClear={() => setMark(null)}
          />
        )}
        {list && <Slices />}
      </div>
    </div>
  );
}

/** Moves the picture to the record that is looked at, when it is another one, or at a time that was not known before. */
function useInSight(
  stage: RefObject<Stage | null>,
  { wanted, source, time }: SnapshotsState["record"],
  whole: TimeWindow,
): void {
  const at = wanted && source && time !== null ? time + source.offset : null;
  useEffect(() => {
    const now = stage.current?.window;
    if (at === null || !now || at < whole.start || at > whole.end) return;
    stage.current?.look(showing(now, { start: at, end: at }, whole));
  }, [at, whole, stage]);
}

interface Windows {
  /** All that can be seen. */
  readonly whole: TimeWindow;
  /** All that ran: what is seen where nothing else is wanted. */
  readonly work: TimeWindow;
  /** What is seen where the address names no window: the chosen steps, else all that ran. */
  readonly unasked: TimeWindow;
  readonly window: TimeWindow;
}

function useWindow(sources: readonly RankTiles[]): Windows {
  const [wanted] = useAddress(params.window);
  const { range } = useTrace();
  const whole = useMemo(() => around(sources.map((source) => source.whole)), [sources]);
  const work = useMemo(() => around(sources.map((source) => source.work)), [sources]);
  const steps = sources[0]?.meta.steps;
  const unasked = useMemo(() => {
    const [first, last] = [range?.first ?? -1, range?.last ?? -1];
    const [start, end] = [steps?.start_ns[first], steps?.start_ns[last]];
    if (start === undefined || end === undefined) return work;
    return { start, end: end + (steps?.duration_ns[last] ?? 0) };
  }, [work, range, steps]);
  return { whole, work, unasked, window: wanted && wanted.start < wanted.end ? wanted : unasked };
}

function around(windows: readonly TimeWindow[]): TimeWindow {
  if (windows.length === 0) return { start: 0, end: 1 };
  const start = Math.min(...windows.map((each) => each.start));
  return { start, end: Math.max(...windows.map((each) => each.end), start + 1) };
}
