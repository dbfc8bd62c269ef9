import { useMemo } from "react";
import type { Definitions, Overview } from "../../api";
import { StackedBars } from "../../charts";
import { categoryName, definitionText, overviewTexts } from "../../i18n";
import { Choice } from "../../shell";
import { goToView, useAddress, useStepParams } from "../../state";
import { categoryColor, Empty, Panel } from "../../ui";
import { params } from "./params";

const text = overviewTexts.breakdown;

export function Breakdown({ overview: { steps, definitions } }: { overview: Overview }) {
  const [mode] = useAddress(params.mode);
  const [{ rule }] = useStepParams();
  const series = useMemo(
    () =>
      steps.categories.map((category) => ({
        key: category,
        label: categoryName(category),
        values: steps.category_ns[category] ?? [],
        color: categoryColor(category),
      })),
    [steps],
  );
  return (
    <Panel
      className="area-breakdown"
      title={text.title}
      help={<CategoryHelp categories={steps.categories} definitions={definitions} />}
      actions={<Choice param={params.mode} label={text.mode} names={text} />}
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
            details={steps.labels}
            detailsLabel={text.label}
            mode={mode}
            series={series}
            onPick={(index) =>
              goToView("steps", { kind: "step", name: steps.names[index] ?? "" }, { filter: "" })
            }
          />
        </>
      )}
    </Panel>
  );
}

function CategoryHelp({
  categories,
  definitions,
}: {
  categories: readonly string[];
  definitions: Definitions;
}) {
  return (
    <>
      {text.help}
      <dl>
        {categories.map((category) => (
          <div key={category} className="pair">
            <dt>{categoryName(category)}</dt>
            <dd>{definitionText(definitions, category)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
