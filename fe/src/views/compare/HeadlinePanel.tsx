import { type ReactNode, useMemo } from "react";
import { type Overview, type TraceKey, useCompare, useOverview } from "../../api";
import { change, count, duration, percentChange } from "../../format";
import { categoryName, compareTexts } from "../../i18n";
import { SimpleTable, type Table } from "../../table";
import { Async, Panel } from "../../ui";
import { deviceNames, type StepChange, stepChange } from "./headline";
import { EVERYTHING } from "./params";

const text = compareTexts.headline;

interface Props {
  readonly baseline: TraceKey;
  readonly experiment: TraceKey;
  /** See `useCompare`. */
  readonly versions: string;
}

/** The answer in a sentence, with the numbers that it is made of. */
export function Headline({ baseline, experiment, versions }: Props) {
  const before = useOverview(baseline);
  const after = useOverview(experiment);
  return (
    <Panel title={text.title} help={text.help}>
      <Async query={before}>
        {(one) => (
          <Async query={after}>
            {(other) => (
              <Changes baseline={one} experiment={other}>
                <Whole baseline={baseline} experiment={experiment} versions={versions} />
              </Changes>
            )}
          </Async>
        )}
      </Async>
    </Panel>
  );
}

interface ChangesProps {
  readonly baseline: Overview;
  readonly experiment: Overview;
  /** What is said in place of the step, where there is none. */
  readonly children: ReactNode;
}

function Changes({ baseline, experiment, children }: ChangesProps) {
  const found = useMemo(() => stepChange(baseline, experiment), [baseline, experiment]);
  const steps = [baseline, experiment].map(({ steps: { names } }) => names.length);
  const devices = [baseline, experiment].map((each) => deviceNames(each, text.unnamed));
  const remarks = [
    ...(found === null ? [text.noSteps] : []),
    ...(found !== null && steps[0] !== steps[1]
      ? [text.differentSteps(count(steps[0]), count(steps[1]))]
      : []),
    ...(devices[0] !== devices[1]
      ? [text.differentDevices(devices[0] || text.noDevice, devices[1] || text.noDevice)]
      : []),
  ];
  return (
    <div className="compare-change">
      <div className="compare-headline">
        {found ? <Step found={found} /> : children}
        {remarks.length > 0 && (
          <ul className="compare-remarks">
            {remarks.map((remark) => (
              <li key={remark}>{remark}</li>
            ))}
          </ul>
        )}
      </div>
      {found && <SimpleTable caption={text.table} table={categoryTable(found)} />}
    </div>
  );
}

function Step({ found }: { found: StepChange }) {
  const { before, after, delta, percent, contributors, against } = found;
  const named = (changes: StepChange["categories"]) =>
    changes
      .map((one) => text.contributor(categoryName(one.category), change(one.delta, "ns")))
      .join(", ");
  return (
    <>
      <p className="compare-verdict">
        {text.step(duration(before), duration(after))} <Amount delta={delta} percent={percent} />
      </p>
      {contributors.length > 0 && (
        <p>
          <strong>{text.contributors}</strong> {named(contributors)}
        </p>
      )}
      {contributors.length + against.length === 0 && <p>{text.noContributor}</p>}
      {against.length > 0 && (
        <p>
          <strong>{text.against}</strong> {named(against)}
        </p>
      )}
    </>
  );
}

function Whole({ baseline, experiment, versions }: Props) {
  const query = useCompare(baseline, experiment, EVERYTHING, versions);
  return (
    <Async query={query}>
      {({ totals }) => (
        <>
          <p className="compare-verdict">
            {text.host(duration(totals.duration_ns), duration(totals.exp_duration_ns))}{" "}
            <Amount
              delta={totals.delta_duration_ns}
              percent={percentChange(totals.duration_ns, totals.exp_duration_ns)}
            />
          </p>
          {(totals.device_ns > 0 || totals.exp_device_ns > 0) && (
            <p>
              {text.device(duration(totals.device_ns), duration(totals.exp_device_ns))}{" "}
              <Amount
                delta={totals.delta_device_ns}
                percent={percentChange(totals.device_ns, totals.exp_device_ns)}
              />
            </p>
          )}
        </>
      )}
    </Async>
  );
}

/** What no measurement can tell from nothing, in percent. */
const HARDLY = 0.1;

/** `+3 ms, +4.0 %` */
export function Amount({ delta, percent }: { delta: number; percent: number | null }) {
  if (delta === 0) return <span className="compare-amount">{text.noChange}</span>;
  if (percent !== null && Math.abs(percent) < HARDLY) {
    return <span className="compare-amount">{text.hardly(change(delta, "ns"))}</span>;
  }
  const tone = delta > 0 ? "worse" : "better";
  return (
    <span className={`compare-amount ${tone}`}>
      {change(delta, "ns")}
      {percent !== null && `, ${change(percent, "percent")}`}
    </span>
  );
}

function categoryTable(found: StepChange): Table {
  const rows = [
    ...found.categories.map((one) => ({ ...one, name: categoryName(one.category) })),
    { ...found, name: text.total },
  ];
  const number = (key: string, label: string, help: string) =>
    ({ key, label, type: "number", unit: "ns", help }) as const;
  return {
    columns: [
      { key: "category", label: text.category, type: "string", unit: null },
      number("step_ns", compareTexts.baseline, text.sideHelp),
      number("exp_step_ns", compareTexts.experiment, text.sideHelp),
      { ...number("delta_step_ns", text.delta, text.deltaHelp), change: "cost" },
      {
        key: "delta_percent",
        label: text.deltaPercent,
        help: text.deltaPercentHelp,
        type: "number",
        unit: "percent",
        change: "cost",
      },
    ],
    rows: {
      category: rows.map(({ name }) => name),
      step_ns: rows.map(({ before }) => before),
      exp_step_ns: rows.map(({ after }) => after),
      delta_step_ns: rows.map(({ delta }) => delta),
      delta_percent: rows.map(({ before, after }) => percentChange(before, after)),
    },
  };
}
