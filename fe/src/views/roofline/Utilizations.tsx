/** MFU, HFU and how much of them is known, as tiles. */
import type { Flops } from "../../api";
import { flop, fraction } from "../../format";
import { utilization as text } from "../../i18n/en/utilization";
import { shownUtilization, UtilizationTiles } from "../../shell/utilization";
import { goToView } from "../../state";
import { Tile } from "../../ui";

/** The operators that make the number, the largest first. */
const open = (sort: string) => goToView("roofline", null, { group: "operator", filter: "", sort });

export function Utilizations({ flops }: { flops: Flops }) {
  const { coverage, packed } = flops;
  const least = (amount: number) => (packed ? text.atLeast(flop(amount)) : flop(amount));
  return (
    <>
      <UtilizationTiles flops={flops} of={["mfu", "hfu"]} onOpen={() => open("-flops")} />
      {flops.mfu.value !== null && (
        <Tile
          label={text.busy}
          help={text.busyHelp}
          value={shownUtilization(flops.busy_mfu)}
          onOpen={() => open("-lost_ns")}
        />
      )}
      {(flops.executed > 0 || packed) && (
        <Tile
          label={text.perStep}
          help={text.perStepHelp}
          value={least(flops.per_step + (packed?.least ?? 0))}
          onOpen={() => open("-flops")}
          {...(flops.executed > 0 && {
            remark: text.executed(least(flops.executed + (packed?.least ?? 0))),
          })}
        />
      )}
      {coverage && (
        <>
          <Tile
            label={text.products}
            help={text.productsHelp}
            value={coverage.matrix === null ? text.notKnown : fraction(coverage.matrix)}
            onOpen={() => open("-flops")}
          />
          <Tile
            label={text.bytes}
            help={text.bytesHelp}
            value={fraction(coverage.bytes)}
            onOpen={() => open("-bytes")}
            {...(coverage.bytes_estimated > 0 && {
              remark: text.estimated(fraction(coverage.bytes_estimated)),
            })}
          />
        </>
      )}
    </>
  );
}
