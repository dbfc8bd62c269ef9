/** The timeline with its tools, and what belongs to it in the address. */
import { useMemo, useState } from "react";
import type { RunOverview, SliceDetails, TimelineMeta } from "../../api";
import type { TimeWindow } from "../../draw";
import { count } from "../../format";
import { traceTexts } from "../../i18n";
import { useAddress, useTrace } from "../../state";
import {
  type KeyAction,
  type Look,
  type PickedSlice,
  type RankTiles,
  type Stage,
  sameTimes,
  Timeline,
  type Tool,
  type TrackRows,
} from "../../timeline";
import { useBookmarks } from "./Bookmarks";
import { densityOf } from "./density";
import { ExplainNote } from "./Explain";
import { FlowNote, useFlows } from "./flows";
import type { InstancesState } from "./Instances";
import { leastOf, stepAt } from "./look";
import { params } from "./params";
import { SnapshotNote } from "./SnapshotNote";
import type { Search } from "./search";
import { Tools } from "./Tools";
import type { TracksState } from "./useArrangement";
import type { DerivedState } from "./useDerived";
import type { Related } from "./useRelated";
import type { SnapshotsState } from "./useSnapshots";

interface Props {
  readonly meta: TimelineMeta;
  readonly sources: readonly RankTiles[];
  readonly overview: RunOverview | null;
  readonly stage: React.RefObject<Stage | null>;
  readonly whole: TimeWindow;
  /** What is seen without a window in the address. */
  readonly unasked: TimeWindow;
  readonly window: TimeWindow;
  readonly search: Search;
  readonly selected: PickedSlice | null;
  readonly details: SliceDetails | null;
  /** `inSight`: it was clicked on. */
  readonly onPick: (picked: PickedSlice | null, inSight?: boolean) => void;
  readonly onSameName: (by: -1 | 1) => void;
  /** Along the critical path. */
  readonly onAlong: (by: -1 | 1) => void;
  readonly onInspect: () => void;
  readonly rows: TrackRows;
  readonly tracks: TracksState;
  readonly derived: DerivedState;
  readonly instances: InstancesState;
  readonly related: Related;
  readonly snapshots: SnapshotsState;
}

export function TimelinePanel(props: Props) {
  const { meta, sources, overview, stage, whole, window, rows, search, selected, details } = props;
  const { sel } = useTrace();
  const [, setWindow] = useAddress(params.window);
  const [mark, setMark] = useAddress(params.mark);
  const [colorBy] = useAddress(params.colorBy);
  const [leastText] = useAddress(params.least);
  const [tool, setTool] = useState<Tool>("pan");
  const bookmarks = useBookmarks();
  const { arrangement, act, drop, setFilter, showAll } = props.tracks;
  const { record, pickRecord } = props.snapshots;
  const least = leastOf(leastText);
  const found = search.found;
  const [slack] = useAddress(params.slack);
  const look = useMemo<Look>(
    () => ({ colorBy, least, found, slack }),
    [colorBy, least, found, slack],
  );
  const steps = useMemo(
    () => meta.steps.names.map((name, at) => ({ name, start: meta.steps.start_ns[at] ?? 0 })),
    [meta],
  );
  const { flows, peers, note } = useFlows({ sources, rows, details, selected, window });
  const strip = useMemo(
    () => ({ ...densityOf(overview, sel?.worker ?? ""), found: search.density, steps }),
    [overview, sel, search.density, steps],
  );

  const onAction = (action: KeyAction) => {
    const at = stage.current;
    if (!at) return;
    const take = (picked: PickedSlice | null) => {
      if (picked) props.onPick(picked);
    };
    const end = selected && selected.start + selected.duration;
    switch (action.type) {
      case "neighbour":
        return take(selected ? at.neighbour(selected, action.by) : at.first());
      case "depth":
        return take(selected ? at.beside(selected, action.by) : at.first());
      case "sameName":
        return props.onSameName(action.by);
      case "step":
        return toStep(meta, at, action.by);
      case "along":
        return props.onAlong(action.by);
      case "chain":
        return props.related.follow(action.by);
      case "partner":
        return props.related.partner();
      case "measure":
        return props.related.measure();
      case "flag":
        return props.instances.step(action.by);
      case "fit":
        if (selected && end !== null) at.fit({ start: selected.start, end });
        else if (mark) at.fit(mark.window, 0.05);
        return;
      case "all":
        return at.look(whole);
      case "range":
        if (mark) return setMark(null);
        return setMark({
          kind: "range",
          window: selected && end !== null ? { start: selected.start, end } : at.window,
        });
      case "pin": {
        const source = sources.find(({ worker }) => worker === selected?.worker);
        const key = selected && source?.trackOf(selected.lane);
        const row = rows.rows.find(({ track }) => track.key === key);
        if (row) act(row, "pin");
        return;
      }
      case "bookmark":
        return bookmarks.add(at.window);
      case "inspect":
        return props.onInspect();
      case "back":
        if (record.wanted) pickRecord(null);
        else if (selected) props.onPick(null);
        else if (props.related.from) props.related.stop();
        else if (mark) setMark(null);
        return;
    }
  };

  return (
    <>
      <Tools
        tool={tool}
        onTool={setTool}
        longestStep={props.derived.longestStep}
        bookmarks={bookmarks}
        onGo={(next) => stage.current?.look(next)}
        current={() => stage.current?.window ?? window}
      />
      <Timeline
        title={traceTexts.timeline}
        sources={sources}
        rows={rows}
        whole={whole}
        window={window}
        onWindow={(next) => setWindow(sameTimes(next, props.unasked) ? null : next)}
        look={look}
        tool={tool}
        selected={selected}
        selectedName={details?.name ?? ""}
        // Of what is computed, the event stands somewhere else.
        onSelect={(picked, extend) => {
          if (picked && "at" in picked) return pickRecord(picked);
          if (record.wanted) pickRecord(null);
          if (extend && selected && picked && picked.lane >= 0) props.related.measureTo(picked);
          else props.onPick(picked, picked === null || picked.lane >= 0);
        }}
        from={props.related.from}
        peers={peers}
        mark={mark}
        onMark={setMark}
        flags={props.instances.flags}
        steps={steps}
        flows={flows}
        strip={strip}
        onTrack={act}
        onDrop={drop}
        onAction={onAction}
        stage={stage}
        filter={arrangement.filter}
        onFilter={setFilter}
        onShowAll={showAll}
      />
      <EventCount meta={meta} />
      <FlowNote note={note} />
      <ExplainNote state={props.derived} />
      <SnapshotNote known={props.snapshots.known} onRecord={pickRecord} />
    </>
  );
}

/** Nothing is left out: how many events the file has, and where those are that are no slices. */
function EventCount({ meta }: { meta: TimelineMeta }) {
  const { total, slices, instants, ...rest } = meta.events;
  const areDrawn = meta.counters.some(({ kind }) => kind === "recorded");
  const others = Object.entries(rest).filter(
    ([kind, n]) => n > 0 && !(kind === "counters" && areDrawn),
  );
  return (
    <p className="muted num trace-events">
      {traceTexts.eventsDrawn(count(slices + instants), count(total))}
      {areDrawn && ` ${traceTexts.eventsOfCounters(count(rest.counters))}`}
      {others.length > 0 &&
        ` ${traceTexts.eventsRest(
          others
            .map(([kind, n]) => `${count(n)} ${traceTexts.eventKinds[kind] ?? kind}`)
            .join(", "),
        )}`}
    </p>
  );
}

function toStep({ steps }: TimelineMeta, stage: Stage, by: -1 | 1): void {
  const now = stepAt(steps.start_ns, stage.window);
  const next = Math.min(Math.max(now + by, 0), steps.start_ns.length - 1);
  const start = steps.start_ns[next];
  if (start === undefined) return;
  stage.fit({ start, end: start + (steps.duration_ns[next] ?? 0) }, 0.02);
}
