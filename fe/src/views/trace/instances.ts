/** The moments that a finding is about, as the Overview's answer has them. Pure. */
import type { Overview } from "../../api";
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

/** The instance that is looked at, else the one to begin with: -1 and where the picture is. */
export function nextInstance(
  instances: readonly Instance[],
  current: number,
  middle: number,
  by: -1 | 1,
): number {
  if (instances.length === 0) return -1;
  if (current >= 0) return Math.min(Math.max(current + by, 0), instances.length - 1);
  const behind = instances.findIndex(({ start_ns }) => start_ns >= middle);
  const first = behind < 0 ? instances.length : behind;
  return Math.min(Math.max(by > 0 ? first : first - 1, 0), instances.length - 1);
}

/** The slice of an instance; where it stands is to be asked. */
export function pickedInstance(
  worker: string,
  offset: number,
  { row, start_ns, duration_ns }: Instance,
): PickedSlice {
  return { worker, row, lane: -1, start: start_ns + offset, duration: duration_ns };
}
