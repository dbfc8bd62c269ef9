/** What was in use at the peak, by the module that allocated it and by what it is for. */
import { useMemo } from "react";
import { useTraceQuery } from "../../api";
import { bytes } from "../../format";
import { memoryTexts as text } from "../../i18n";
import { useTableParams, useTrace } from "../../state";
import { DataTable, declared, derive, type Table } from "../../table";
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
          <p className="memory-line-of-text num">
            {text.modules.sum(bytes(answer.meta.peak), bytes(answer.meta.unknown_bytes))}
          </p>
          <Rows answer={answer} />
        </>
      )}
    </QueryPanel>
  );
}

function Rows({ answer }: { readonly answer: Table }) {
  const state = useTableParams(params.filter, params.sort, "-bytes");
  const table = useMemo(() => {
    const columns = answer.columns.map((column) =>
      column.key === "module"
        ? { ...column, brief: (name: string) => (name === "–" ? text.modules.outside : name) }
        : column,
    );
    const named = { ...answer, columns };
    return derive(named, declared(named));
  }, [answer]);
  return (
    <DataTable
      id="memory-modules"
      label={text.modules.title}
      table={table}
      nameKey="module"
      {...state}
    />
  );
}
