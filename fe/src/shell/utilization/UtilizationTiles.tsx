/** MFU and HFU as tiles, with how much of the products is known. */
import type { Flops, Utilization } from "../../api";
import { fraction } from "../../format";
import { utilization as text } from "../../i18n/en/utilization";
import { Tile } from "../../ui";

interface Props {
  readonly flops: Flops;
  /** Leads to what they are made of. */
  readonly onOpen: () => void;
  readonly of: readonly ("mfu" | "hfu")[];
}

/** Nothing where too little is known. */
export function UtilizationTiles({ flops, onOpen, of }: Props) {
  if (flops.mfu.value === null) return null;
  const help = { mfu: text.mfuHelp, hfu: text.hfuHelp };
  return of.map((which) => (
    <Tile
      key={which}
      label={text[which]}
      help={help[which]}
      value={shownUtilization(flops[which])}
      remark={text.coverage(fraction(flops.coverage?.matrix ?? null))}
      onOpen={onOpen}
    />
  ));
}

export function shownUtilization({ shown, value, low, high }: Utilization): string {
  if (value === null) return text.notKnown;
  if (shown === "range") return text.range(fraction(low), fraction(high));
  return shown === "at_least" ? text.atLeast(fraction(value)) : fraction(value);
}
