import { useMemo } from "react";
import { type MemoryOperatorsTable, type TableHandle, tables, useTable } from "../../api";
import { bytes, count } from "../../format";
import { memoryTexts as text } from "../../i18n";
import { usePicked, useTableParams, useTrace } from "../../state";
import { DataTable, rowCount, textAt, useRemoteTable } from "../../table";
import { Help, QueryPanel } from "../../ui";
import { operatorsTable } from "./columns";
import { params } from "./params";
import { RangeLine, type TableProps } from "./RangeLine";

export function OperatorsPanel({ look, device, tabs }: TableProps) {
  const { sel } = useTrace();
  const shown = tables.memoryOperators(sel, device, look.range);
  const query = useTable(shown);
  return (
    <QueryPanel
      title={text.operators}
      help={text.operatorsHelp}
      query={query}
      actions={tabs}
      empty={(data) => (rowCount(data) === 0 ? { reason: text.noOperators } : null)}
    >
      {(answer) => (
        <>
          <Totals answer={answer} look={look} />
          <Rows answer={answer} shown={shown} />
        </>
      )}
    </QueryPanel>
  );
}

interface RowsProps {
  readonly answer: MemoryOperatorsTable;
  readonly shown: TableHandle<"memory/operators">;
}

function Rows({ answer, shown }: RowsProps) {
  const state = useTableParams(params.filter, params.sort, "-self_size_increase");
  const [selected, select] = usePicked();
  const table = useMemo(() => operatorsTable(answer), [answer]);
  const remote = useRemoteTable(answer, shown, operatorsTable);
  return (
    <DataTable
      id="memory-operators"
      label={text.operators}
      table={table}
      remote={remote}
      {...state}
      selected={selected?.kind === "op" ? selected.name : null}
      onSelect={(row, rows) => select({ kind: "op", name: textAt(rows, "name", row) })}
    />
  );
}

function Totals({ answer, look }: { answer: MemoryOperatorsTable } & Pick<TableProps, "look">) {
  const { all, unattributed } = answer.meta;
  return (
    <p className="memory-line-of-text num">
      <RangeLine look={look} />
      {all && (
        <span>
          {text.total(
            bytes(all.allocation_size),
            count(all.allocation_count),
            bytes(all.size_increase),
          )}
        </span>
      )}
      {unattributed && (
        <span>
          {text.outsideTotal(
            bytes(unattributed.allocation_size),
            bytes(unattributed.size_increase),
          )}{" "}
          <Help title={text.outsideHelpTitle}>{text.outsideHelp}</Help>
        </span>
      )}
    </p>
  );
}
