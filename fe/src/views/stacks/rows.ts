/** The entries of an answer as one tree. Pure. */
import type { StackRows, StacksTable } from "../../api";
import { stacksTexts } from "../../i18n";
import { derive, shareOf, type Table, withShortNames } from "../../table";

/** What is around the part that was asked for, and the part itself below it. */
export function withAbove({ meta: { above }, rows }: StacksTable): StackRows {
  if (!above || above.id.length === 0) return rows;
  const shift = above.id.length;
  const joined = Object.fromEntries(
    (Object.keys(rows) as (keyof StackRows)[]).map((key) => [key, [...above[key], ...rows[key]]]),
  ) as unknown as StackRows;
  joined.parent = [
    ...above.parent,
    ...rows.parent.map((parent) => (parent < 0 ? shift - 1 : parent + shift)),
  ];
  return joined;
}

/** Of each entry what its box is wide for beside those below; nothing of what is around the part that was asked for. */
export function ownValues(rows: StackRows, above: number): number[] {
  return rows.self_ns.map((ns, row) => (row < above ? 0 : ns));
}

/** Where it matters what the server left out: something below an entry is folded. */
export function isFolded(rows: StackRows, row: number): boolean {
  const inside = new Uint8Array(rows.id.length);
  inside[row] = 1;
  for (let i = row; i < rows.id.length; i++) {
    const parent = rows.parent[i] ?? -1;
    if (parent >= 0 && inside[parent]) inside[i] = 1;
    if (inside[i] && (rows.folded[i] ?? 0) > 0) return true;
  }
  return false;
}

/**
 * Whether its own time says something of an entry. Seen from the bottom the tree is upside down: time stands at the
 * outermost callers, where the stacks end, and an entry has it from those below it.
 */
export function hasSelf({ meta }: StacksTable): boolean {
  return meta.direction !== "bottom_up";
}

/**
 * The name with most time of its own over all stacks, whichever way they are seen, and its largest entry. Null without
 * any. What is folded together is no entry.
 */
export function largestOwn(answer: StacksTable): { row: number; ns: number } | null {
  const { rows } = answer;
  const own = (row: number) => {
    if (rows.kind[row] === "smaller") return 0;
    if (hasSelf(answer)) return rows.self_ns[row] ?? 0;
    return (rows.parent[row] ?? -1) < 0 ? (rows.total_ns[row] ?? 0) : 0;
  };
  const byName = new Map<string, { row: number; ns: number }>();
  for (const row of rows.id.keys()) {
    const name = `${rows.kind[row]} ${rows.name[row]}`;
    const { row: largest, ns } = byName.get(name) ?? { row, ns: 0 };
    byName.set(name, { row: own(row) > own(largest) ? row : largest, ns: ns + own(row) });
  }
  const [most] = [...byName.values()].toSorted((a, b) => b.ns - a.ns);
  return most && most.ns > 0 ? most : null;
}

/** The same entries as a table, with the share of everything. */
export function stackTable(answer: StacksTable, rows: StackRows): Table {
  const { meta } = answer;
  const columns = answer.columns.filter(({ key }) => key !== "self_ns" || hasSelf(answer));
  return derive(withShortNames({ columns, rows: { ...rows } }), [
    shareOf("total_ns", meta.all_ns, {
      key: "share",
      label: stacksTexts.share,
      help: stacksTexts.shareHelp,
    }),
  ]);
}

/** The modules around an entry and itself, as the Module view names them. */
export function modulePath(rows: StackRows, row: number): string {
  const parts: string[] = [];
  for (let r = row; r >= 0; r = rows.parent[r] ?? -1)
    if (rows.kind[r] === "module") parts.push(rows.name[r] ?? "");
  return parts.reverse().join("/");
}
