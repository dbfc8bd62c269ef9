/** Names of the parts of a step in a language, for the page and for sentences of that language. */
import type { parts } from "./en/parts";

/** What a table has for the longest end of an id such as `idle.host.operator`, else for what stands before it. */
export function byEnd<T>(id: string, table: Readonly<Record<string, T>>): T | undefined {
  const words = id.split(".");
  for (let end = words.length; end > 0; end--)
    for (let from = 0; from < end; from++) {
      const found = table[words.slice(from, end).join(".")];
      if (found !== undefined) return found;
    }
  return undefined;
}

/** The name of a part by its id, such as `compute.kv_cache` or `host.data`. */
export function partIn({ names, kinds, ofKind }: typeof parts, id: string): string {
  const [group = "", kind] = id.split(".");
  if (group === "compute" && kind !== undefined)
    return ofKind(names[group] ?? group, kinds[kind] ?? kind.replaceAll("_", " "));
  return byEnd(id, names) ?? id;
}
