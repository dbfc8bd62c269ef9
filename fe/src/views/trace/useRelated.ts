/** Moves from the selected slice to its cause, its effect or its partner; and where a measurement starts. */
import { useCallback, useMemo, useRef } from "react";
import { type SliceRef, useTimelineSlice } from "../../api";
import { useAddress } from "../../state";
import { isSameSlice, type PickedSlice, type RankTiles } from "../../timeline";
import { params } from "./params";
import { pickedSlice } from "./pickedSlice";
import type { EventState } from "./useEvent";

export interface Related {
  /** Along the chain: -1 to the program, 1 to the device. */
  readonly follow: (by: -1 | 1) => void;
  /** Between forward and backward. */
  readonly partner: () => void;
  /** The slice from which to the selected one is measured; null for none. */
  readonly from: PickedSlice | null;
  readonly fromName: string;
  /** Measures from the selected slice, or no longer. */
  readonly measure: () => void;
  /** Measures from what is selected to this one. */
  readonly measureTo: (picked: PickedSlice) => void;
  readonly stop: () => void;
}

export function useRelated(event: EventState, sources: readonly RankTiles[]): Related {
  const { source, details, picked, pick } = event;
  const [wanted, setWanted] = useAddress(params.from);
  const main = sources[0] ?? null;
  const fromSource =
    wanted?.type === "row"
      ? (sources.find(({ worker }) => worker === (wanted.worker ?? main?.worker)) ?? null)
      : null;
  const row = wanted?.type === "row" ? wanted.row : null;
  const fromDetails = useTimelineSlice(fromSource?.key ?? null, row).data ?? null;
  const from = useMemo(
    () =>
      fromSource && fromDetails?.row === row && fromDetails
        ? pickedSlice(fromSource, fromDetails)
        : null,
    [fromSource, fromDetails, row],
  );

  // The chain one came along: back from a forward operator leads to the kernel of its backward that one came from.
  const way = useRef<{ readonly worker: string; readonly slices: readonly SliceRef[] } | null>(
    null,
  );
  const follow = (by: -1 | 1) => {
    if (!source || !picked) return;
    const known = way.current;
    const isOn =
      known?.worker === source.worker && known.slices.some((each) => each.row === picked.row);
    const slices = isOn ? known.slices : (details?.chain.map(({ slice }) => slice) ?? []);
    const next = slices[slices.findIndex((each) => each.row === picked.row) + by];
    if (slices.every((each) => each.row !== picked.row) || !next) return;
    way.current = { worker: source.worker, slices };
    pick(pickedSlice(source, next));
  };

  const partner = () => {
    const other = details && (details.forward[0] ?? details.backward[0]);
    if (source && other) pick(pickedSlice(source, other));
  };

  const start = useCallback(
    ({ worker, row: own }: PickedSlice) =>
      setWanted({ type: "row", worker: worker === main?.worker ? null : worker, row: own }),
    [main, setWanted],
  );
  const stop = () => setWanted(null);
  return {
    follow,
    partner,
    from,
    fromName: fromDetails?.short_name ?? fromDetails?.name ?? "",
    measure: () => {
      if (wanted !== null) stop();
      else if (picked) start(picked);
    },
    measureTo: (next) => {
      if (picked && !isSameSlice(picked, next)) start(picked);
      pick(next, true);
    },
    stop,
  };
}
