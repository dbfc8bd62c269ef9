/** A row for each rank. */
import { useMemo } from "react";
import type { RanksOverview } from "../../api";
import { ranksTexts } from "../../i18n";
import { useTableParams, useTrace } from "../../state";
import { DataTable } from "../../table";
import { Panel } from "../../ui";
import { RANKS } from "./go";
import { params } from "./params";
import { ranksTable } from "./runTables";

const text = ranksTexts.table;

interface Props {
  readonly answer: RanksOverview;
  readonly onPick: (worker: string) => void;
}

export function RanksTable({ answer, onPick }: Props) {
  const { sel } = useTrace();
  const state = useTableParams(params.ranksFilter, params.ranksSort);
  const table = useMemo(() => ranksTable(answer), [answer]);
  return (
    <div id={RANKS.id}>
      <Panel title={text.title} help={text.help}>
        <DataTable
          id="run-ranks"
          label={text.title}
          table={table}
          {...state}
          nameKey="worker"
          selected={sel?.worker ?? null}
          onSelect={(row) => {
            const worker = answer.ranks.worker[row];
            if (worker !== undefined) onPick(worker);
          }}
        />
      </Panel>
    </div>
  );
}
