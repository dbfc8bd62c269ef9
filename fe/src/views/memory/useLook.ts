import { useCallback, useMemo } from "react";
import type { MemoryCurves } from "../../api";
import { formatWindow, type TimeWindow, within } from "../../draw";
import { useParam } from "../../state";
import { isForeign, parseMoment, parseRange, type Tab, tabOf, wholeOf } from "./look";

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
  const [wanted, setDevice] = useParam<string>("d", "");
  const [rangeText, setRangeText] = useParam<string>("t", "");
  const [cursorText, setCursorText] = useParam<string>("c", "");
  const [, setPage] = useParam<string>("p", "");
  const { devices } = curves.meta;
  const whole = useMemo(
    () => wholeOf(curves.start_ns, curves.end_ns),
    [curves.start_ns, curves.end_ns],
  );
  const range = useMemo(() => parseRange(rangeText, whole), [rangeText, whole]);
  const setRange = useCallback(
    (next: TimeWindow | null) => {
      const part = next && within(next, whole);
      setRangeText(part ? formatWindow(part) : "");
      setPage("");
    },
    [whole, setRangeText, setPage],
  );
  const setCursor = useCallback(
    (time: number | null) => setCursorText(time === null ? "" : String(time)),
    [setCursorText],
  );
  const known = devices.includes(wanted);
  return {
    device: known ? wanted : (devices[0] ?? null),
    missingDevice: wanted !== "" && !known ? wanted : null,
    setDevice: useCallback(
      (device: string) => {
        setDevice(device === devices[0] ? "" : device);
        setPage("");
      },
      [devices, setDevice, setPage],
    ),
    whole,
    range,
    missingRange: curves.devices.length > 0 && isForeign(rangeText, whole),
    setRange,
    cursor: parseMoment(cursorText, whole),
    setCursor,
  };
}

/** How each table was left: they share the keys of the address. */
const left = new Map<Tab, { q: string; o: string; p: string; n: string }>();

export function useTab(fallback: Tab): [Tab, (tab: Tab) => void] {
  const [text, setTab] = useParam<string>("g", fallback);
  const [q, setQ] = useParam<string>("q", "");
  const [o, setO] = useParam<string>("o", "");
  const [p, setP] = useParam<string>("p", "");
  const [n, setN] = useParam<string>("n", "");
  const tab = tabOf(text) ?? fallback;
  return [
    tab,
    (next) => {
      if (next === tab) return;
      left.set(tab, { q, o, p, n });
      const look = left.get(next) ?? { q: "", o: "", p: "", n: "" };
      setTab(next);
      setQ(look.q);
      setO(look.o);
      setP(look.p);
      setN(look.n);
    },
  ];
}
