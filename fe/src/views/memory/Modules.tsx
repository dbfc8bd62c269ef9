/** What was in use at the peak, by the module that allocated it and by what it is for. */
import { AnswerTable } from "../../answers/AnswerTable";
import { useTraceQuery } from "../../api";
import { bytes } from "../../format";
import { memoryTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { asDeclared, described, type Table } from "../../table";
import { QueryPanel } from "../../ui";
import { params } from "./params";
import type { TableProps } from "./RangeLine";

export function ModulesPanel({ device, tabs }: TableProps) {
  const { sel } = useTrace();
  const query = useTraceQuery("memory/modules", device === null ? null : sel, { device });
  return (
    <QueryPanel
      title={text.modules.title}
      help={text.modules.help}
      query={query}
      actions={tabs}
      empty={({ meta }) => (meta.source === null ? { reason: text.modules.none } : null)}
    >
      {(answer) => (
        <>
          <p className="totals num">
            {text.modules.sum(bytes(answer.meta.peak), bytes(answer.meta.unknown_bytes))}
          </p>
          <AnswerTable
            id="memory-modules"
            label={text.modules.title}
            answer={answer}
            shape={moduleTable}
            nameKey="module"
            filter={params.filter}
            sort={params.sort}
            order="-bytes"
          />
        </>
      )}
    </QueryPanel>
  );
}

const OUTSIDE = { brief: (name: string) => (name === "–" ? text.modules.outside : name) };

function moduleTable({ columns, rows }: Table): Table {
  return asDeclared({ columns: described(columns, { module: OUTSIDE }), rows });
}
