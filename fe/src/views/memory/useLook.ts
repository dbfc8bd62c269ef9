import { useCallback, useMemo } from "react";
import type { MemoryCurves } from "../../api";
import { type TimeWindow, within } from "../../draw";
import { change, setAddress, useAddress } from "../../state";
import { isForeign, momentWithin, rangeWithin, TABLES, type Tab, wholeOf } from "./look";
import { params } from "./params";

export interface Look {
  readonly device: string | null;
  /** The device of the link, if this trace has none of that name. */
  readonly missingDevice: string | null;
  readonly setDevice: (device: string) => void;
  /** From the first to the last record of any device. */
  readonly whole: TimeWindow;
  /** The part of it that is looked at; null for all. */
  readonly range: TimeWindow | null;
  /** The link names a range that this trace does not have. */
  readonly missingRange: boolean;
  readonly setRange: (range: TimeWindow | null) => void;
  /** The moment whose blocks are listed; null for the peak. */
  readonly cursor: number | null;
  readonly setCursor: (time: number | null) => void;
}

/** Device, time range and moment, kept in the address. */
export function useLook(curves: MemoryCurves): Look {
  const [wanted, setDevice] = useAddress(params.device);
  const [wantedRange, setWantedRange] = useAddress(params.range);
  const [cursor, setCursor] = useAddress(params.cursor);
  const { devices } = curves.meta;
  const whole = useMemo(
    () => wholeOf(curves.start_ns, curves.end_ns),
    [curves.start_ns, curves.end_ns],
  );
  const range = useMemo(() => rangeWithin(wantedRange, whole), [wantedRange, whole]);
  const setRange = useCallback(
    (next: TimeWindow | null) => setWantedRange(next && within(next, whole)),
    [whole, setWantedRange],
  );
  const known = devices.find((device) => device === wanted);
  return {
    device: known ?? devices[0] ?? null,
    missingDevice: known === undefined ? wanted : null,
    setDevice: useCallback(
      (device: string) => setDevice(device === devices[0] ? null : device),
      [devices, setDevice],
    ),
    whole,
    range,
    missingRange: curves.devices.length > 0 && isForeign(wantedRange, whole),
    setRange,
    cursor: momentWithin(cursor, whole),
    setCursor,
  };
}

/** Shows the blocks that were in use at a moment, null for the peak; of everything, or of the range shown. */
export function openMoment(moment: number | null, ofWhole: boolean): void {
  setAddress(
    change(params.cursor, moment),
    ...(ofWhole ? [change(params.range, null)] : []),
    change(params.tab, null),
    change(params.filter, ""),
  );
  TABLES.show();
}

/** How each table was left: they share the keys of the address. */
const left = new Map<Tab, { filter: string; sort: string }>();

export function useTab(usual: Tab): [Tab, (tab: Tab) => void] {
  const [wanted] = useAddress(params.tab);
  const [filter] = useAddress(params.filter);
  const [sort] = useAddress(params.sort);
  const tab = wanted ?? usual;
  return [
    tab,
    (next) => {
      if (next === tab) return;
      left.set(tab, { filter, sort });
      const look = left.get(next) ?? { filter: "", sort: "" };
      setAddress(
        change(params.tab, next === usual ? null : next),
        change(params.filter, look.filter),
        change(params.sort, look.sort),
      );
    },
  ];
}
