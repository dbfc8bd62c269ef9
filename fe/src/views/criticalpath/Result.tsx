/** What the changes save, and what limits the steps then. */
import { useMemo } from "react";
import type { WhatIf } from "../../api";
import { StackedBars } from "../../charts";
import { duration, fraction } from "../../format";
import { criticalpath } from "../../i18n/en/criticalpath";
import { type Column, numberColumn, SimpleTable, type Table, textColumn } from "../../table";
import { Tile } from "../../ui";
import { byResource, RESOURCES, resourceColor, resourceName } from "./parts";
import { refusalText } from "./Quality";

const text = criticalpath.whatIf;
/** More steps are shown in the chart of all steps. */
const MOST_STEPS = 50;

export function Result({ answer }: { answer: WhatIf }) {
  const { changes, saved, names, before_ns, after_ns, meta } = answer;
  const n = Math.max(1, names.length);
  const gone = changes.filter(({ found }) => found === 0);
  const why = [...new Set(changes.flatMap(({ refused }) => (refused ? [refused] : [])))];
  if (after_ns === null || saved.saved_ns === null) {
    const ids = why.length > 0 ? why : meta.refused.map(({ id }) => id);
    return (
      <section className="path-refused" aria-label={criticalpath.refused}>
        <strong>{criticalpath.refused}</strong>
        <ul>
          {ids.map((id) => (
            <li key={id}>{refusalText(meta.refused.find((each) => each.id === id) ?? { id })}</li>
          ))}
        </ul>
      </section>
    );
  }
  const ns = saved.saved_ns;
  const share = fraction(Math.abs(ns) / Math.max(1, before_ns));
  const time = duration(Math.abs(ns) / n);
  return (
    <>
      <dl className="tiles">
        <Tile
          label={text.mean}
          value={duration(after_ns / n)}
          facts={[[text.before, duration(before_ns / n)]]}
        />
        <Tile
          label={ns < 0 ? text.longer : saved.bound ? text.savedAtMost : text.saved}
          value={time}
          facts={[["", share]]}
          remark={intervalText(answer)}
        />
        {answer.limit_after && (
          <Tile
            label={text.limits}
            value={resourceName(answer.limit_after)}
            remark={answer.limit_before ? text.limitsAfter(resourceName(answer.limit_before)) : ""}
          />
        )}
      </dl>
      {ns > 0 && saved.bound && <p className="muted">{text.bound}</p>}
      {answer.with_waiting && <p className="muted">{text.withWaiting}</p>}
      {gone.length > 0 && (
        <p className="path-gone">
          {text.gone(gone.map(({ name, kind }) => name ?? kind).join(", "))}
        </p>
      )}
      {answer.notes.map((note) => (
        <p key={note} className="path-gone">
          {note}
        </p>
      ))}
      <NewPath answer={answer} />
    </>
  );
}

function intervalText({ saved: { low_ns, high_ns, saved_ns }, names }: WhatIf): string {
  if (low_ns === null || high_ns === null) return text.noInterval;
  if ((saved_ns ?? 0) <= 0) return "";
  return text.between(duration(low_ns / names.length), duration(high_ns / names.length));
}

/** The path of the mean step, before and after. */
function NewPath({ answer }: { answer: WhatIf }) {
  const n = Math.max(1, answer.names.length);
  const before = useMemo(() => byResource(answer.parts_before), [answer]);
  const after = useMemo(() => byResource(answer.parts_after ?? {}), [answer]);
  const told = RESOURCES.filter((each) => before[each] > 0 || after[each] > 0);
  return (
    <div className="what-if-path">
      <StackedBars
        title={text.path}
        unit="ns"
        x={[text.before, text.after]}
        mode="absolute"
        height={240}
        series={told.map((each) => ({
          key: each,
          label: resourceName(each),
          color: resourceColor(each),
          values: [before[each] / n, after[each] / n],
        }))}
      />
      <SimpleTable
        caption={text.path}
        table={useMemo(() => pathTable(told, before, after, n), [told, before, after, n])}
      />
      {answer.names.length > 1 && answer.names.length <= MOST_STEPS && (
        <details>
          <summary>{text.perStep}</summary>
          <SimpleTable caption={text.step} table={stepTable(answer)} />
        </details>
      )}
    </div>
  );
}

type Times = Readonly<Record<(typeof RESOURCES)[number], number>>;

export function pathTable(
  told: readonly (typeof RESOURCES)[number][],
  before: Times,
  after: Times,
  steps: number,
): Table {
  const times = (of: Times) => {
    const each = told.map((resource) => of[resource] / steps);
    return [...each, each.reduce((sum, ns) => sum + ns, 0)];
  };
  const names = [...told.map(resourceName), text.mean];
  return changeTable(textColumn("resource", text.resource), names, times(before), times(after));
}

export function stepTable({ names, step_before_ns: before, step_after_ns: after }: WhatIf): Table {
  return changeTable(textColumn("step", text.step), names, before, after ?? []);
}

/** Times before and after, and what became of them. */
function changeTable(
  of: Column,
  names: readonly string[],
  before: readonly number[],
  after: readonly number[],
): Table {
  const time = (key: string, label: string, more: Partial<Column> = {}) =>
    numberColumn(key, label, "ns", { family: "times of the what-if", ...more });
  return {
    columns: [
      of,
      time("before_ns", text.before),
      time("after_ns", text.after),
      time("change_ns", text.change, { change: "cost" }),
    ],
    rows: {
      [of.key]: names,
      before_ns: before,
      after_ns: after,
      change_ns: after.map((ns, at) => ns - (before[at] ?? 0)),
    },
  };
}
