/** Which colour is what, on the page and in a saved picture; entries may hide what they stand for. */
import { useCallback, useState } from "react";
import { wantsPatterns } from "../draw";
import { onOneLine } from "../format";
import { stackedColumnsTexts } from "../i18n";
import { HATCH_SIZE, HATCHES } from "./hatch";
import { filled, type SceneTheme, type Shape } from "./scene";

export interface LegendEntry {
  readonly key: string;
  readonly label: string;
  readonly color: string;
  /** Not hidden. */
  readonly shown: boolean;
  /** What is drawn as a line, not as an area. */
  readonly line?: "solid" | "dashed" | undefined;
  /** What is drawn as a ring. */
  readonly ring?: boolean | undefined;
  /** Before the label. */
  readonly share?: string;
  /** The whole of a label that is cut. */
  readonly title?: string;
}

interface Props {
  readonly label: string;
  readonly entries: readonly LegendEntry[];
  /** Without it nothing can be hidden. */
  readonly onToggle?: ((key: string) => void) | undefined;
}

export function Legend({ label, entries, onToggle }: Props) {
  const patterns = wantsPatterns();
  return (
    <fieldset className="chart-legend">
      <legend className="visually-hidden">{label}</legend>
      {entries.map((entry, index) => {
        const content = (
          <>
            <Swatch look={entry} hatch={patterns ? index : null} />
            {entry.share !== undefined && <span className="chart-legend-share">{entry.share}</span>}
            <span className="chart-legend-label">{onOneLine(entry.label)}</span>
          </>
        );
        return onToggle ? (
          <button
            key={entry.key}
            type="button"
            className="chart-legend-entry"
            aria-pressed={entry.shown}
            title={entry.title}
            onClick={() => onToggle(entry.key)}
          >
            {content}
          </button>
        ) : (
          <span key={entry.key} className="chart-legend-entry" title={entry.title}>
            {content}
          </span>
        );
      })}
    </fieldset>
  );
}

interface SwatchProps {
  readonly look: Pick<LegendEntry, "color" | "line" | "ring">;
  readonly hatch: number | null;
}

function Swatch({ look: { color, line, ring }, hatch }: SwatchProps) {
  if (line) {
    const style = { borderTopColor: color, borderTopStyle: line };
    return <span className="chart-swatch-line" style={style} aria-hidden="true" />;
  }
  if (ring) {
    return (
      <svg className="chart-swatch" viewBox="0 0 12 12" aria-hidden="true">
        <circle cx="6" cy="6" r="5" style={{ fill: "none", stroke: color, strokeWidth: 2 }} />
      </svg>
    );
  }
  return (
    <svg className="chart-swatch" viewBox="0 0 8 8" aria-hidden="true">
      <rect width={HATCH_SIZE} height={HATCH_SIZE} style={{ fill: color }} />
      {hatch !== null && (
        <path d={HATCHES[hatch % HATCHES.length]} className="chart-swatch-hatch" />
      )}
    </svg>
  );
}

/** What is hidden, and how to change it. */
export function useHidden(): readonly [ReadonlySet<string>, (key: string) => void] {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(
    (key: string) =>
      setHidden((before) => {
        const after = new Set(before);
        if (!after.delete(key)) after.add(key);
        return after;
      }),
    [],
  );
  return [hidden, toggle];
}

export const LEGEND_LABEL = stackedColumnsTexts.legend;

const LINE = 20;
const SWATCH = 12;
const GAP = 6;
const BETWEEN = 18;
const EDGE = 8;

/** The legend below a saved picture: what is shown, in as many lines as it needs. */
export function legendScene(
  entries: readonly LegendEntry[],
  width: number,
  top: number,
  theme: SceneTheme,
): { readonly shapes: readonly Shape[]; readonly height: number } {
  const shapes: Shape[] = [];
  let [x, y] = [EDGE, top + EDGE];
  entries.forEach(({ label, color, shown, line, ring, share }, index) => {
    if (!shown) return;
    const text = share === undefined ? label : `${share}  ${label}`;
    const wide = SWATCH + GAP + theme.measure(text);
    if (x > EDGE && x + wide > width - EDGE) [x, y] = [EDGE, y + LINE];
    const middle = y + LINE / 2;
    shapes.push(
      ring
        ? {
            kind: "path",
            d: `M${x + 1} ${middle}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z`,
            stroke: theme.resolve(color),
            width: 2,
          }
        : line
          ? {
              kind: "path",
              d: `M${x} ${middle}h${SWATCH}`,
              stroke: theme.resolve(color),
              width: 2,
              dashed: line === "dashed",
            }
          : {
              kind: "rect",
              x,
              y: middle - SWATCH / 2,
              width: SWATCH,
              height: SWATCH,
              ...filled(theme, color, index),
            },
      {
        kind: "text",
        x: x + SWATCH + GAP,
        y: middle + 4,
        text,
        align: "left",
        fill: theme.text,
      },
    );
    x += wide + BETWEEN;
  });
  return { shapes, height: shapes.length > 0 ? y + LINE + EDGE - top : 0 };
}
