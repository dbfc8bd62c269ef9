/** The selected step, whatever view is shown. */

import { useMemo } from "react";
import { type Category, type Overview, useOverview } from "../../api";
import type { TimeWindow } from "../../draw";
import { duration } from "../../format";
import { categoryName, stepsTexts } from "../../i18n";
import { longestSlice } from "../../shell";
import { ShowIn } from "../../shell/findings";
import { goToView, useTrace, useViewId } from "../../state";
import { numberColumn, RowNumbers, SimpleTable, type Table, textColumn } from "../../table";
import { Async } from "../../ui";
import { stepTable } from "./columns";
import { cause, differences, outliers, type Usual, usualStep } from "./outliers";
import "../../ui/lines.css";
import "./steps.css";

const text = stepsTexts.inspector;

export default function StepInspector({ name }: { name: string }) {
  const { sel } = useTrace();
  const query = useOverview(sel);
  return <Async query={query}>{(answer) => <Numbers answer={answer} name={name} />}</Async>;
}

function Numbers({ answer: { steps, definitions }, name }: { answer: Overview; name: string }) {
  const usual = useMemo(() => usualStep(steps), [steps]);
  const slow = useMemo(() => outliers(steps, usual), [steps, usual]);
  const step = steps.names.indexOf(name);
  if (step < 0 || usual === null) return <p className="muted">{text.gone}</p>;
  const because = cause(steps, usual, step);
  const table = stepTable(steps, [step], { definitions, usual });
  const start = steps.start_ns[step] ?? 0;
  return (
    <div className="step-inspector stack">
      {slow[step] && (
        <p>
          {because
            ? text.isOutlier(categoryName(because.category), duration(because.ns))
            : text.isSlow}
        </p>
      )}
      <RowNumbers table={table} row={0} without={detailed(table)} />
      <SimpleTable
        caption={text.byCategory}
        table={categoryTable({ steps, usual, step })}
        doorOf={(row) => {
          const category = steps.categories[row] ?? "";
          const has = (steps.category_ns[category as Category]?.[step] ?? 0) > 0;
          return has ? () => goToView("steps", { kind: "step", name }, { category }) : null;
        }}
      />
      <Links
        window={{ start, end: start + (steps.duration_ns[step] ?? 0) }}
        step={name}
        label={steps.labels[step] ?? null}
      />
    </div>
  );
}

interface LinksProps {
  readonly window: TimeWindow;
  readonly step: string;
  /** The annotation that marks it. */
  readonly label: string | null;
}

/** Where else the step can be looked at. The shell links to the view of steps itself. */
function Links({ window, step, label }: LinksProps) {
  const [view] = useViewId();
  const targets = [
    { id: "overview", look: {} },
    { id: "trace", look: label === null ? { window } : longestSlice(label, window) },
    { id: "distributed", look: { step } },
  ] as const;
  return (
    <div className="row">
      {targets
        .filter(({ id }) => id !== view)
        .map(({ id, look }) => (
          <ShowIn key={id} view={id} look={look} />
        ))}
    </div>
  );
}

/** What stands in the table of categories, or says nothing about a single step. */
function detailed({ columns }: Table): string[] {
  const kept = [
    "label",
    "kind",
    "start_ns",
    "duration_ns",
    "delta_ns",
    "delta_percent",
    "busy_percent",
    "computing_percent",
    "exposed_communication_percent",
  ];
  return columns.map(({ key }) => key).filter((key) => !kept.includes(key));
}

interface Of {
  readonly steps: Overview["steps"];
  readonly usual: Usual;
  readonly step: number;
}

function categoryTable({ steps, usual, step }: Of): Table {
  const delta = new Map(differences(steps, usual, step).map(({ category, ns }) => [category, ns]));
  const whole = steps.duration_ns[step] ?? 0;
  const ns = (category: Overview["steps"]["categories"][number]) =>
    steps.category_ns[category]?.[step] ?? 0;
  return {
    columns: [
      textColumn("category", text.category),
      numberColumn("time_ns", text.time, "ns"),
      numberColumn("share", text.share, "percent"),
      numberColumn("delta_ns", text.delta, "ns"),
    ],
    rows: {
      category: steps.categories.map((category) => categoryName(category)),
      time_ns: steps.categories.map(ns),
      share: steps.categories.map((category) => (whole > 0 ? (ns(category) / whole) * 100 : null)),
      delta_ns: steps.categories.map((category) => delta.get(category) ?? null),
    },
  };
}
