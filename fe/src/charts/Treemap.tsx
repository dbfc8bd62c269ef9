import { useCallback } from "react";
import { type Unit, value } from "../format";
import { chartsTexts } from "../i18n";
import { Chart } from "./Chart";
import type { SceneTheme } from "./scene";
import { sizeOf, treemapPicture } from "./scenes/treemap";
import { share, sum, summary } from "./summary";
import type { TreemapGroup } from "./types";

const HEIGHT = 328;
/** Below the boxes. */
const MARGIN = 8;

interface Props {
  readonly title: string;
  readonly unit: Unit;
  /** The largest first, and so their items. Must keep its identity. */
  readonly groups: readonly TreemapGroup[];
  /** Headings of the table: of groups, of items. */
  readonly head: readonly string[];
  /** Places of a group and of an item in it. */
  readonly onPick?: (group: number, item: number) => void;
}

/** What is in what, and how large it is. */
export function Treemap({ title, unit, groups, head, onPick }: Props) {
  const build = useCallback(
    (theme: SceneTheme, width: number) => treemapPicture(groups, theme, width, HEIGHT - MARGIN),
    [groups],
  );
  const parts = groups.map((group) => ({ label: group.label, value: sizeOf(group) }));
  const all = sum(parts.map((part) => part.value));
  const places = groups.flatMap(({ items }, group) => items.map((_, item) => ({ group, item })));
  const at = ({ group, item }: { group: number; item: number }) => ({
    part: parts[group] ?? { label: "", value: 0 },
    own: groups[group]?.items[item] ?? { label: "", value: 0 },
  });
  const content = (index: number) => {
    const { part, own } = at(places[index] ?? { group: -1, item: -1 });
    const line = ({ label, value: size }: typeof part) => ({
      label,
      value: value(size, unit),
      share: share(size, all),
    });
    return {
      title: own.title ?? own.label,
      lines: [{ ...line(own), label: chartsTexts.total }, line(part)],
    };
  };
  const pick =
    onPick && (({ group, item }: { group: number; item: number }) => onPick(group, item));
  return (
    <Chart
      title={title}
      summary={summary(title, parts, unit, all)}
      height={HEIGHT}
      build={build}
      tips={{ count: places.length, content }}
      onPick={pick && ((index) => places[index] && pick(places[index]))}
      head={[...head, chartsTexts.total, chartsTexts.share]}
      texts={2}
      rows={places.map((place) => {
        const { part, own } = at(place);
        return {
          cells: [
            part.label,
            own.title ?? own.label,
            value(own.value, unit),
            share(own.value, all),
          ],
          onPick: pick && (() => pick(place)),
        };
      })}
    />
  );
}
