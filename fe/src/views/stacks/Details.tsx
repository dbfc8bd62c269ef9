import type { StackRows, StacksTable } from "../../api";
import { count, duration, exact, fraction, parseFrameName } from "../../format";
import { dialogsTexts, flameTexts, stacksTexts as text } from "../../i18n";
import { type Picked, usePicked } from "../../state";
import { Button, CopyButton, Facts, SourceLink } from "../../ui";
import { hasSelf, modulePath } from "./rows";

interface Props {
  readonly answer: StacksTable;
  readonly rows: StackRows;
  /** -1: none. */
  readonly row: number;
  /** Where a click does not zoom in. */
  readonly onZoom?: (row: number) => void;
}

/** The chosen box in words. */
export function Details({ answer, rows, row, onZoom }: Props) {
  const [, select] = usePicked();
  if (row < 0)
    return (
      <p className="stacks-details muted">{onZoom ? text.detailsNoneTable : text.detailsNone}</p>
    );
  const name = rows.name[row] ?? "";
  const kind = rows.kind[row] ?? "other";
  const place = kind === "frame" ? parseFrameName(name) : null;
  const selection = selectionOf(rows, row);
  const whole = answer.meta.all_ns;
  const timeOf = (name: string, ns = 0) => ({
    name,
    value: `${duration(ns)}${whole > 0 ? ` (${fraction(ns / whole)})` : ""}`,
    title: exact(ns, "ns"),
  });
  return (
    <section className="stacks-details" aria-label={text.details}>
      <h3>
        <span className="badge">{flameTexts.kinds[kind]}</span> {name}
      </h3>
      <Facts
        look="line"
        facts={[
          timeOf(text.tooltip.total, rows.total_ns[row]),
          ...(hasSelf(answer) ? [timeOf(text.tooltip.self, rows.self_ns[row])] : []),
          { name: text.tooltip.calls, value: count(rows.calls[row]) },
        ]}
      />
      <div className="stacks-actions">
        {onZoom && kind !== "smaller" && <Button onClick={() => onZoom(row)}>{text.zoom}</Button>}
        {place && <SourceLink file={place.file} line={place.line} />}
        <CopyButton text={name} label={dialogsTexts.inspector.copyName} />
        {selection && (
          <Button onClick={() => select(selection)}>{text.inspect[selection.kind]}</Button>
        )}
      </div>
    </section>
  );
}

/** What other views know it as. Copies and fills are no kernels. */
function selectionOf(rows: StackRows, row: number): Picked | null {
  const name = rows.name[row] ?? "";
  switch (rows.kind[row]) {
    case "operator":
      return { kind: "op", name };
    case "device":
      return /^mem(cpy|set)\b/i.test(name) ? null : { kind: "kernel", name };
    case "module":
      return { kind: "mod", name: modulePath(rows, row) };
    default:
      return null;
  }
}
