import { Crumbs } from "../../ui";
import { Flame } from "./Flame";
import { chainOf } from "./layout";
import type { FlameProps } from "./types";

/** A flame graph and the way out of its zoom. */
export function ZoomedFlame(props: FlameProps) {
  const { entries, layout, focus, onFocus } = props;
  const chain = chainOf(layout, focus).map((key) => ({ key, label: entries.label(key) }));
  return (
    <>
      <Crumbs root={-1} chain={chain} onFocus={onFocus} />
      <Flame {...props} />
    </>
  );
}
