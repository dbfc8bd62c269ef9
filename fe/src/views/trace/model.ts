/** What the Trace view shows: made of what the address and the server say, read by the panels, changed by what is done in them. */
import type { RankClock, RunOverview, SliceDetails, StepChoice } from "../../api";
import type { TimeWindow } from "../../draw";
import { type CurrentTrace, change, setAddress } from "../../state";
import {
  type Arrangement,
  isSameSlice,
  type LinkedSnapshot,
  layOut,
  mainTracks,
  type PickedRecord,
  type PickedSlice,
  placeOf,
  type RankTiles,
  SnapshotSource,
  type Stage,
  showing,
  type Track,
  type TrackRows,
  trackKey,
  UNARRANGED,
} from "../../timeline";
import { type DerivedOf, longestStepOf, showDerived, tracksWith } from "./derived";
import { cell, listCell, sameFields } from "./kept";
import { EVENT, type WantedEvent, type WantedLanes } from "./look";
import { params } from "./params";
import { pickedSlice } from "./pickedSlice";
import { type RankAnswer, Ranks } from "./ranks";
import { formatRecord, parseRecord } from "./record";
import {
  type BestLink,
  bestLinks,
  drawnOf,
  type KnownSnapshot,
  type LinkOf,
  pairsOf,
  tracksWithSnapshots,
} from "./snapshots";
import { type Windows, windowsOf } from "./windows";

/** What the address says. */
export interface Wanted {
  readonly window: TimeWindow | null;
  readonly event: WantedEvent | null;
  readonly from: WantedEvent | null;
  readonly record: string;
  readonly derived: WantedLanes;
  readonly toggled: readonly string[];
  readonly pinned: readonly string[];
  readonly hidden: readonly string[];
  readonly order: readonly string[];
  readonly tracks: string;
}

/** What the server says, as far as it is here; answers about a rank that is no longer shown are no answers. */
export interface Answers {
  readonly metas: readonly RankAnswer[];
  readonly overview: RunOverview | null;
  readonly clock: RankClock | null;
  readonly derived: readonly DerivedOf[];
  /** How the steps are found that `derived` is about. */
  readonly how: StepChoice;
  readonly links: readonly LinkOf[];
  readonly snapshots: readonly KnownSnapshot[];
  /** When the record was made that is looked at, ns of its recording. */
  readonly record: { readonly of: LinkedSnapshot | null; readonly time: number | null };
  readonly event: DetailsOf;
  readonly from: DetailsOf;
}

interface DetailsOf {
  readonly rank: RankTiles | null;
  readonly details: SliceDetails | null;
}

/** A slice by its number, and what is known of it. */
interface Event extends DetailsOf {
  /** Null for none. */
  readonly row: number | null;
  readonly picked: PickedSlice | null;
}

export interface TraceState {
  readonly ranks: readonly RankTiles[];
  /** The first picture is complete: what it need not wait for can be asked. */
  readonly settled: boolean;
  readonly overview: RunOverview | null;
  readonly derived: readonly DerivedOf[];
  readonly how: StepChoice;
  /** ns; 0 until it is known. */
  readonly longestStep: number;
  /** What may be of the same process. */
  readonly pairs: ReturnType<typeof pairsOf>;
  readonly best: readonly BestLink[];
  readonly known: readonly KnownSnapshot[];
  readonly drawn: ReadonlyMap<RankTiles, LinkedSnapshot>;
  readonly record: RecordState;
  readonly tracks: readonly Track[];
  readonly arrangement: Arrangement;
  readonly rows: TrackRows;
  readonly windows: Windows;
  /** What is selected. */
  readonly event: Event;
  /** From where is measured. */
  readonly from: Event;
}

/** The record of a memory snapshot that is looked at. */
interface RecordState {
  readonly wanted: PickedRecord | null;
  readonly rank: RankTiles | null;
  readonly of: LinkedSnapshot | null;
  /** ns of the rank; null while it is not known. */
  readonly time: number | null;
}

const NO_EVENT: Event = { rank: null, row: null, details: null, picked: null };
const NOTHING: TraceState = {
  ranks: [],
  settled: false,
  overview: null,
  derived: [],
  how: {},
  longestStep: 0,
  pairs: [],
  best: [],
  known: [],
  drawn: new Map(),
  record: { wanted: null, rank: null, of: null, time: null },
  tracks: [],
  arrangement: UNARRANGED,
  rows: { rows: [], height: 0, left: 0 },
  windows: windowsOf([], null, null),
  event: NO_EVENT,
  from: NO_EVENT,
};

/** Around a slice that a link leads to. */
const MARGIN = 3;

export class TraceModel {
  /** The picture, while it is on the page. */
  readonly stage: { current: Stage | null } = { current: null };
  private state = NOTHING;
  private readonly listeners = new Set<() => void>();
  private readonly shown = new Ranks();
  private page = "";
  private wanted: Wanted | null = null;
  /** Shown at once, until its details have come. */
  private clicked: PickedSlice | null = null;
  /** What need not be brought into sight any more. */
  private seen: { event: WantedEvent | null; record: number | null } = {
    event: null,
    record: null,
  };

  private readonly derivedOf = listCell<DerivedOf>();
  private readonly linksOf = listCell<LinkOf>();
  private readonly knownOf = listCell<KnownSnapshot>();
  private readonly pairsOf = cell(pairsOf);
  private readonly bestOf = cell(bestLinks);
  private readonly drawnOf = cell(drawnOf);
  private readonly lanesOf = cell(tracksWith);
  private readonly tracksOf = cell(tracksWithSnapshots);
  private readonly rowsOf = cell(layOut);
  private readonly windowsOf = cell(windowsOf);
  private readonly recordOf = cell(recordOf);
  private readonly parseRecord = cell(parseRecord);
  private readonly eventOf = cell(eventOf);
  private readonly fromOf = cell(eventOf);
  private readonly arrangementOf = cell(arrangementOf);

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly get = (): TraceState => this.state;

  /** Takes what the page, the address and the server say now. */
  show({ sel, run, range }: CurrentTrace, wanted: Wanted, answers: Answers): void {
    this.page = sel?.worker ?? "";
    this.wanted = wanted;
    const ranks = this.shown.show(answers.metas, answers.overview, answers.clock);
    const derived = this.derivedOf(answers.derived);
    const known = this.knownOf(answers.snapshots.filter(({ rank }) => ranks.includes(rank)));
    const drawn = this.drawnOf(known);
    const tracks = this.tracksOf(this.lanesOf(ranks, wanted.derived, derived), drawn);
    const { toggled, pinned, hidden, order, tracks: filter } = wanted;
    const arrangement = this.arrangementOf(toggled, pinned, hidden, order, filter, ranks);
    const record = this.recordOf(
      ranks,
      drawn,
      this.parseRecord(wanted.record, this.page),
      answers.record.of,
      answers.record.time,
    );
    const { event, from } = answers;
    const { clicked } = this;
    const next: TraceState = {
      ranks,
      settled: this.state.settled,
      overview: answers.overview,
      derived,
      how: answers.how,
      longestStep: longestStepOf(derived),
      pairs: this.pairsOf(ranks, run),
      best: this.bestOf(ranks, this.linksOf(answers.links)),
      known,
      drawn,
      record,
      tracks,
      arrangement,
      rows: this.rowsOf(tracks, arrangement),
      windows: this.windowsOf(ranks, range, wanted.window),
      event: this.eventOf(ranks, wanted.event, event.rank, event.details, clicked),
      from: this.fromOf(ranks, wanted.from, from.rank, from.details, null),
    };
    showDerived(ranks, wanted.derived, derived, answers.how);
    for (const rank of ranks)
      rank
        .source(SnapshotSource)
        .show(drawn.get(rank) ?? null, rank === record.rank ? record.time : null);
    if (!sameFields(next, this.state)) this.turn(next);
  }

  /** To be told when nothing is missing in the picture. */
  readonly settled = (): void => {
    if (!this.state.settled) this.turn({ ...this.state, settled: true });
  };

  private turn(next: TraceState): void {
    this.state = next;
    for (const listener of this.listeners) listener();
  }

  close(): void {
    this.shown.close();
  }

  /** `inSight`: it was clicked on, so the picture stays where it is. */
  readonly pick = (picked: PickedSlice | null, inSight = false): void => {
    this.clicked = picked && picked.lane >= 0 ? picked : null;
    const event = picked && this.named(picked);
    if (inSight) this.seen = { ...this.seen, event };
    setAddress(change(params.event, event));
  };

  readonly pickRecord = (picked: PickedRecord | null): void =>
    setAddress(change(params.record, picked ? formatRecord(picked, this.page) : ""));

  /** Measures from the selected slice to this one. */
  measureTo(picked: PickedSlice): void {
    const from = this.state.event.picked;
    if (from && !isSameSlice(from, picked)) this.measureFrom(from);
    this.pick(picked, true);
  }

  /** Measures from the selected slice, or no longer. */
  measure(): void {
    const { picked } = this.state.event;
    if (this.wanted?.from) this.measureFrom(null);
    else if (picked) this.measureFrom(picked);
  }

  measureFrom(picked: PickedSlice | null): void {
    setAddress(change(params.from, picked && this.named(picked)));
  }

  /** Brings into sight what a link leads to, once it is known; what is clicked on is in sight. */
  settle(): void {
    const stage = this.stage.current;
    if (!stage || !this.wanted) return;
    const { event, record, rows, windows } = this.state;
    const { rank, details } = event;
    if (rank && details && !sameEvent(this.seen.event, this.wanted.event)) {
      this.seen = { ...this.seen, event: this.wanted.event };
      const picked = pickedSlice(rank, details);
      if (this.wanted.window === null)
        stage.fit({ start: picked.start, end: picked.start + picked.duration }, MARGIN);
      stage.reveal(picked, placeOf(rows, rank, picked.lane));
    }
    const { whole } = windows;
    const at =
      record.rank && record.time !== null && record.wanted
        ? record.time + record.rank.offset
        : null;
    if (at === this.seen.record) return;
    this.seen = { ...this.seen, record: at };
    if (at === null || at < whole.start || at > whole.end) return;
    stage.look(showing(stage.window, { start: at, end: at }, whole));
  }

  /** As the address names it. */
  private named({ worker, row }: PickedSlice): WantedEvent {
    const main = this.state.ranks[0];
    return { type: "row", worker: worker === main?.worker ? null : worker, row };
  }
}

function sameEvent(a: WantedEvent | null, b: WantedEvent | null): boolean {
  return EVENT.format(a) === EVENT.format(b);
}

function eventOf(
  ranks: readonly RankTiles[],
  wanted: WantedEvent | null,
  answered: RankTiles | null,
  answer: SliceDetails | null,
  clicked: PickedSlice | null,
): Event {
  if (wanted?.type !== "row") return NO_EVENT;
  const { row } = wanted;
  const rank = ranks.find(({ worker }) => worker === (wanted.worker ?? ranks[0]?.worker)) ?? null;
  const details = rank && rank === answered && answer?.row === row ? answer : null;
  const atOnce = clicked?.row === row && clicked.worker === rank?.worker ? clicked : null;
  return { rank, row, details, picked: rank && details ? pickedSlice(rank, details) : atOnce };
}

function recordOf(
  ranks: readonly RankTiles[],
  drawn: ReadonlyMap<RankTiles, LinkedSnapshot>,
  wanted: PickedRecord | null,
  answered: LinkedSnapshot | null,
  own: number | null,
): RecordState {
  const rank = ranks.find(({ worker }) => worker === wanted?.worker) ?? null;
  const of = (rank && drawn.get(rank)) ?? null;
  const time = of === null || of !== answered || own === null ? null : own + of.shift;
  return { wanted: of ? wanted : null, rank, of, time };
}

function arrangementOf(
  toggled: readonly string[],
  pinned: readonly string[],
  hidden: readonly string[],
  order: readonly string[],
  filter: string,
  ranks: readonly RankTiles[],
): Arrangement {
  return {
    toggled: new Set(toggled),
    pinned: pinsOf(pinned, ranks),
    hidden: new Set(hidden),
    order,
    filter,
  };
}

/** A rank that is pinned is there with its main tracks, like beside like. */
function pinsOf(pinned: readonly string[], ranks: readonly RankTiles[]): readonly string[] {
  const whole = ranks.filter(({ worker }) => pinned.includes(trackKey(worker, "")));
  if (whole.length === 0) return pinned;
  const own = whole.map(({ worker, meta }) => mainTracks(worker, meta));
  const keys = [0, 1].flatMap((kind) => own.map((tracks) => tracks[kind as 0 | 1]));
  return [...keys.filter(Boolean), ...pinned];
}
