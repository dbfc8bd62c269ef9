/** Where the average step went: each part begins where the one before it ended, so that they add up to the step. */
import type { Overview } from "../../api";
import { PartButton } from "../../draw/PartButton";
import { partColor } from "../../draw/parts";
import { exact, fraction, inOneUnit } from "../../format";
import { overviewTexts } from "../../i18n";
import { Empty, Panel } from "../../ui";
import { waterfallRows } from "./waterfallRows";

const text = overviewTexts.waterfall;

interface Props {
  readonly overview: Overview;
  readonly picked: string;
  readonly onPick: (cause: string) => void;
}

export function Waterfall({ overview: { waterfall, meta }, picked, onPick }: Props) {
  const { rows, total } = waterfallRows(waterfall);
  const time = inOneUnit(
    "ns",
    rows.map(({ ns }) => ns),
    total,
  );
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
        <table className="waterfall num">
          <thead>
            <tr>
              <th scope="col">{text.cause}</th>
              <td className="waterfall-bar-head" />
              <th scope="col">{text.time}</th>
              <th scope="col">{text.share}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ cause, ns, start, others }) => (
              <tr key={cause} className={cause === picked ? "is-picked" : undefined}>
                <th scope="row">
                  <i className="swatch" style={{ background: partColor(cause) }} />
                  {others ? (
                    text.others(others)
                  ) : (
                    <PartButton part={cause} picked={picked} pick={onPick} />
                  )}
                </th>
                <td className="waterfall-bar" aria-hidden="true">
                  <i
                    style={{
                      insetInlineStart: `${(100 * start) / total}%`,
                      width: `${(100 * ns) / total}%`,
                      background: partColor(cause),
                    }}
                  />
                </td>
                <td title={exact(ns, "ns")}>{time(ns)}</td>
                <td>{fraction(ns / total)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">{text.total}</th>
              <td aria-hidden="true" />
              <td title={exact(total, "ns")}>{time(total)}</td>
              <td>{fraction(1)}</td>
            </tr>
          </tfoot>
        </table>
      )}
    </Panel>
  );
}
