import type { TooltipContent } from "../../draw";
import type { FlameKind } from "./colors";
import type { FlameData, Layout } from "./layout";

export interface FlameEntries extends FlameData {
  readonly label: (entry: number) => string;
  /** In its box, where siblings would all begin alike. */
  readonly brief?: (entry: number) => string;
  /** What decides about its shade: equal names look the same. */
  readonly name: (entry: number) => string;
  readonly kind: (entry: number) => FlameKind;
  readonly tooltip: (entry: number) => TooltipContent;
  /** For screen readers: name and numbers in a sentence. */
  readonly spoken: (entry: number) => string;
}

export interface FlameProps {
  readonly title: string;
  /** Must keep its identity while it means the same. */
  readonly entries: FlameEntries;
  readonly layout: Layout;
  /** The entry that fills the width, -1 for everything. */
  readonly focus: number;
  readonly onFocus: (entry: number) => void;
  readonly selected: number;
  readonly onSelect: (entry: number) => void;
  /** 1 for each entry that a search finds; null without a search. */
  readonly hits: Uint8Array | null;
}
