export { COLOR_BY, type ColorBy } from "./colors";
export type { Flow } from "./flows";
export { type Look, type Mark, type Picked, placeOf } from "./frame";
export type { Tool } from "./gestures";
export type { KeyAction } from "./keys";
export type { TrackAction } from "./Labels";
export {
  type Arrangement,
  layOut,
  type Rows,
  reordered,
  type Track,
  type TrackRow,
} from "./layout";
export type { Density } from "./Strip";
export { Source } from "./source";
export type { Hit, Stage } from "./stage";
export { Timeline } from "./Timeline";
