import { useCallback } from "react";
import { type Unit, value } from "../format";
import { Chart } from "./Chart";
import type { SceneTheme } from "./scene";
import { tornadoHeight, tornadoPicture } from "./scenes/tornado";
import { share, summary } from "./summary";
import type { TornadoItem } from "./types";

interface Props {
  readonly title: string;
  readonly unit: Unit;
  /** The largest first. Must keep its identity. */
  readonly items: readonly TornadoItem[];
  /** What shares are of. */
  readonly total: number;
  /** Headings of the table: of the names, of what is given in part, of the interval. */
  readonly head: readonly [name: string, most: string, part: string, interval: string];
  readonly onPick?: (item: number) => void;
}

/** What each change would give alone, ranked. */
export function Tornado({ title, unit, items, total, head, onPick }: Props) {
  const build = useCallback(
    (theme: SceneTheme, width: number) => tornadoPicture(items, unit, theme, width),
    [items, unit],
  );
  const interval = ({ low, high }: TornadoItem) =>
    low === null || high === null
      ? value(null, unit)
      : `${value(low, unit)} – ${value(high, unit)}`;
  const content = (at: number) => {
    const item = items[at];
    if (!item) return { title: "", lines: [] };
    return {
      title: item.label,
      lines: [
        { label: head[1], value: value(item.most, unit), share: share(item.most, total) },
        { label: head[3], value: interval(item) },
        { label: head[2], value: value(item.part, unit) },
      ],
    };
  };
  const parts = items.map(({ label, most }) => ({ label, value: most }));
  return (
    <Chart
      title={title}
      summary={summary(title, parts, unit, total)}
      height={tornadoHeight(items.length)}
      build={build}
      tips={{ count: items.length, content }}
      onPick={onPick}
      head={head}
      rows={items.map((item, at) => ({
        cells: [item.label, value(item.most, unit), value(item.part, unit), interval(item)],
        onPick: onPick && (() => onPick(at)),
      }))}
    />
  );
}
