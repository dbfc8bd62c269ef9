import { AnswerTable } from "../../answers/AnswerTable";
import { type MemoryOperatorsTable, tables, useTable } from "../../api";
import { bytes, count } from "../../format";
import { memoryTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { rowCount } from "../../table";
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
          <AnswerTable
            id="memory-operators"
            label={text.operators}
            answer={answer}
            handle={shown}
            shape={operatorsTable}
            filter={params.filter}
            sort={params.sort}
            order="-self_size_increase"
            kind="op"
          />
        </>
      )}
    </QueryPanel>
  );
}

function Totals({ answer, look }: { answer: MemoryOperatorsTable } & Pick<TableProps, "look">) {
  const { all, unattributed } = answer.meta;
  return (
    <p className="totals num">
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
