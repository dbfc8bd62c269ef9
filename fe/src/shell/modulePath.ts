/** How a module is named in the address: `Net_0/Block_1/Linear_3`, or Lightning's own path `net.encoder`. Pure. */
import type { ModulesTable } from "../api";
import { numberAt, textAt } from "../table";

type Rows = ModulesTable["rows"];

export function modulePath(answer: ModulesTable, row: number): string {
  if (answer.meta.source === "lightning") return textAt(answer.rows, "name", row);
  const parts: string[] = [];
  for (let r = row; r >= 0; r = numberAt(answer.rows, "parent", r) ?? -1)
    parts.push(part(answer.rows, r));
  return parts.reverse().join("/");
}

/** -1: there is none. */
export function rowOfModule(answer: ModulesTable, path: string | null | undefined): number {
  if (!path) return -1;
  const names = answer.rows.name ?? [];
  if (answer.meta.source === "lightning") return names.indexOf(path);
  // Most rows differ from it by their own name.
  return names.findIndex(
    (_, row) => path.endsWith(part(answer.rows, row)) && modulePath(answer, row) === path,
  );
}

/** Names end with the module's number; where they do not, it is added. */
function part(rows: Rows, row: number): string {
  const name = textAt(rows, "name", row);
  const id = numberAt(rows, "module_id", row) ?? -1;
  return id < 0 || name.endsWith(`_${id}`) ? name : `${name}#${id}`;
}
