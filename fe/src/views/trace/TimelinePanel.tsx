/** The timeline with its tools, and what belongs to it in the address. */
import { useMemo, useState } from "react";
import type { TimelineMeta } from "../../api";
import { count } from "../../format";
import { traceTexts } from "../../i18n";
import { change, setAddress, useAddress, useTrace } from "../../state";
import {
  type Density,
  type DropTarget,
  type KeyAction,
  type Look,
  type Picked,
  type RankTiles,
  sameTimes,
  Timeline,
  type Tool,
  type TrackAction,
  type TrackRow,
} from "../../timeline";
import { arrange, drop, showAll } from "./arrangement";
import { useBookmarks } from "./Bookmarks";
import { densityOf } from "./density";
import { ExplainNote } from "./Explain";
import { FlowNote, useFlows } from "./flows";
import { useInstances } from "./Instances";
import { leastOf } from "./look";
import type { TraceModel } from "./model";
import { actionsOn, Moves } from "./moves";
import { params } from "./params";
import { Sentence } from "./Sentence";
import { SnapshotNote } from "./SnapshotNote";
import { useFound } from "./search";
import { useModel, useTraceState } from "./useTraceModel";

interface Props {
  readonly meta: TimelineMeta;
  readonly main: RankTiles;
  readonly tool: Tool;
  readonly onInspect: () => void;
}

export function TimelinePanel({ meta, main, tool, onInspect }: Props) {
  const model = useModel();
  const { stage } = model;
  const { ranks, rows, windows, arrangement, event, from } = useTraceState();
  const [mark, setMark] = useAddress(params.mark);
  const [moves] = useState(() => new Moves(model));
  const bookmarks = useBookmarks();
  const instances = useInstances();
  const { found, density } = useFound();
  const look = useLook(found);
  const { flows, peers, note } = useFlows();
  const strip = useStrip(meta, density);
  const { onTrack, onDrop } = useArranging(model);
  const onAction = (action: KeyAction) => {
    const at = stage.current;
    if (!at) return;
    const actions = {
      ...actionsOn(model, moves, at, mark),
      flag: instances.step,
      bookmark: () => bookmarks.add(at.window),
      inspect: onInspect,
    };
    actions[action.type]?.("by" in action ? action.by : 1);
  };
  return (
    <>
      <Timeline
        title={traceTexts.timeline}
        sources={ranks}
        rows={rows}
        whole={windows.whole}
        window={windows.window}
        onWindow={(next) =>
          setAddress(change(params.window, sameTimes(next, windows.unasked) ? null : next))
        }
        onSettled={model.settled}
        look={look}
        tool={tool}
        selected={event.picked}
        selectedName={event.details?.name ?? ""}
        onSelect={(picked, extend) => select(model, picked, extend)}
        from={from.picked}
        peers={peers}
        mark={mark}
        onMark={setMark}
        flags={instances.flags}
        steps={strip.steps}
        flows={flows}
        strip={strip}
        onTrack={onTrack}
        onDrop={onDrop}
        onAction={onAction}
        stage={stage}
        filter={arrangement.filter}
        onFilter={(filter) => setAddress(change(params.tracks, filter))}
        onShowAll={showAll}
        lead={<Sentence source={main} />}
        end={<EventCount meta={meta} />}
      />
      <FlowNote note={note} />
      <ExplainNote />
      <SnapshotNote />
    </>
  );
}

function select(model: TraceModel, picked: Picked | null, extend: boolean): void {
  const { record, event } = model.get();
  if (picked && "at" in picked) {
    model.pickRecord(picked);
    return;
  }
  if (record.wanted) model.pickRecord(null);
  if (extend && event.picked && picked && picked.lane >= 0) model.measureTo(picked);
  // Of what is computed, the event stands somewhere else.
  else model.pick(picked, picked === null || picked.lane >= 0);
}

/** Stable, because the names of tracks are drawn again when one of these changes. */
function useArranging(model: TraceModel) {
  return useMemo(
    () => ({
      onTrack: (row: TrackRow, action: TrackAction) => arrange(model.get(), row, action),
      onDrop: (row: TrackRow, target: DropTarget) => drop(model.get(), row, target),
    }),
    [model],
  );
}

function useStrip({ steps }: TimelineMeta, found: Density | null) {
  const { overview } = useTraceState();
  const { sel } = useTrace();
  const starts = useMemo(
    () => steps.names.map((name, at) => ({ name, start: steps.start_ns[at] ?? 0 })),
    [steps],
  );
  return useMemo(
    () => ({ ...densityOf(overview, sel?.worker ?? ""), found, steps: starts }),
    [overview, sel, found, starts],
  );
}

function useLook(found: Look["found"]): Look {
  const [colorBy] = useAddress(params.colorBy);
  const [least] = useAddress(params.least);
  const [slack] = useAddress(params.slack);
  return useMemo(
    () => ({ colorBy, least: leastOf(least), found, slack }),
    [colorBy, least, found, slack],
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
