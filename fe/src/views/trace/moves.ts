/** From the selected slice to another one, and what keys do. */
import { nextOnPath, type SliceRef, timelineNext } from "../../api";
import { change, setAddress } from "../../state";
import {
  DerivedSource,
  type KeyAction,
  type Mark,
  type PickedSlice,
  type RankTiles,
  type Stage,
} from "../../timeline";
import { arrange } from "./arrangement";
import { stepAt } from "./look";
import type { TraceModel } from "./model";
import { params } from "./params";
import { pickedSlice } from "./pickedSlice";

/** Along ways that are kept. */
export class Moves {
  /** Back from a forward operator leads to the kernel of its backward that one came from. */
  private chain: { readonly worker: string; readonly slices: readonly SliceRef[] } | null = null;
  /** The piece of the critical path: an event may have many, and it goes on from the one that led to it. */
  private piece: { readonly row: number; readonly start: number; readonly end: number } | null =
    null;

  constructor(private readonly model: TraceModel) {}

  /** Along the chain: -1 to the program, 1 to the device. */
  follow(by: -1 | 1): void {
    const { rank, picked, details } = this.model.get().event;
    if (!rank || !picked) return;
    const known = this.chain;
    const isOn =
      known?.worker === rank.worker && known.slices.some(({ row }) => row === picked.row);
    const slices = isOn ? known.slices : (details?.chain.map(({ slice }) => slice) ?? []);
    const at = slices.findIndex(({ row }) => row === picked.row);
    const next = slices[at + by];
    if (at < 0 || !next) return;
    this.chain = { worker: rank.worker, slices };
    this.model.pick(pickedSlice(rank, next));
  }

  /** Between forward and backward. */
  partner(): void {
    const { rank, details } = this.model.get().event;
    const other = details && (details.forward[0] ?? details.backward[0]);
    if (rank && other) this.model.pick(pickedSlice(rank, other));
  }

  /** Along the critical path. */
  async along(by: -1 | 1): Promise<void> {
    const { ranks, event, how, windows } = this.model.get();
    const rank = event.rank ?? ranks[0];
    if (!rank?.source(DerivedSource).tiles("path")) return;
    const { picked } = event;
    const row = picked?.row ?? null;
    const seen = this.model.stage.current?.window ?? windows.window;
    const from =
      this.piece && this.piece.row === row
        ? this.piece
        : {
            start: (picked ? picked.start + picked.duration : seen.end) - rank.offset,
            end: (picked?.start ?? seen.start) - rank.offset,
          };
    const time = by > 0 ? from.end : from.start;
    const { slice, start_ns, end_ns } = await nextOnPath(rank.key, how, time, row, by);
    if (!slice || start_ns === null || end_ns === null) return;
    this.piece = { row: slice.row, start: start_ns, end: end_ns };
    this.model.pick(pickedSlice(rank, slice));
  }
}

/** To the next or previous slice of the same name. */
export async function sameName(model: TraceModel, by: -1 | 1): Promise<void> {
  const { rank, picked } = model.get().event;
  if (!rank || !picked) return;
  const next = await timelineNext(rank.key, picked.row, by < 0 ? "previous" : "next");
  if (next.slice) model.pick(pickedSlice(rank, next.slice));
}

/** What keys do, but for those that are about something outside of the model. */
export function actionsOn(
  model: TraceModel,
  moves: Moves,
  stage: Stage,
  mark: Mark | null,
): Partial<Record<KeyAction["type"], (by: -1 | 1) => void>> {
  const { ranks, event, from, record, rows, windows, ...arranged } = model.get();
  const { picked } = event;
  const take = (next: PickedSlice | null) => {
    if (next) model.pick(next);
  };
  const setMark = (next: Mark | null) => setAddress(change(params.mark, next));
  const own = picked && { start: picked.start, end: picked.start + picked.duration };
  return {
    neighbour: (by) => take(picked ? stage.neighbour(picked, by) : stage.first()),
    depth: (by) => take(picked ? stage.beside(picked, by) : stage.first()),
    sameName: (by) => void sameName(model, by),
    along: (by) => void moves.along(by),
    chain: (by) => moves.follow(by),
    partner: () => moves.partner(),
    measure: () => model.measure(),
    step: (by) => toStep(ranks[0], stage, by),
    fit: () => {
      if (own) stage.fit(own);
      else if (mark) stage.fit(mark.window, 0.05);
    },
    all: () => stage.look(windows.whole),
    range: () => setMark(mark ? null : { kind: "range", window: own ?? stage.window }),
    pin: () => {
      const key = picked && event.rank?.trackOf(picked.lane);
      const row = rows.rows.find(({ track }) => track.key === key);
      if (row) arrange(arranged, row, "pin");
    },
    back: () => {
      if (record.wanted) model.pickRecord(null);
      else if (picked) model.pick(null);
      else if (from.picked) model.measureFrom(null);
      else if (mark) setMark(null);
    },
  };
}

function toStep(rank: RankTiles | undefined, stage: Stage, by: -1 | 1): void {
  if (!rank) return;
  const { start_ns, duration_ns } = rank.meta.steps;
  const now = stepAt(start_ns, stage.window);
  const next = Math.min(Math.max(now + by, 0), start_ns.length - 1);
  const start = start_ns[next];
  if (start === undefined) return;
  stage.fit({ start, end: start + (duration_ns[next] ?? 0) }, 0.02);
}
