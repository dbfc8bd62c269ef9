export { COLOR_BY, type ColorBy } from "./colors";
export type { Flow } from "./flows";
export { placeOf } from "./frame";
export type { Tool } from "./gestures";
export type { KeyAction } from "./keys";
export type { TrackAction } from "./Labels";
export {
  type Arrangement,
  layOut,
  reordered,
  type Track,
  type TrackRow,
  type TrackRows,
} from "./layout";
export { RankTiles } from "./rankTiles";
export type { Density } from "./Strip";
export type { Look, Mark, PickedSlice } from "./scene";
export type { Hit, Stage } from "./stage";
export { Timeline } from "./Timeline";
