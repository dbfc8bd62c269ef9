import { useCallback, useMemo } from "react";
import type { Compared, CompareMeasure, Result } from "../../api";
import { PairedBars, type PairedItem } from "../../charts";
import { change, count, duration, percentChange } from "../../format";
import { compareTexts } from "../../i18n";
import { Choice } from "../../shell";
import { Button, Crumbs, Empty, QueryPanel, Segmented } from "../../ui";
import { Amount } from "./Amount";
import type { Look } from "./look";
import { openPart, openPath } from "./open";
import { EVERYTHING, params } from "./params";
import { type Part, SHOWN, sumOf, titleOf, totalOf, windowOf } from "./parts";

const text = compareTexts.timeline;

const NAMES = {
  before: compareTexts.baseline,
  after: compareTexts.experiment,
  beforeSum: text.beforeSum,
  afterSum: text.afterSum,
  difference: text.difference,
  differencePercent: text.differencePercent,
  accumulated: text.accumulated,
};

interface Props {
  readonly query: Result<Compared>;
  readonly look: Look;
}

/** Where both programs spend their time, part by part, and the way through the levels. */
export function Timeline({ query, look }: Props) {
  const answer = query.data;
  const device = answer ? answer.totals.device_ns > 0 || answer.totals.exp_device_ns > 0 : false;
  return (
    <QueryPanel
      title={text.title}
      help={text.help}
      query={query}
      actions={
        <>
          {look.canDivide && (
            <Segmented
              label={text.sum}
              value={look.perStep ? "step" : "all"}
              options={params.sum.words}
              names={text.sums}
              onChange={look.setSum}
            />
          )}
          {device && <Choice param={params.measure} label={text.measure} names={text.measures} />}
          <Choice labelled param={params.order} label={text.order} names={text.orders} />
        </>
      }
    >
      {(shown) => <Level answer={shown} look={look} />}
    </QueryPanel>
  );
}

interface LevelProps extends Omit<Props, "query"> {
  readonly answer: Compared;
}

function Level({ answer, look }: LevelProps) {
  const { measure, divisors, parts } = look;
  const totals = (["duration_ns", "device_ns"] as const)
    .map((key) => ({
      label: key === "device_ns" ? text.device : text.host,
      ...totalOf(answer, key, divisors),
    }))
    .filter(({ before, after }) => before > 0 || after > 0);
  return (
    <>
      <Crumbs
        label={text.path}
        root={EVERYTHING}
        chain={answer.meta.trail.map((part) => ({ key: part.path, label: titleOf(part) }))}
        onFocus={openPath}
        most={Number.POSITIVE_INFINITY}
      />
      <p className="compare-totals">
        {totals.map(({ label, before, after }) => (
          <span key={label}>
            {label} {duration(before)} → {duration(after)}{" "}
            <Amount delta={after - before} percent={percentChange(before, after)} />
          </span>
        ))}
      </p>
      {parts.length === 0 ? (
        <Empty title={text.leaf} reason={text.leafReason} />
      ) : (
        <>
          <Picture parts={parts} measure={measure} look={look} />
          <p className="muted">{text.hint}</p>
        </>
      )}
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = compareTexts.kinds;

interface PictureProps {
  readonly parts: readonly Part[];
  readonly measure: CompareMeasure;
  readonly look: Look;
}

function Picture({ parts, measure, look }: PictureProps) {
  const { first, end } = windowOf(parts.length, look.page);
  const shown = useMemo(() => parts.slice(first, end), [parts, first, end]);
  const start = useMemo(() => sumOf(parts.slice(0, first), measure), [parts, first, measure]);
  const items = useMemo<PairedItem[]>(
    () =>
      shown.map(({ title, kind, times, values }) => ({
        label: times > 1 ? text.repeated(title, count(times)) : title,
        details: KINDS[kind] ?? kind,
        ...values[measure],
      })),
    [shown, measure],
  );
  const pick = useCallback(
    (index: number) => {
      const part = shown[index];
      if (part) openPart(part);
    },
    [shown],
  );
  return (
    <>
      <PairedBars
        title={text.chart}
        summary={summary(items)}
        items={items}
        start={start}
        itemLabel={text.part}
        names={NAMES}
        unit="ns"
        onPick={pick}
      />
      {parts.length > SHOWN && (
        <p className="compare-pages">
          <Button disabled={first === 0} onClick={() => look.setPage(first / SHOWN)}>
            ‹ {text.earlier}
          </Button>
          <span role="status">{text.range(count(first + 1), count(end), count(parts.length))}</span>
          <Button disabled={end === parts.length} onClick={() => look.setPage(first / SHOWN + 2)}>
            {text.later} ›
          </Button>
        </p>
      )}
    </>
  );
}

const NAMED = 3;

/** For those who do not see the picture: what changed most. */
function summary(items: readonly PairedItem[]): string {
  const changes = items
    .map(({ label, before, after }) => ({ label, delta: after - before }))
    .filter(({ delta }) => delta !== 0)
    .sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta))
    .slice(0, NAMED);
  return text.summary(
    items.length,
    changes.map(({ label, delta }) => `${label} ${change(delta, "ns")}`).join(", "),
  );
}
