export { type FlameKind, KINDS } from "./colors";
export { useLayout } from "./Flame";
export { Legend } from "./Legend";
export type { Layout } from "./layout";
export type { FlameEntries } from "./types";
export { type Found, found } from "./walk";
export { ZoomedFlame } from "./ZoomedFlame";
