/** What the steps of each kind take, where steps run different programs: every mean of the page is over all of them. */
import type { Overview } from "../../api";
import { count, exact, fraction, inOneUnit } from "../../format";
import { categoryName, overviewTexts, stepKindName } from "../../i18n";
import { Panel, Wide } from "../../ui";

const text = overviewTexts.kinds;

/** Nothing where all steps are of one kind. */
export function Kinds({ overview: { steps } }: { overview: Overview }) {
  const { kinds, categories } = steps;
  if (kinds.length === 0) return null;
  const shown = categories.filter((key) => kinds.some(({ category_ns: ns }) => ns[key]));
  const time = inOneUnit(
    "ns",
    kinds.map(({ mean_ns: ns }) => ns),
  );
  return (
    <Panel className="area-kinds" title={text.title} help={text.help}>
      <p role="note">{text.line(kinds.length)}</p>
      <Wide>
        <table className="average-table num">
          <thead>
            <tr>
              <th scope="col">{text.kind}</th>
              <th scope="col">{text.count}</th>
              <th scope="col" title={text.rangeHelp}>
                {text.range}
              </th>
              <th scope="col">{text.mean}</th>
              <th scope="col">{text.median}</th>
              {shown.map((key) => (
                <th key={key} scope="col" title={text.shareHelp}>
                  {categoryName(key)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {kinds.map((kind) => (
              <tr key={stepKindName(kind)}>
                <th scope="row">{stepKindName(kind)}</th>
                <td>{count(kind.count)}</td>
                <td>{rangeOf(kind.from_step, kind.to_step)}</td>
                <td title={exact(kind.mean_ns, "ns")}>{time(kind.mean_ns)}</td>
                <td title={exact(kind.median_ns, "ns")}>{time(kind.median_ns)}</td>
                {shown.map((key) => (
                  <td key={key}>
                    {fraction(
                      kind.mean_ns > 0 ? (kind.category_ns[key] ?? 0) / kind.mean_ns : null,
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Panel>
  );
}

function rangeOf(from: string | null, to: string | null): string {
  if (from === null || to === null) return "–";
  return from === to ? from : text.fromTo(from, to);
}
