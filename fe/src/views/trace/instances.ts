/** The moments that a finding is about, as the Overview's answer has them. Pure. */
import type { Overview } from "../../api";
import { findingTitle } from "../../i18n";
import type { PickedSlice } from "../../timeline";

export interface Instance {
  /** The event; null when it is none, such as a gap. */
  readonly row: number | null;
  /** ns of the rank. */
  readonly start: number;
  readonly duration: number;
  /** Name of the step; null outside of all. */
  readonly step: string | null;
  readonly name: string;
}

export interface FindingInstances {
  readonly title: string;
  /** In order of time. */
  readonly instances: readonly Instance[];
}

/** As the server sends them, beside what all findings have. */
interface Sent {
  readonly row?: number | null;
  readonly start_ns: number;
  readonly duration_ns: number;
  readonly step?: string | null;
  readonly name: string;
}

/** Null when no finding is called so. One without instances has an empty list. */
export function instancesOf(
  {
    findings,
  }: { readonly findings: readonly { id: string; title: string; instances?: unknown }[] },
  id: string,
): FindingInstances | null {
  const finding = findings.find((each) => each.id === id);
  if (!finding) return null;
  const sent = Array.isArray(finding.instances) ? (finding.instances as readonly Sent[]) : [];
  return {
    title: findingTitle(finding),
    instances: sent
      .map(({ row, start_ns, duration_ns, step, name }) => ({
        row: row ?? null,
        start: start_ns,
        duration: duration_ns,
        step: step ?? null,
        name,
      }))
      .sort((a, b) => a.start - b.start),
  };
}

/** As `instancesOf` takes it. */
export type Findings = Pick<Overview, "findings">;

/** The instance that is looked at, else the one to begin with: -1 and where the picture is. */
export function nextInstance(
  instances: readonly Instance[],
  current: number,
  middle: number,
  by: -1 | 1,
): number {
  if (instances.length === 0) return -1;
  if (current >= 0) return Math.min(Math.max(current + by, 0), instances.length - 1);
  const behind = instances.findIndex(({ start }) => start >= middle);
  const first = behind < 0 ? instances.length : behind;
  return Math.min(Math.max(by > 0 ? first : first - 1, 0), instances.length - 1);
}

/** The slice of an instance; where it stands is to be asked. */
export function pickedInstance(
  worker: string,
  offset: number,
  { row, start, duration }: Instance,
): PickedSlice | null {
  return row === null ? null : { worker, row, lane: -1, start: start + offset, duration };
}
