/** What the steps of each kind take, where steps run different programs: every mean of the page is over all of them. */
import { useMemo } from "react";
import type { Overview } from "../../api";
import { categoryName, overviewTexts, stepKindName } from "../../i18n";
import { SimpleTable, type Table } from "../../table";
import { Panel } from "../../ui";

const text = overviewTexts.kinds;

/** Nothing where all steps are of one kind. */
export function Kinds({ overview: { steps } }: { overview: Overview }) {
  const table = useMemo(() => kindTable(steps), [steps]);
  if (steps.kinds.length === 0) return null;
  return (
    <Panel className="area-kinds" title={text.title} help={text.help}>
      <p role="note">{text.line(steps.kinds.length)}</p>
      <SimpleTable caption={text.caption} table={table} />
    </Panel>
  );
}

function kindTable({ kinds, categories }: Overview["steps"]): Table {
  const shown = categories.filter((key) => kinds.some(({ category_ns: ns }) => ns[key]));
  return {
    columns: [
      { key: "kind", label: text.kind, type: "string", unit: null },
      { key: "count", label: text.count, type: "number", unit: "count" },
      { key: "range", label: text.range, type: "string", unit: null, help: text.rangeHelp },
      { key: "mean", label: text.mean, type: "number", unit: "ns", family: "step" },
      { key: "median", label: text.median, type: "number", unit: "ns", family: "step" },
      ...shown.map((key) => ({
        key,
        label: text.percent(categoryName(key)),
        type: "number" as const,
        unit: "percent" as const,
        help: text.percentHelp,
        bar: true,
      })),
    ],
    rows: {
      kind: kinds.map(stepKindName),
      count: kinds.map(({ count }) => count),
      range: kinds.map(({ from_step: from, to_step: to }) =>
        from === null || to === null ? null : from === to ? from : text.fromTo(from, to),
      ),
      mean: kinds.map(({ mean_ns: ns }) => ns),
      median: kinds.map(({ median_ns: ns }) => ns),
      ...Object.fromEntries(
        shown.map((key) => [
          key,
          kinds.map(({ category_ns: ns, mean_ns: mean }) =>
            mean > 0 ? (100 * (ns[key] ?? 0)) / mean : null,
          ),
        ]),
      ),
    },
  };
}
