/** The picture: points under roofs. */
import { useCallback, useMemo } from "react";
import type { RooflineTable } from "../../api";
import { Roofline } from "../../charts/Roofline";
import { count, duration, flop, fraction, rate } from "../../format";
import { roofline as text } from "../../i18n/en/roofline";
import { usePicked } from "../../state";
import { inWords, numberAt, rowCount, textAt } from "../../table";
import { Wide } from "../../ui";
import { rowName } from "./columns";
import { legendOf, MOST_POINTS, pointsOf } from "./points";

export function RooflineChart({ answer }: { answer: RooflineTable }) {
  const points = useMemo(() => pointsOf(answer), [answer]);
  const [, pick] = usePicked();
  const { rows, meta } = answer;
  const lines = useCallback((row: number) => linesOf(answer, row), [answer]);
  const nameOf = useCallback(
    (row: number) => rowName(textAt(rows, "name", row), meta.group_by),
    [rows, meta],
  );
  const tip = useCallback(
    (index: number) => {
      const row = points.rows[index] ?? 0;
      return {
        title: nameOf(row),
        subtitle: "input_shape" in rows ? textAt(rows, "input_shape", row) : undefined,
        lines: lines(row),
      };
    },
    [points, rows, lines, nameOf],
  );
  const device = meta.devices[0];
  const all = rowCount(answer);
  if (points.rows.length === 0)
    return <p className="muted">{device?.source ? text.noChart : text.noRoofs}</p>;
  const kind = PICKED[meta.group_by];
  const head = [text.table, ...linesOf(answer, points.rows[0] ?? 0).map(({ label }) => label)];
  return (
    <>
      {device && device.source === null && <p className="muted">{text.noRoofs}</p>}
      {device?.source === "architecture" && (
        <p className="muted">{text.estimated(fraction(device.spread))}</p>
      )}
      <Wide>
        <div className="roofline-picture">
          <Roofline
            title={text.chart}
            summary={text.summary(count(points.rows.length), duration(meta.lost_ns))}
            data={points.data}
            legend={legendOf(points)}
            tip={tip}
            onPick={
              kind &&
              ((index) => pick({ kind, name: textAt(rows, "name", points.rows[index] ?? 0) }))
            }
            head={head}
            cells={(index) => {
              const row = points.rows[index] ?? 0;
              return [nameOf(row), ...lines(row).map(({ value }) => value)];
            }}
          />
        </div>
      </Wide>
      {points.rows.length < all && (
        <p className="muted">
          {(points.rows.length === MOST_POINTS ? text.first : text.placed)(
            count(points.rows.length),
            count(all),
          )}
        </p>
      )}
    </>
  );
}

/** What a row is for the drawer. */
export const PICKED: Readonly<Record<string, "op" | undefined>> = {
  operator: "op",
  operator_shape: "op",
};

const SHOWN = ["time_ns", "flop_rate", "byte_rate", "intensity", "roof_share", "lost_ns"] as const;

function linesOf(answer: RooflineTable, row: number) {
  const { rows } = answer;
  return SHOWN.flatMap((key) => {
    const column = answer.columns.find((each) => each.key === key);
    if (!column) return [];
    const amount = numberAt(rows, key, row);
    return [{ label: inWords(column).label, value: written(key, amount) }];
  });
}

function written(key: (typeof SHOWN)[number], amount: number | null): string {
  switch (key) {
    case "flop_rate":
      return flop(amount, "/s");
    case "byte_rate":
      return rate(amount);
    case "intensity":
      return count(amount);
    case "roof_share":
      return fraction(amount);
    default:
      return duration(amount);
  }
}
