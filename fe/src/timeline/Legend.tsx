/** What colours mean: as they are drawn on the lanes, so that text on them can be read. */
import { useRef } from "react";
import { partName, partNumber } from "../draw/parts";
import { frameLabel } from "../format";
import { useComputed } from "../host";
import { PARTS_FROM, readColors } from "./colors";
import { lineColor } from "./snapshotTracks";

/** `parts`: ids; those with the same name are listed once. */
export function Legend({ parts }: { parts: readonly string[] }) {
  const named = new Map(parts.map((part) => [partName(part), part]));
  return (
    <ColorList
      entries={[...named].map(([name, part]) => ({ name, color: PARTS_FROM + partNumber(part) }))}
    />
  );
}

/** `lines`: of the program, in the order of a memory snapshot. */
export function LineLegend({ lines }: { lines: readonly string[] }) {
  return (
    <ColorList
      entries={lines.map((line, at) => ({
        name: frameLabel(line),
        title: line,
        color: lineColor(at),
      }))}
    />
  );
}

interface Entry {
  readonly name: string;
  readonly title?: string;
  /** A place among the colours of a picture. */
  readonly color: number;
}

function ColorList({ entries }: { entries: readonly Entry[] }) {
  const list = useRef<HTMLUListElement>(null);
  const colors = useComputed(list, readColors);
  return (
    <ul ref={list} className="timeline-legend">
      {entries.map(({ name, title, color }) => (
        <li key={color} title={title}>
          <i style={{ background: colors?.solid[color] }} />
          {name}
        </li>
      ))}
    </ul>
  );
}
