import { useEffect, useMemo, useRef } from "react";
import type { Compared, Result } from "../../api";
import { count } from "../../format";
import { compareTexts } from "../../i18n";
import { type TableParams, usePicked, useTableParams } from "../../state";
import { DataTable, rowCount, type Table, textAt } from "../../table";
import { QueryPanel } from "../../ui";
import { kernelsTable, operatorsTable, partsTable } from "./columns";
import type { Look } from "./look";
import { params } from "./params";
import type { Part } from "./parts";

const text = compareTexts.tables;

interface Props {
  readonly query: Result<Compared>;
  readonly look: Look;
}

/** Choosing a row goes into the part. */
export function Parts({ query, look, onPick }: Props & { onPick: (part: Part) => void }) {
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
      {(answer) => <PartRows answer={answer} look={look} onPick={onPick} />}
    </QueryPanel>
  );
}

interface PartRowsProps {
  readonly answer: Compared;
  readonly look: Look;
  readonly onPick: (part: Part) => void;
}

function PartRows({ answer, look, onPick }: PartRowsProps) {
  const { parts, measure, grouped } = look;
  const state = useTableParams(params.filter, params.sort);
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
      <DataTable
        id="compare-parts"
        label={text.parts}
        table={table}
        nameKey="part"
        {...state}
        onSelect={(row) => {
          const part = parts[row];
          if (!part) return;
          picked.current = true;
          onPick(part);
        }}
      />
    </div>
  );
}

export function Operators({ query, look }: Props) {
  const state = useTableParams(params.namesFilter, params.namesSort);
  const [selected, select] = usePicked();
  return (
    <QueryPanel
      title={text.operators}
      help={text.operatorsHelp}
      query={query}
      empty={({ operators }) =>
        rowCount(operators) === 0 ? { title: text.none, reason: text.noOperators } : null
      }
    >
      {(answer) => (
        <Rows
          id="compare-operators"
          label={text.operators}
          answer={answer}
          look={look}
          build={operatorsTable}
          {...state}
          selected={selected?.kind === "op" ? selected.name : null}
          onSelect={(name) => select({ kind: "op", name })}
        />
      )}
    </QueryPanel>
  );
}

export function Kernels({ query, look }: Props) {
  const state = useTableParams(params.kernelsOrTrendsFilter, params.kernelsOrTrendsSort);
  const [selected, select] = usePicked();
  return (
    <QueryPanel
      title={text.kernels}
      help={text.kernelsHelp}
      query={query}
      empty={({ kernels }) =>
        rowCount(kernels) === 0 ? { title: text.none, reason: text.noKernels } : null
      }
    >
      {(answer) => (
        <Rows
          id="compare-kernels"
          label={text.kernels}
          answer={answer}
          look={look}
          build={kernelsTable}
          {...state}
          selected={selected?.kind === "kernel" ? selected.name : null}
          onSelect={(name) => select({ kind: "kernel", name })}
        />
      )}
    </QueryPanel>
  );
}

interface RowsProps extends TableParams {
  readonly id: string;
  readonly label: string;
  readonly answer: Compared;
  readonly look: Look;
  readonly build: (answer: Compared, divisors: Look["divisors"]) => Table;
  readonly selected: string | null;
  readonly onSelect: (name: string) => void;
}

function Rows({ answer, look, build, onSelect, ...rest }: RowsProps) {
  const { divisors } = look;
  const table = useMemo(() => build(answer, divisors), [build, answer, divisors]);
  return (
    <>
      <PerStep answer={answer} look={look} />
      <DataTable
        {...rest}
        table={table}
        onSelect={(row) => onSelect(textAt(table.rows, "name", row))}
      />
    </>
  );
}

function PerStep({ answer: { meta }, look }: { answer: Compared; look: Look }) {
  if (!look.perStep) return null;
  return <p className="muted">{text.perStep(count(meta.steps), count(meta.exp_steps))}</p>;
}
