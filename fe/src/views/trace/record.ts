/** Which record of a memory snapshot is looked at, as the address has it. Pure. */
import type { PickedRecord } from "../../timeline";

/** `12`: its number; `t12000`: the last one at or before a time of its recording, ns; before both the rank, where it is not that of the page. */
export function parseRecord(text: string, page: string): PickedRecord | null {
  const match = /^(?:(.*)~)?(?:(-1|\d{1,10})|t(-?\d{1,16}))$/s.exec(text);
  if (!match) return null;
  const [, worker = page, position, time] = match;
  return {
    worker,
    at:
      position === undefined
        ? { type: "time", time: Number(time) }
        : { type: "record", position: Number(position) },
  };
}

export function formatRecord({ worker, at }: PickedRecord, page: string): string {
  const which = at.type === "time" ? `t${Math.floor(at.time)}` : String(at.position);
  return worker === page ? which : `${worker}~${which}`;
}
