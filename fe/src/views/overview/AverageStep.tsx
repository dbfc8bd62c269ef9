import { useMemo } from "react";
import type { Overview } from "../../api";
import { Donut } from "../../charts";
import { exact, fraction, inOneUnit } from "../../format";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { categoryColor, Link, Panel } from "../../ui";
import { categoryRows } from "./numbers";

const text = overviewTexts.average;

interface Props {
  readonly overview: Overview;
  /** The category of which it is told what it is made of; empty for none. */
  readonly picked: string;
  readonly onPick: (category: string) => void;
}

export function AverageStep({ overview, picked, onPick }: Props) {
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
            onPick={(index) => onPick(shown[index]?.category ?? "")}
          />
        </div>
        <table className="average-table num">
          <thead>
            <tr>
              <th scope="col">{text.category}</th>
              <th scope="col">{text.time}</th>
              <th scope="col">{text.share}</th>
            </tr>
          </thead>
          <tbody>
            <tr className="total">
              <th scope="row" title={definitionText(overview.definitions, "step")}>
                {text.total}
              </th>
              <td title={exact(total, "ns")}>{time(total)}</td>
              <td>{fraction(1)}</td>
            </tr>
            {rows.map((row) => (
              <tr key={row.category} className={row.category === picked ? "is-picked" : undefined}>
                <th scope="row" title={definitionText(overview.definitions, row.category)}>
                  <i className="swatch" style={{ background: categoryColor(row.category) }} />
                  {row.ns > 0 ? (
                    <Link
                      aria-pressed={row.category === picked}
                      onClick={() => onPick(row.category === picked ? "" : row.category)}
                    >
                      {categoryName(row.category)}
                    </Link>
                  ) : (
                    categoryName(row.category)
                  )}
                </th>
                <td title={exact(row.ns, "ns")}>{time(row.ns)}</td>
                <td>{fraction(row.share)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
