/** Where the average step went: each part begins where the one before it ended, so that they add up to the step. */
import { type Overview, settled, useOverview } from "../../api";
import { partColor } from "../../draw/parts";
import { exact, fraction, inOneUnit } from "../../format";
import { overviewTexts } from "../../i18n";
import { useAddress, useBaseline } from "../../state";
import { Bar, Ghost, ListTable } from "../../table";
import { Empty, Panel, Swatch } from "../../ui";
import { PartButton } from "../../ui/PartButton";
import { Pieces } from "./Pieces";
import { params } from "./params";
import { type WaterfallRow, waterfallRows } from "./waterfallRows";

const text = overviewTexts.waterfall;

export function Waterfall({ overview: { waterfall, meta } }: { overview: Overview }) {
  const [picked, pick] = useAddress(params.cause);
  const baseline = useBaseline();
  const compared = useOverview(baseline?.key ?? null);
  const base = (baseline?.key && settled(compared)?.waterfall) ?? null;
  const { rows, total } = waterfallRows(waterfall, base ?? []);
  // Both sides to one scale.
  const widest = Math.max(total, ...rows.map(({ baseStart, baseNs }) => baseStart + baseNs));
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
      {base && <p className="muted">{text.dashed}</p>}
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
              cell: ({ cause, ns, start, baseNs, baseStart }) => (
                <>
                  <Bar from={start / widest} to={(start + ns) / widest} color={partColor(cause)} />
                  {base && <Ghost from={baseStart / widest} to={(baseStart + baseNs) / widest} />}
                </>
              ),
            },
            {
              label: text.time,
              cell: ({ ns }) => time(ns),
              title: ({ ns }) => exact(ns, "ns"),
              foot: <span title={exact(total, "ns")}>{time(total)}</span>,
            },
            ...(base
              ? [
                  {
                    label: text.baseline,
                    cell: ({ baseNs }: WaterfallRow) => time(baseNs),
                    title: ({ baseNs }: WaterfallRow) => exact(baseNs, "ns"),
                    foot: time(base.reduce((sum, { ns }) => sum + ns, 0)),
                  },
                ]
              : []),
            { label: text.share, cell: ({ ns }) => fraction(ns / total), foot: fraction(1) },
          ]}
        />
      )}
      {/* a sum of several parts, as a tile opens it */}
      {rows.every(({ cause }) => cause !== picked) && opened}
    </Panel>
  );
}
