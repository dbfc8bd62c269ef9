/** What is written on the boxes and in their tooltips. Pure. */
import type { StackKind, StackRows, StacksTable } from "../../api";
import type { FlameEntries, FlameKind } from "../../charts/flame";
import { builtinLabel, count, duration, fraction, frameLabel } from "../../format";
import { flameTexts, stacksTexts as text } from "../../i18n";
import { hasSelf, ownValues } from "./rows";

/** `short`: of device work, as the server has it. */
export function labelOf(kind: StackKind, name: string, short: string | null = null): string {
  switch (kind) {
    case "frame":
      return frameLabel(name);
    case "builtin":
      return builtinLabel(name);
    case "device":
      return short ?? name;
    default:
      return name;
  }
}

/** What an entry is drawn as: communication and copies have their own colours, in every view. */
function drawnKind(rows: StackRows, row: number): FlameKind {
  const role = rows.role[row] ?? null;
  return role === "communication" || role === "copy" ? role : (rows.kind[row] ?? "other");
}

export function entriesOf(answer: StacksTable, rows: StackRows): FlameEntries {
  const { meta } = answer;
  const name = (row: number) => rows.name[row] ?? "";
  const kind = (row: number) => drawnKind(rows, row);
  const share = (ns: number) => fraction(meta.all_ns > 0 ? ns / meta.all_ns : null);
  return {
    size: rows.id.length,
    parent: rows.parent,
    own: ownValues(rows, meta.above?.id.length ?? 0),
    name,
    kind,
    label: (row) => labelOf(rows.kind[row] ?? "other", name(row), rows.short_name[row]),
    tooltip: (row) => ({
      title: name(row),
      subtitle: flameTexts.kinds[kind(row)],
      lines: [
        { label: text.tooltip.total, ...numbers(rows.total_ns[row]) },
        ...(hasSelf(answer) ? [{ label: text.tooltip.self, ...numbers(rows.self_ns[row]) }] : []),
        { label: text.tooltip.calls, value: count(rows.calls[row]) },
        ...(rows.folded[row]
          ? [{ label: text.tooltip.folded, value: count(rows.folded[row]) }]
          : []),
      ],
    }),
    spoken: (row) =>
      text.spoken(
        name(row),
        flameTexts.kinds[kind(row)],
        duration(rows.total_ns[row]),
        share(rows.total_ns[row] ?? 0),
      ),
  };

  function numbers(ns: number | undefined) {
    return { value: duration(ns), share: share(ns ?? 0) };
  }
}

/** The kinds there are, in the order of the legend. */
export function kindsOf(rows: StackRows, all: readonly FlameKind[]): FlameKind[] {
  const found = new Set<string>(rows.kind.map((_, row) => drawnKind(rows, row)));
  return all.filter((kind) => found.has(kind));
}
