/** What the colours of parts mean: as they are drawn on the lanes, so that text on them can be read. */
import { useEffect, useRef, useState } from "react";
import { partName, partNumber } from "../draw/parts";
import { useTheme } from "../host";
import { type Colors, PARTS_FROM, readColors } from "./colors";

/** `parts`: ids; those with the same name are listed once. */
export function Legend({ parts }: { parts: readonly string[] }) {
  const list = useRef<HTMLUListElement>(null);
  const theme = useTheme();
  const [colors, setColors] = useState<Colors | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useEffect(() => {
    if (list.current) setColors(readColors(list.current));
  }, [theme]);
  const named = new Map(parts.map((part) => [partName(part), part]));
  return (
    <ul ref={list} className="timeline-legend">
      {[...named].map(([name, part]) => (
        <li key={part}>
          <i style={{ background: colors?.solid[PARTS_FROM + partNumber(part)] }} />
          {name}
        </li>
      ))}
    </ul>
  );
}
