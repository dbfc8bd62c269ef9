/** A row for each rank. */
import { AnswerTable } from "../../answers/AnswerTable";
import type { RanksOverview } from "../../api";
import { ranksTexts } from "../../i18n";
import { selectTrace, useTrace } from "../../state";
import { Panel } from "../../ui";
import { RANKS } from "./go";
import { params } from "./params";
import { ranksTable } from "./runTables";

const text = ranksTexts.table;

export function RanksTable({ answer }: { readonly answer: RanksOverview }) {
  const { sel } = useTrace();
  return (
    <div id={RANKS.id}>
      <Panel title={text.title} help={text.help}>
        <AnswerTable
          id="run-ranks"
          label={text.title}
          answer={answer}
          shape={ranksTable}
          filter={params.ranksFilter}
          sort={params.ranksSort}
          nameKey="worker"
          selected={sel?.worker ?? null}
          onSelect={(row) => {
            const worker = answer.ranks.worker[row];
            if (worker !== undefined) selectTrace({ worker });
          }}
        />
      </Panel>
    </div>
  );
}
