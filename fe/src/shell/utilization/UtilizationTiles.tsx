/** MFU and HFU as tiles, with how much of the products is known. */
import type { Flops, Utilization } from "../../api";
import { fraction } from "../../format";
import { utilization as text } from "../../i18n/en/utilization";
import { Tile } from "../../ui";

interface Props {
  readonly flops: Flops;
  /** Leads to what they are made of. */
  readonly onOpen: () => void;
}

/** Nothing where too little is known. */
export function UtilizationTiles({ flops: { mfu, hfu, coverage }, onOpen }: Props) {
  if (mfu.value === null) return null;
  const remark = text.coverage(fraction(coverage?.matrix ?? null));
  return (
    <>
      <Tile
        label={text.mfu}
        help={text.mfuHelp}
        value={shownUtilization(mfu)}
        remark={remark}
        onOpen={onOpen}
      />
      <Tile
        label={text.hfu}
        help={text.hfuHelp}
        value={shownUtilization(hfu)}
        remark={remark}
        onOpen={onOpen}
      />
    </>
  );
}

export function shownUtilization({ shown, value, low, high }: Utilization): string {
  if (value === null) return text.notKnown;
  if (shown === "range") return text.range(fraction(low), fraction(high));
  return shown === "at_least" ? text.atLeast(fraction(value)) : fraction(value);
}
