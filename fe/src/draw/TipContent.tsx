import { onOneLine } from "../format";
import "./tooltip.css";

interface TooltipLine {
  readonly label: string;
  readonly value: string;
  readonly share?: string;
  readonly color?: string;
}

export interface TooltipContent {
  readonly title: string;
  /** Of what the title names. */
  readonly color?: string;
  readonly subtitle?: string | undefined;
  readonly lines: readonly TooltipLine[];
}

/** What a tooltip says: text nodes only, because a name from a trace file can carry any characters. */
export function TipContent({ title, color, subtitle, lines }: TooltipContent) {
  return (
    <div className="chart-tooltip">
      <div className="chart-tooltip-title">
        <Swatch color={color} />
        {onOneLine(title)}
      </div>
      {subtitle && <div className="chart-tooltip-subtitle">{onOneLine(subtitle)}</div>}
      <div className="chart-tooltip-lines">
        {lines.map(({ label, value, share, color }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines may say the same
          <div key={index} className="chart-tooltip-line">
            <span>
              <Swatch color={color} />
              {label}
            </span>
            <span className="chart-tooltip-value">{value}</span>
            <span className="chart-tooltip-share">{share}</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function Swatch({ color }: { color: string | undefined }) {
  return (
    <span className="chart-tooltip-swatch" style={color ? { backgroundColor: color } : undefined} />
  );
}
