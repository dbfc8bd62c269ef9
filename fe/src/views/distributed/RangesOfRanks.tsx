/** The ranges that the program names, over the ranks; one of them on each rank. */
import { AnswerTable } from "../../answers/AnswerTable";
import { type Columns, useRanksQuery } from "../../api";
import { ranksTexts } from "../../i18n";
import { selectTrace, useAddress, useTrace } from "../../state";
import { described, rowCount, type Table, textAt } from "../../table";
import { Async, Panel } from "../../ui";
import { params } from "./params";

const text = ranksTexts.ranges;
interface Props {
  /** A step; null: the median of the steps. */
  readonly step: string | null;
}

const ofStep = (step: string | null) => (step === null ? {} : { step });

/** Renders nothing where no rank names a range. */
export function RangesOfRanks({ step }: Props) {
  const { sel } = useTrace();
  const { data } = useRanksQuery("ranks/ranges", sel, ofStep(step));
  const [range, setRange] = useAddress(params.named);
  if (!data || rowCount(data.names) === 0) return null;
  return (
    <Panel title={text.title} help={text.help}>
      <AnswerTable
        id="run-ranges"
        label={text.title}
        answer={data.names}
        shape={shown}
        filter={params.rangesFilter}
        sort={params.rangesSort}
        selected={range}
        onSelect={(row, rows) => {
          const name = textAt(rows, "name", row);
          setRange(name === range ? null : name);
        }}
      />
      {data.left_out > 0 && <p className="muted">{text.leftOut(String(data.left_out))}</p>}
      {range !== null && <OnEachRank range={range} step={step} />}
    </Panel>
  );
}

function OnEachRank({ range, step }: Props & { readonly range: string }) {
  const { sel } = useTrace();
  const query = useRanksQuery("ranks/range", sel, { name: range, ...ofStep(step) });
  const title = step === null ? text.onEach(range) : text.onEachInStep(range, step);
  return (
    <div className="run-range">
      <h3>{title}</h3>
      <Async query={query}>
        {({ ranks }) => (
          <AnswerTable
            key={range}
            id="run-range"
            label={title}
            answer={ranks}
            shape={shown}
            nameKey="worker"
            filter={params.rangeRanksFilter}
            sort={params.rangeRanksSort}
            selected={sel?.worker ?? null}
            onSelect={(row, rows) => selectTrace({ worker: textAt(rows, "worker", row) })}
          />
        )}
      </Async>
    </div>
  );
}

/** Which time is far is said in words; the times of devices are left out where none was recorded. */
export function shown({ columns, rows }: Columns): Table {
  const known = (key: string) => (rows[key] ?? []).some((value) => value !== null);
  const kept = columns.filter(({ key }) => key !== "device_ns" || known(key));
  return { columns: described(kept, { far_time: { words: text.times } }), rows };
}
