import { readStored, writeStored } from "../host";

/** Which columns the user showed or hid in one table: key → visible. */
export type Visibility = Readonly<Record<string, boolean>>;

const PREFIX = "torch-tb-profiler.columns.";

export function loadVisibility(table: string): Visibility {
  try {
    return visibilityOf(JSON.parse(readStored("localStorage", PREFIX + table) ?? "{}"));
  } catch {
    return {};
  }
}

export function saveVisibility(table: string, visibility: Visibility): void {
  writeStored("localStorage", PREFIX + table, JSON.stringify(visibility));
}

function visibilityOf(stored: unknown): Visibility {
  if (typeof stored !== "object" || stored === null) return {};
  const isFlag = (entry: [string, unknown]): entry is [string, boolean] =>
    typeof entry[1] === "boolean";
  return Object.fromEntries(Object.entries(stored).filter(isFlag));
}
