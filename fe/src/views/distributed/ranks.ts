/** From /api/distributed to numbers per rank. Pure. */
import type { Distributed, Nanoseconds, RankStepTimes, RankWorker } from "../../api";
import { mean } from "../../format";

export const PARTS = ["computation_ns", "overlap_ns", "communication_only_ns", "other_ns"] as const;
const WAITS = ["transfer_ns", "wait_ns"] as const;
const UNMATCHED = "unmatched_ns";
type Split = (typeof WAITS)[number];
type Sure = (typeof PARTS)[number] | "duration_ns" | typeof UNMATCHED;
export type Part = Sure | Split;
const SURE: readonly Sure[] = ["duration_ns", ...PARTS, UNMATCHED];

/**
 * Transfer and waiting are null where no operation could be matched with another rank's, exposed communication (of
 * devices) where communication is only known from calls on the host.
 */
type RankNumbers = Readonly<
  Record<Sure, Nanoseconds> & Record<Split | "exposed_communication_ns", Nanoseconds | null>
>;

const collator = new Intl.Collator("en", { numeric: true });

/** The steps that any rank has, in natural order. */
export function stepNames(workers: readonly RankWorker[]): string[] {
  return [...new Set(workers.flatMap(({ steps }) => steps.names))].sort(collator.compare);
}

/** Of one step, or without a name the mean over the rank's own steps; null when it has none. */
export function numbersOf(steps: RankStepTimes, step: string | null): RankNumbers | null {
  if (step !== null) {
    const at = steps.names.indexOf(step);
    return at < 0 ? null : pick(steps, (values) => values[at] ?? null);
  }
  return steps.names.length === 0
    ? null
    : pick(steps, (values) => mean([...values].filter((ns) => ns !== null)));
}

function pick(
  steps: RankStepTimes,
  value: (values: readonly (number | null)[]) => number | null,
): RankNumbers {
  const exposed = steps.exposed_communication_ns;
  const sure = Object.fromEntries(SURE.map((part) => [part, value(steps[part]) ?? 0]));
  return {
    ...(sure as Record<Sure, number>),
    transfer_ns: value(steps.transfer_ns),
    wait_ns: value(steps.wait_ns),
    exposed_communication_ns: exposed && value(exposed),
  };
}

/** The parts of the time in operations that there are: what could not be matched only where there is any. */
export function waitParts(rows: readonly RankRow[]): readonly Part[] {
  const some = rows.some(({ numbers }) => (numbers?.unmatched_ns ?? 0) > 0);
  return some ? [...WAITS, UNMATCHED] : WAITS;
}

export interface RankRow {
  readonly worker: RankWorker;
  /** What it is called where there is little room: its rank if every trace says one, else its worker. */
  readonly name: string;
  readonly numbers: RankNumbers | null;
}

export function rankRows(workers: readonly RankWorker[], step: string | null): RankRow[] {
  const ranks = new Set(workers.map(({ rank }) => rank));
  const numbered = ranks.size === workers.length && !ranks.has(null);
  return workers.map((worker) => ({
    worker,
    name: numbered ? String(worker.rank) : worker.worker,
    numbers: numbersOf(worker.steps, step),
  }));
}

/** Process groups that a rank belongs to, as they are called; those that do not name their ranks are left out. */
export function groupsOf(groups: Distributed["groups"], rank: number | null): string[] {
  return rank === null ? [] : groups.filter(({ ranks }) => ranks.includes(rank)).map(groupLabel);
}

/** As the server writes it in the table of operations. */
function groupLabel({ name, description }: { name: string; description: string }): string {
  if (description !== "" && description !== "undefined") {
    return name === "" ? description : `${description} (${name})`;
  }
  return name;
}
