import { type ComponentProps, useEffect, useMemo, useRef } from "react";
import { ViewTable } from "../../answers/AnswerTable";
import type { Compared, Result } from "../../api";
import { count } from "../../format";
import { compareTexts } from "../../i18n";
import { rowCount, type Table } from "../../table";
import { QueryPanel } from "../../ui";
import { kernelsTable, operatorsTable, partsTable } from "./columns";
import type { Look } from "./look";
import { openPart } from "./open";
import { params } from "./params";

const text = compareTexts.tables;

interface Props {
  readonly query: Result<Compared>;
  readonly look: Look;
}

/** Choosing a row goes into the part. */
export function Parts({ query, look }: Props) {
  return (
    <QueryPanel
      title={text.parts}
      help={text.partsHelp}
      query={query}
      empty={() =>
        look.parts.length === 0
          ? { title: compareTexts.timeline.leaf, reason: compareTexts.timeline.leafReason }
          : null
      }
    >
      {(answer) => <PartRows answer={answer} look={look} />}
    </QueryPanel>
  );
}

interface PartRowsProps {
  readonly answer: Compared;
  readonly look: Look;
}

function PartRows({ answer, look }: PartRowsProps) {
  const { parts, measure, grouped } = look;
  const box = useRef<HTMLDivElement>(null);
  const picked = useRef(false);
  const table = useMemo(
    () => partsTable(answer.parts, parts, measure, grouped),
    [answer, parts, measure, grouped],
  );
  // The grid of another level is another one; who came with the keyboard goes on in it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the rows have changed
  useEffect(() => {
    if (!picked.current) return;
    picked.current = false;
    box.current?.querySelector<HTMLElement>("[role=grid]")?.focus({ preventScroll: true });
  }, [table.rows]);
  return (
    <div ref={box}>
      <PerStep answer={answer} look={look} />
      <ViewTable
        id="compare-parts"
        label={text.parts}
        table={table}
        nameKey="part"
        filter={params.filter}
        sort={params.sort}
        onSelect={(row) => {
          const part = parts[row];
          if (!part) return;
          picked.current = true;
          openPart(part);
        }}
      />
    </div>
  );
}

const NAMES = {
  operators: {
    build: operatorsTable,
    help: text.operatorsHelp,
    none: text.noOperators,
    kind: "op",
    filter: params.namesFilter,
    sort: params.namesSort,
  },
  kernels: {
    build: kernelsTable,
    help: text.kernelsHelp,
    none: text.noKernels,
    kind: "kernel",
    filter: params.kernelsOrTrendsFilter,
    sort: params.kernelsOrTrendsSort,
  },
} as const;

/** Operators or kernels, by name. */
export function Names({ query, look, of }: Props & { of: keyof typeof NAMES }) {
  const { help, none, ...names } = NAMES[of];
  return (
    <QueryPanel
      title={text[of]}
      help={help}
      query={query}
      empty={(answer) => (rowCount(answer[of]) === 0 ? { title: text.none, reason: none } : null)}
    >
      {(answer) => (
        <>
          <PerStep answer={answer} look={look} />
          <NameRows id={`compare-${of}`} label={text[of]} answer={answer} look={look} {...names} />
        </>
      )}
    </QueryPanel>
  );
}

interface NameRowsProps
  extends Pick<ComponentProps<typeof ViewTable>, "id" | "label" | "kind" | "filter" | "sort"> {
  readonly answer: Compared;
  readonly look: Look;
  readonly build: (answer: Compared, divisors: Look["divisors"]) => Table;
}

function NameRows({ answer, look: { divisors }, build, ...rest }: NameRowsProps) {
  const table = useMemo(() => build(answer, divisors), [build, answer, divisors]);
  return <ViewTable {...rest} table={table} />;
}

function PerStep({ answer: { meta }, look }: { answer: Compared; look: Look }) {
  if (!look.perStep) return null;
  return <p className="muted">{text.perStep(count(meta.steps), count(meta.exp_steps))}</p>;
}
