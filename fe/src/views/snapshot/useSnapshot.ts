/** What is looked at: a device, a moment, a window. */
import { useMemo } from "react";
import { useTraceQuery } from "../../api";
import type { SnapshotAnswer, SnapshotDevice } from "../../api/schema.gen";
import { seriesColor } from "../../draw";
import { useAddress, useTrace } from "../../state";
import { anchor } from "../../ui";
import { params } from "./params";
import { OTHERS, ranksOf } from "./stack";

export interface Look {
  readonly device: SnapshotDevice;
  readonly devices: readonly SnapshotDevice[];
  readonly setDevice: (number: string | null) => void;
  /** As the server is asked. */
  readonly at: string;
  readonly setAt: (at: string) => void;
  readonly since: string | null;
  readonly setSince: (since: string | null) => void;
}

export function useLook(answer: SnapshotAnswer): Look | null {
  const [wanted, setDevice] = useAddress(params.device);
  const [at, setAt] = useAddress(params.at);
  const [since, setSince] = useAddress(params.since);
  const { devices } = answer;
  const device = devices.find((each) => String(each.device) === wanted) ?? devices[0];
  return device ? { device, devices, setDevice, at, setAt, since, setSince } : null;
}

/** Where the tables of a moment are. */
export const ALIVE = anchor("snapshot-alive");

/** Shows what was in use at a moment: a word or the number of a record. */
export function openMoment(look: Look, at: string): void {
  look.setAt(at);
  ALIVE.show();
}

const COLORS = 9;

/** The colour of a line of the program: by its bytes over the whole recording, wherever it is drawn. */
export function useColors(look: Look): (line: string) => string {
  const { sel } = useTrace();
  const [axis] = useAddress(params.axis);
  const { data } = useTraceQuery("snapshot/timeline", sel, { ...asked(look), axis });
  return useMemo(() => {
    const ranks = data ? ranksOf(data) : new Map<string, number>();
    return (line) => {
      if (line === OTHERS) return "var(--series-rest)";
      const rank = ranks.get(line) ?? COLORS;
      return rank < COLORS ? seriesColor(rank) : "var(--series-10)";
    };
  }, [data]);
}

/** What stands in every question. */
export function asked({ device }: Look) {
  return { device: device.device };
}
