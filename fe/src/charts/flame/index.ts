export { Crumbs } from "./Crumbs";
export { type FlameKind, KINDS } from "./colors";
export { Flame, type FlameEntries, useLayout } from "./Flame";
export { Legend } from "./Legend";
export { chainOf, type FlameData, type Layout, layoutOf } from "./layout";
export { type Found, found } from "./walk";
