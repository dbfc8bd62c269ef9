import { useCallback } from "react";
import { change, percentChange, value } from "../format";
import { Chart } from "./Chart";
import { useHidden } from "./Legend";
import type { SceneTheme } from "./scene";
import {
  PAIRED_COLORS,
  PAIRED_HEIGHT,
  type PairedPart,
  pairedPicture,
  runningSums,
} from "./scenes/pairedBars";
import type { PairedBarsProps } from "./types";

/** Two sides of each item, their running sums, and below it what differs, one by one and accumulated. */
export function PairedBars(props: PairedBarsProps) {
  const { title, summary, items, start, names, unit, itemLabel, onPick } = props;
  const [hidden, toggle] = useHidden();
  const build = useCallback(
    (theme: SceneTheme, width: number) =>
      pairedPicture({ items, start, unit, hidden }, theme, width),
    [items, start, unit, hidden],
  );
  const sums = runningSums(items, start);
  const { before: first, after: second, worse, better, accumulated: sumColor } = PAIRED_COLORS;
  const tipOf = (index: number) => {
    const { label = "", details, before = 0, after = 0 } = items[index] ?? {};
    const sum = sums[index] ?? { before: 0, after: 0 };
    const percent = percentChange(before, after);
    return {
      title: label,
      subtitle: details,
      lines: [
        { label: names.before, value: value(before, unit), color: first },
        { label: names.after, value: value(after, unit), color: second },
        {
          label: names.difference,
          value: change(after - before, unit),
          share: percent === null ? "" : change(percent, "percent"),
          color: after > before ? worse : better,
        },
        { label: names.accumulated, value: change(sum.after - sum.before, unit), color: sumColor },
      ],
    };
  };
  const entry = (key: PairedPart, color: string, line?: "solid" | "dashed") => ({
    key,
    label: names[key],
    color,
    line,
    shown: !hidden.has(key),
  });
  return (
    <Chart
      title={title}
      summary={summary}
      height={PAIRED_HEIGHT}
      build={build}
      tips={{ count: items.length, content: tipOf }}
      onPick={onPick}
      legend={[
        entry("before", first),
        entry("after", second),
        entry("beforeSum", first, "dashed"),
        entry("afterSum", second, "dashed"),
        entry("difference", worse),
        entry("accumulated", sumColor, "solid"),
      ]}
      onToggle={toggle}
      legendAt="above"
      head={[
        itemLabel,
        names.before,
        names.after,
        names.difference,
        names.differencePercent,
        names.accumulated,
      ]}
      rows={items.map(({ label, before, after }, index) => ({
        cells: [
          label,
          value(before, unit),
          value(after, unit),
          change(after - before, unit),
          change(percentChange(before, after), "percent"),
          change((sums[index]?.after ?? 0) - (sums[index]?.before ?? 0), unit),
        ],
        onPick: onPick ? () => onPick(index) : undefined,
      }))}
    />
  );
}
