import type { ModulesTable } from "../../api";
import { modulesTexts as text } from "../../i18n";
import { allRows, derive, hiding, only, rowsAt, shareOf, type Table } from "../../table";
import { type Metric, wholeOf } from "./metrics";

/** The server's columns, the metric with its share as a bar. */
export function moduleTable(answer: ModulesTable, metric: Metric): Table {
  // Without a backward pass, as in inference, they would only take the room of the others.
  const nothing = Object.keys(answer.rows).filter(
    (key) =>
      key.startsWith("backward_") && key !== metric && (answer.rows[key] ?? []).every((ns) => !ns),
  );
  const columns = hiding(answer.columns, nothing);
  const label = text.metrics[metric];
  const rows = {
    ...answer.rows,
    module_id: (answer.rows.module_id ?? []).map((id) => (id === -1 ? null : id)),
  };
  return derive({ columns, rows }, [
    shareOf(metric, wholeOf(answer, metric), {
      key: "share",
      label: text.share(label),
      help: text.shareHelp(label),
    }),
  ]);
}

/** Hooks with their share of the time. */
export function hookTable(hooks: NonNullable<ModulesTable["hooks"]>): Table {
  const whole = (hooks.rows.host_self_ns ?? []).reduce<number>((sum, ns) => sum + Number(ns), 0);
  return derive(hooks, [
    shareOf("host_self_ns", whole, {
      key: "share",
      label: text.hooksShare,
      help: text.hooksShareHelp,
    }),
  ]);
}

/** The modules directly inside one, the largest first. */
export function insideOf(answer: ModulesTable, row: number, metric: Metric): Table {
  const value = (at: number) => Number(answer.rows[metric]?.[at] ?? 0);
  const inside = allRows(answer).filter((at) => answer.rows.parent?.[at] === row);
  inside.sort((a, b) => value(b) - value(a));
  return rowsAt(only(answer, ["name", metric]), inside);
}
