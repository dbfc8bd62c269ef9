/** The moments that a finding is about, as the Overview's answer has them. Pure. */
import type { Overview } from "../../api";
import type { TimeWindow } from "../../draw";
import { findingTitle } from "../../i18n";
import type { PickedSlice } from "../../timeline";

type Finding = Overview["findings"][number];
export type Instance = Finding["instances"][number];

export interface FindingInstances {
  readonly title: string;
  /** In order of time. */
  readonly instances: readonly Instance[];
  /** How many there are; those that are listed are the most costly ones. */
  readonly count: number;
}

/** Null when no finding is called so, by its key. */
export function instancesOf({ findings }: Findings, key: string): FindingInstances | null {
  const finding = findings.find((each) => each.key === key);
  if (!finding) return null;
  const { instances, count } = finding;
  return {
    title: findingTitle(finding),
    instances: instances.toSorted((a, b) => a.start_ns - b.start_ns),
    count,
  };
}

/** What of the Overview's answer is looked at. */
export interface Findings {
  readonly findings: readonly Pick<
    Finding,
    "id" | "key" | "title" | "values" | "instances" | "count"
  >[];
}

/** The next or previous of those that are looked at, by their places; of none, the first or last one in a window of the rank. */
export function nextInstance(
  instances: readonly Instance[],
  current: number,
  window: TimeWindow,
  by: -1 | 1,
): number {
  const last = instances.length - 1;
  if (current >= 0) return Math.min(Math.max(current + by, 0), last);
  const found =
    by > 0
      ? instances.findIndex(({ start_ns }) => start_ns >= window.start)
      : instances.findLastIndex(({ start_ns }) => start_ns < window.end);
  return found < 0 ? (by > 0 ? last : Math.min(0, last)) : found;
}

/** The slice of an instance; where it stands is to be asked. */
export function pickedInstance(
  worker: string,
  offset: number,
  { row, start_ns, duration_ns }: Instance,
): PickedSlice {
  return { worker, row, lane: -1, start: start_ns + offset, duration: duration_ns };
}
