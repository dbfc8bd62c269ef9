import { operatorsTexts } from "../../i18n";
import { type Rows, textAt } from "../../table";
import { Frames } from "./FrameList";
import { Launched } from "./Launched";
import { NoStack, Stacks } from "./Stacks";

interface Props {
  readonly rows: Rows;
  readonly row: number;
  readonly hasDevice: boolean;
}

/** What a row of the table opens to. */
export function Details({ rows, row, hasDevice }: Props) {
  const name = textAt(rows, "name", row);
  const shape = rows.input_shape ? textAt(rows, "input_shape", row) : null;
  return (
    <div className="operator-details">
      {rows.call_stack ? (
        <section className="stacks">
          <h3>{operatorsTexts.stacks}</h3>
          <Frames stack={textAt(rows, "call_stack", row)} />
        </section>
      ) : rows.has_call_stack?.[row] === false ? (
        <section className="stacks">
          <h3>{operatorsTexts.stacks}</h3>
          <NoStack />
        </section>
      ) : (
        <Stacks name={name} shape={shape} />
      )}
      {hasDevice && <Launched name={name} shape={shape} />}
    </div>
  );
}
