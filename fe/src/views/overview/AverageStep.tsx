import { useMemo } from "react";
import type { Overview } from "../../api";
import { Donut } from "../../charts";
import { exact, fraction, inOneUnit } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { useAddress } from "../../state";
import { ListTable } from "../../table";
import { categoryColor, Link, Panel, Swatch } from "../../ui";
import { categoryRows } from "./numbers";
import { params } from "./params";

const text = overviewTexts.average;

export function AverageStep({ overview }: { overview: Overview }) {
  const [picked, pick] = useAddress(params.category);
  const rows = useMemo(() => categoryRows(overview), [overview]);
  const shown = useMemo(() => rows.filter((row) => row.ns > 0), [rows]);
  const slices = useMemo(
    () =>
      shown.map((row) => ({
        label: categoryName(row.category),
        value: row.ns,
        color: categoryColor(row.category),
      })),
    [shown],
  );
  const total = overview.average.step_ns;
  const time = inOneUnit(
    "ns",
    rows.map(({ ns }) => ns),
    total,
  );
  return (
    <Panel className="area-average" title={text.title} help={text.help}>
      <div className="average">
        <div className="average-chart">
          <Donut
            title={text.chart}
            unit="ns"
            height={150}
            legend={false}
            slices={slices}
            onPick={(index) => pick(shown[index]?.category ?? "")}
          />
        </div>
        <ListTable
          label={text.title}
          wide
          rows={[{ category: null, ns: total, share: 1 }, ...rows]}
          isPicked={({ category }) => category === picked}
          columns={[
            {
              label: text.category,
              cell: ({ category, ns }) =>
                category === null ? (
                  <strong>{text.total}</strong>
                ) : (
                  <>
                    <Swatch color={categoryColor(category)} />
                    {ns > 0 ? (
                      <Link
                        aria-pressed={category === picked}
                        onClick={() => pick(category === picked ? "" : category)}
                      >
                        {categoryName(category)}
                      </Link>
                    ) : (
                      categoryName(category)
                    )}
                  </>
                ),
              title: ({ category }) => definitionText(overview.definitions, category ?? "step"),
            },
            { label: text.time, cell: ({ ns }) => time(ns), title: ({ ns }) => exact(ns, "ns") },
            { label: text.share, cell: ({ share }) => fraction(share) },
          ]}
        />
      </div>
    </Panel>
  );
}
