/** The model of the Trace view in React: it asks the server what the model needs, and hands it the answers. */
import {
  createContext,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from "react";
import {
  stepChoice,
  useDerivedLanes,
  useRanksQuery,
  useRunOverview,
  useTimeline,
  useTimelineSlice,
  useTimelines,
} from "../../api";
import { useSnapshotLinks } from "../../api/snapshotLink";
import { useSnapshotRecord, useSnapshotTracks } from "../../api/snapshotTracks";
import { type Param, useAddress, useTrace } from "../../state";
import { askedOf } from "./derived";
import { TraceModel, type TraceState, type Wanted } from "./model";
import { params } from "./params";
import { othersOf, type RankAnswer } from "./ranks";
import type { KnownSnapshot, LinkOf } from "./snapshots";

const BINS = 400;

export const ModelContext = createContext<TraceModel | null>(null);

export function useModel(): TraceModel {
  const model = useContext(ModelContext);
  if (!model) throw new Error("A part of the Trace view is outside of it");
  return model;
}

export function useTraceState(): TraceState {
  const model = useModel();
  return useSyncExternalStore(model.subscribe, model.get);
}

/** The model of a page, as long as the component is on it. */
export function useTraceModel(): TraceModel {
  const [model] = useState(() => new TraceModel());
  const state = useSyncExternalStore(model.subscribe, model.get);
  const page = useTrace();
  const wanted = useWanted();
  const { metas, overview, clock } = useRanks();
  const how = useHow();
  const derived = useDerived(state).map(({ rank, of, answer }) => ({
    ...{ rank, of },
    about: answer?.data ?? null,
  }));
  const { links, snapshots } = useSnapshots(state);
  const record = useRecord(state);
  const time = record.isPlaceholderData ? null : (record.data?.time_ns ?? null);
  const event = { rank: state.event.rank, details: useEvent(state).data ?? null };
  const from = {
    rank: state.from.rank,
    details: useTimelineSlice(state.from.rank?.key ?? null, state.from.row).data ?? null,
  };
  // Before the page is painted, so that it never shows the ranks of another choice. In an effect, because tiles are on
  // their way until a rank is closed: React may run anything else twice, or throw its result away.
  useLayoutEffect(() => {
    const answers = { metas, overview, clock, derived, how, links, snapshots, event, from };
    model.show(page, wanted, { ...answers, record: { of: state.record.of, time } });
  });
  useLayoutEffect(() => () => model.close(), [model]);
  useEffect(() => model.settle());
  return model;
}

/** What is shown beside the ranks: each where it is shown asks for the same, which is asked for once. */
export function useRanks() {
  const page = useTrace();
  const others = othersOf(page, useValue(params.workers));
  const query = useTimeline(page.sel);
  const answers = useTimelines(others);
  const overview = useRunOverview(page.sel, BINS).data ?? null;
  const fitted = useRanksQuery("ranks/clock", others.length > 0 ? page.sel : null);
  const metas: RankAnswer[] = page.sel ? [{ key: page.sel, meta: query.data ?? null }] : [];
  for (const [at, key] of others.entries()) metas.push({ key, meta: answers[at]?.data ?? null });
  return {
    query,
    metas,
    overview,
    clock: fitted.isPlaceholderData ? null : (fitted.data ?? null),
    /** Why a rank that was asked for is not shown. */
    failed: others.flatMap(({ worker }, at) => {
      const error = answers[at]?.error;
      return error ? [{ worker, error }] : [];
    }),
  };
}

/** What is known of the lanes that are computed: of each kind, of each rank. */
export function useDerived({ ranks, settled }: TraceState) {
  const asked = askedOf(ranks, useValue(params.derived), useValue(params.slack));
  const lanes = asked.map(({ rank: { key }, of }) => ({ key, of }));
  const answers = useDerivedLanes(lanes, useHow(), settled);
  return asked.map((each, at) => ({ ...each, answer: answers[at] }));
}

/** The selected slice. */
export function useEvent({ event }: TraceState) {
  return useTimelineSlice(event.rank?.key ?? null, event.row);
}

/** The record of a memory snapshot that is looked at. */
export function useRecord({ record }: TraceState) {
  return useSnapshotRecord(record.of?.key ?? null, record.wanted?.at ?? null);
}

function useSnapshots({ pairs, best }: TraceState) {
  const answers = useSnapshotLinks(pairs);
  const links = pairs.map(
    ({ rank, snapshot: { worker, span } }, at): LinkOf => ({
      ...{ rank, worker, span },
      answer: answers[at]?.data ?? null,
      isPending: answers[at]?.isPending ?? true,
    }),
  );
  const known = best.map(
    ({ rank, worker, span, answer: { link, shift_ns: shift } }): KnownSnapshot => ({
      ...{ rank, worker, span, link, shift, about: null },
    }),
  );
  const drawn = known.flatMap((each) => {
    const { device } = each.link;
    if (device === null || each.shift === null) return [];
    const { run } = each.rank.key;
    return [{ each, key: { run, worker: each.worker, span: each.span, device } }];
  });
  const abouts = useSnapshotTracks(drawn.map(({ key }) => key));
  const snapshots = known.map((each) => {
    const at = drawn.findIndex((other) => other.each === each);
    return { ...each, about: abouts[at]?.data ?? null };
  });
  return { links, snapshots };
}

function useHow() {
  const { steps, step_pattern } = useTrace().sel ?? {};
  return useMemo(() => stepChoice(steps, step_pattern), [steps, step_pattern]);
}

function useWanted(): Wanted {
  return {
    window: useValue(params.window),
    event: useValue(params.event),
    from: useValue(params.from),
    record: useValue(params.record),
    derived: useValue(params.derived),
    toggled: useValue(params.toggled),
    pinned: useValue(params.pinned),
    hidden: useValue(params.hidden),
    order: useValue(params.order),
    tracks: useValue(params.tracks),
  };
}

function useValue<T>(param: Param<T>): T {
  return useAddress(param)[0];
}
