/** What the time of the path is spent on, and what can limit a step. Pure. */
import type { CriticalPath, ResourceId, ResourceOnPath } from "../../api";
import type { ColumnSeries } from "../../charts/stackedColumns";
import { partColor, partName } from "../../draw/parts";
import { fraction } from "../../format";
import { criticalpath as text } from "../../i18n/en/criticalpath";

/** From what keeps the device waiting to what it does; the order of the server. */
export const RESOURCES = [
  "input",
  "host",
  "launch",
  "sync",
  "communication",
  "copies",
  "compute",
  "unknown",
] as const satisfies readonly ResourceId[];

/** The parts of each; every part of the server is of one. */
const PARTS: Readonly<Record<ResourceId, readonly string[]>> = {
  input: ["data"],
  host: ["python", "operator", "allocator", "api", "hand_over"],
  launch: ["launch", "launch_latency"],
  sync: ["blocking", "wake_up"],
  communication: ["communication", "collective"],
  copies: ["copy"],
  compute: ["compute", "device_gap", "dependency"],
  unknown: ["unexplained", "fixed"],
};

/** The rows of the path that are of a resource, as the table of pieces is filtered. */
export function piecesOf(resource: ResourceId): string {
  return `part~^(${PARTS[resource].join("|")})$`;
}

/** The step whose path has most of a resource; -1 where none has any. */
export function stepWithMost(
  resource: ResourceId,
  { names, part_ns }: CriticalPath["steps"],
): number {
  const times = names.map((_, step) =>
    PARTS[resource].reduce((sum, part) => sum + (part_ns[part]?.[step] ?? 0), 0),
  );
  const most = Math.max(0, ...times);
  return most > 0 ? times.indexOf(most) : -1;
}

/** The part whose colour a resource has. */
const PART_OF: Readonly<Record<ResourceId, string>> = {
  input: "input",
  host: "host",
  launch: "launch",
  sync: "sync",
  communication: "communication",
  copies: "copy",
  compute: "compute",
  unknown: "unknown",
};

export function resourceColor(resource: ResourceId): string {
  return partColor(PART_OF[resource]);
}

/** Within a sentence. */
export function resourceInText(resource: ResourceId): string {
  return text.resourcesInText[resource];
}

export function resourceName(resource: ResourceId): string {
  return text.resources[resource];
}

type PartTimes = Readonly<Record<string, number>>;

/** Time of each resource, from that of the parts. */
export function byResource(parts: PartTimes): Record<ResourceId, number> {
  const sum = (resource: ResourceId) =>
    PARTS[resource].reduce((total, part) => total + (parts[part] ?? 0), 0);
  return Object.fromEntries(RESOURCES.map((each) => [each, sum(each)])) as Record<
    ResourceId,
    number
  >;
}

/** A series for each resource that has time on the path of any step. */
export function seriesOf(steps: CriticalPath["steps"]): ColumnSeries[] {
  return RESOURCES.flatMap((resource) => {
    const parts = PARTS[resource].flatMap((part) => {
      const times = steps.part_ns[part];
      return times ? [times] : [];
    });
    if (parts.length === 0) return [];
    const values = steps.names.map((_, step) =>
      parts.reduce((total, times) => total + (times[step] ?? 0), 0),
    );
    return [
      { key: resource, label: resourceName(resource), color: resourceColor(resource), values },
    ];
  });
}

/** "Python 21 %, Operators 4.4 %": what the time of a resource is, as shares of the path. */
export function madeOf({ parts }: ResourceOnPath, steps: CriticalPath["steps"], total: number) {
  return parts
    .map((part) => ({ part, ns: (steps.part_ns[part] ?? []).reduce((a, b) => a + b, 0) }))
    .sort((a, b) => b.ns - a.ns)
    .map(({ part, ns }) => `${partName(part)} ${fraction(total ? ns / total : null)}`)
    .join(", ");
}

/** Whether there is anything to say of it: time on the path, or something to be saved, or to be refused. */
export function isTold({ on_path_ns, if_free }: ResourceOnPath): boolean {
  return on_path_ns > 0 || (if_free?.saved_ns ?? 0) > 0;
}

/** The resources that would save something were they free, the largest saving first. */
export function bySaving(resources: readonly ResourceOnPath[]): ResourceOnPath[] {
  return resources
    .filter(({ if_free }) => (if_free?.saved_ns ?? 0) > 0)
    .toSorted((a, b) => (b.if_free?.saved_ns ?? 0) - (a.if_free?.saved_ns ?? 0));
}
