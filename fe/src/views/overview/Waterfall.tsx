/** Where the average step went: each part begins where the one before it ended, so that they add up to the step. */
import type { Overview } from "../../api";
import { partColor } from "../../draw/parts";
import { exact, fraction, inOneUnit } from "../../format";
import { overviewTexts } from "../../i18n";
import { useAddress } from "../../state";
import { Bar, ListTable } from "../../table";
import { Empty, Panel, Swatch } from "../../ui";
import { PartButton } from "../../ui/PartButton";
import { Pieces } from "./Pieces";
import { params } from "./params";
import { waterfallRows } from "./waterfallRows";

const text = overviewTexts.waterfall;

export function Waterfall({ overview: { waterfall, meta } }: { overview: Overview }) {
  const [picked, pick] = useAddress(params.cause);
  const { rows, total } = waterfallRows(waterfall);
  const time = inOneUnit(
    "ns",
    rows.map(({ ns }) => ns),
    total,
  );
  const opened = picked !== "" && <Pieces cause={picked} onClose={() => pick("")} />;
  const onDevice = meta.device_type === "GPU";
  return (
    <Panel
      className="area-waterfall"
      title={text.title}
      help={onDevice ? text.help : text.helpHost}
    >
      {rows.length === 0 ? (
        <Empty reason={text.none} remedy={text.remedy} />
      ) : (
        <ListTable
          label={text.title}
          wide
          className="waterfall"
          rows={rows}
          isPicked={({ cause }) => cause === picked}
          below={({ cause }) => cause === picked && opened}
          columns={[
            {
              label: text.cause,
              cell: ({ cause, others }) => (
                <>
                  <Swatch color={partColor(cause)} />
                  {others ? (
                    text.others(others)
                  ) : (
                    <PartButton part={cause} picked={picked} pick={pick} />
                  )}
                </>
              ),
              foot: text.total,
            },
            {
              kind: "bar",
              cell: ({ cause, ns, start }) => (
                <Bar from={start / total} to={(start + ns) / total} color={partColor(cause)} />
              ),
            },
            {
              label: text.time,
              cell: ({ ns }) => time(ns),
              title: ({ ns }) => exact(ns, "ns"),
              foot: <span title={exact(total, "ns")}>{time(total)}</span>,
            },
            { label: text.share, cell: ({ ns }) => fraction(ns / total), foot: fraction(1) },
          ]}
        />
      )}
      {/* a sum of several parts, as a tile opens it */}
      {rows.every(({ cause }) => cause !== picked) && opened}
    </Panel>
  );
}
