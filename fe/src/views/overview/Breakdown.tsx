import { useMemo } from "react";
import type { Category, Overview } from "../../api";
import { StackedBars } from "../../charts";
import { t } from "../../i18n";
import { useParam, useStepParams } from "../../state";
import { categoryColor, Empty, Panel, Segmented } from "../../ui";

const text = t.overview.breakdown;
const MODES = [
  { value: "absolute", label: text.absolute },
  { value: "percent", label: text.percent },
] as const;

export function Breakdown({ overview: { steps } }: { overview: Overview }) {
  const [mode, setMode] = useParam<"absolute" | "percent">("m", "absolute");
  const [{ rule }] = useStepParams();
  const series = useMemo(
    () =>
      steps.categories.map((category) => ({
        key: category,
        label: t.overview.categories[category],
        values: steps.category_ns[category] ?? [],
        color: categoryColor(category),
      })),
    [steps],
  );
  return (
    <Panel
      className="area-breakdown"
      title={text.title}
      help={<CategoryHelp categories={steps.categories} />}
      actions={<Segmented label={text.mode} value={mode} options={MODES} onChange={setMode} />}
    >
      {steps.names.length === 0 ? (
        <Empty reason={text.empty} remedy={text.remedy} />
      ) : (
        <>
          {steps.rule === "whole_trace" && rule === null && (
            <p className="muted">{text.wholeTrace}</p>
          )}
          <StackedBars
            title={text.title}
            unit="ns"
            height={400}
            x={steps.names}
            xLabel={text.step}
            {...(steps.labels ? { details: steps.labels, detailsLabel: text.label } : {})}
            mode={mode}
            series={series}
          />
        </>
      )}
    </Panel>
  );
}

function CategoryHelp({ categories }: { categories: readonly Category[] }) {
  return (
    <>
      {text.help}
      <dl>
        {categories.map((category) => (
          <div key={category} className="pair">
            <dt>{t.overview.categories[category]}</dt>
            <dd>{t.overview.categoryHelp[category]}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
