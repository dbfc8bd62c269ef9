/** What the steps of each kind take, where steps run different programs: every mean of the page is over all of them. */
import type { Overview } from "../../api";
import { count, exact, fraction, inOneUnit } from "../../format";
import { categoryName, overviewTexts, stepKindName } from "../../i18n";
import { type ListColumn, ListTable } from "../../table";
import { Panel } from "../../ui";

const text = overviewTexts.kinds;

type Kind = Overview["steps"]["kinds"][number];

/** Nothing where all steps are of one kind. */
export function Kinds({ overview: { steps } }: { overview: Overview }) {
  const { kinds, categories } = steps;
  if (kinds.length === 0) return null;
  const shown = categories.filter((key) => kinds.some(({ category_ns: ns }) => ns[key]));
  const time = inOneUnit(
    "ns",
    kinds.map(({ mean_ns: ns }) => ns),
  );
  const timeOf = (label: string, of: (kind: Kind) => number): ListColumn<Kind> => ({
    label,
    cell: (kind) => time(of(kind)),
    title: (kind) => exact(of(kind), "ns"),
  });
  return (
    <Panel className="area-kinds" title={text.title} help={text.help}>
      <p role="note">{text.line(kinds.length)}</p>
      <ListTable
        label={text.title}
        wide
        rows={kinds}
        columns={[
          { label: text.kind, cell: stepKindName },
          { label: text.count, cell: (kind) => count(kind.count) },
          {
            label: text.range,
            help: text.rangeHelp,
            cell: ({ from_step: from, to_step: to }) => rangeOf(from, to),
          },
          timeOf(text.mean, ({ mean_ns: ns }) => ns),
          timeOf(text.median, ({ median_ns: ns }) => ns),
          ...shown.map((key) => ({
            label: categoryName(key),
            help: text.shareHelp,
            cell: ({ mean_ns: ns, category_ns: parts }: Kind) =>
              fraction(ns > 0 ? (parts[key] ?? 0) / ns : null),
          })),
        ]}
      />
    </Panel>
  );
}

function rangeOf(from: string | null, to: string | null): string {
  if (from === null || to === null) return "–";
  return from === to ? from : text.fromTo(from, to);
}
