/** How slices are drawn. */
import type { ColorBy } from "./colorBy";
import type { Names } from "./names";

export interface Look {
  readonly colorBy: ColorBy;
  /** Shorter slices are drawn faintly, ns. */
  readonly least: number;
  /** Names that a search finds, by their numbers among those of a rank; all others are drawn faintly. Null without a search. */
  readonly found: ((names: Names, name: number) => boolean) | null;
  /** What could have come later by more than so many ns without any step ending later is drawn faintly; null: nothing. */
  readonly slack: number | null;
}
