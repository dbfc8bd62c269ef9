/** A row for each rank. */
import { AnswerTable } from "../../answers/AnswerTable";
import type { RanksOverview } from "../../api";
import { ranksTexts } from "../../i18n";
import { useTrace } from "../../state";
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
            if (worker !== undefined) onPick(worker);
          }}
        />
      </Panel>
    </div>
  );
}
