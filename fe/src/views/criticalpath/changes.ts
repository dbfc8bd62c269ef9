/**
 * Changes of the what-if, as addresses and the server have them: `data:0,operator.aten::mm:0.5,sync`. Pure.
 *
 * The grammar is the server's (analysis/replay/change_texts.py); what it would refuse is left out here.
 */
import type { ResourceId } from "../../api";
import type { Codec } from "../../state/address";

type Naming = "none" | "optional" | "required";

export interface ChangeKind {
  readonly naming: Naming;
  /** Whether it has a factor; without one it takes something away. */
  readonly scales: boolean;
}

/** A line for each kind of change there is. */
export const KINDS = {
  data: { naming: "none", scales: true },
  host: { naming: "none", scales: true },
  python: { naming: "none", scales: true },
  operators: { naming: "none", scales: true },
  launch: { naming: "none", scales: true },
  allocator: { naming: "none", scales: true },
  api: { naming: "none", scales: true },
  operator: { naming: "required", scales: true },
  module: { naming: "required", scales: true },
  function: { naming: "required", scales: true },
  kernels: { naming: "optional", scales: true },
  copies: { naming: "optional", scales: true },
  collectives: { naming: "none", scales: true },
  sync: { naming: "optional", scales: false },
  copy_waits: { naming: "optional", scales: false },
  queue: { naming: "none", scales: false },
  pinned: { naming: "none", scales: false },
  graph: { naming: "none", scales: false },
} as const satisfies Readonly<Record<string, ChangeKind>>;

export type KindId = keyof typeof KINDS;

export interface Change {
  readonly kind: KindId;
  /** The operator, annotation, module, function, kernel or copy that it is about; null for everything of the kind. */
  readonly name: string | null;
  /** What durations are multiplied with; null where something is taken away. */
  readonly factor: number | null;
}

/** As the server has them. */
export const MOST_CHANGES = 24;
const LARGEST_FACTOR = 100;
const LONGEST = 4_000;

const FACTOR = /^(?:0|[1-9]\d{0,2})(?:\.\d{1,6})?$/;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

export const CHANGES: Codec<readonly Change[]> = { parse: parseChanges, format: formatChanges };

function parseChanges(text: string): readonly Change[] {
  if (text === "" || text.length > LONGEST) return [];
  const found: Change[] = [];
  for (const part of text.split(",").slice(0, MOST_CHANGES)) {
    const change = parseChange(part);
    if (change && !found.some((each) => isSame(each, change))) found.push(change);
  }
  return found;
}

function formatChanges(changes: readonly Change[]): string {
  return changes.map(formatChange).join(",");
}

export function formatChange({ kind, name, factor }: Change): string {
  const end = factor === null ? "" : `:${Number(factor.toFixed(6))}`;
  if (name === null) return kind + end;
  return `${kind}.${name.replace(/[%,]/g, (sign) => (sign === "%" ? "%25" : "%2C"))}${end}`;
}

function parseChange(part: string): Change | null {
  const key = /^[^.:]*/.exec(part)?.[0] ?? "";
  if (!isKind(key)) return null;
  const { naming, scales } = KINDS[key] as ChangeKind;
  let rest = part.slice(key.length);
  let factor: number | null = null;
  if (scales) {
    const colon = rest.lastIndexOf(":");
    const number = rest.slice(colon + 1);
    factor = Number(number);
    if (colon < 0 || !FACTOR.test(number) || factor > LARGEST_FACTOR) return null;
    rest = rest.slice(0, colon);
  }
  if (rest === "") return naming === "required" ? null : { kind: key, name: null, factor };
  if (naming === "none" || !rest.startsWith(".") || rest.length === 1) return null;
  const name = plain(rest.slice(1));
  return name === null ? null : { kind: key, name, factor };
}

function plain(text: string): string | null {
  if (BAD_ESCAPE.test(text)) return null;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function isKind(text: string): text is KindId {
  return Object.hasOwn(KINDS, text);
}

/** What makes up a resource of the critical path, as `RESOURCES` of analysis/replay/resources.py. */
const OF_RESOURCE: Readonly<Record<ResourceId, readonly KindId[]>> = {
  input: ["data"],
  host: ["python", "operators", "allocator", "api"],
  launch: ["launch"],
  sync: ["sync"],
  communication: ["collectives"],
  copies: ["copies"],
  compute: ["kernels"],
  unknown: [],
};

/** The changes that make a resource take no time. */
export function withoutResource(resource: ResourceId): Change[] {
  return OF_RESOURCE[resource].map((kind) => ({
    kind,
    name: null,
    factor: KINDS[kind].scales ? 0 : null,
  }));
}

/** Whether they are about the same thing, whatever they do with it. */
export function isSame(a: Change, b: Pick<Change, "kind" | "name">): boolean {
  return a.kind === b.kind && a.name === b.name;
}

export function findChange(
  changes: readonly Change[],
  about: Pick<Change, "kind" | "name">,
): Change | null {
  return changes.find((each) => isSame(each, about)) ?? null;
}

/** With this change in place of one about the same thing, else at the end. */
export function withChange(changes: readonly Change[], change: Change): readonly Change[] {
  return changes.some((each) => isSame(each, change))
    ? changes.map((each) => (isSame(each, change) ? change : each))
    : [...changes, change];
}

export function withoutChange(
  changes: readonly Change[],
  about: Pick<Change, "kind" | "name">,
): readonly Change[] {
  return changes.filter((each) => !isSame(each, about));
}
