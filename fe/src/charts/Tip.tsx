import { TipContent, type TooltipContent } from "../draw";

interface Props {
  readonly content: TooltipContent;
  /** Where it belongs to, in the picture. */
  readonly x: number;
  readonly y: number;
  /** Of the picture. */
  readonly width: number;
  readonly height: number;
  readonly className?: string;
}

/** Pixels between the tip and its place. */
const AWAY = 14;

/** A tooltip inside of a picture, on the side with more room. */
export function Tip({ content, x, y, width, height, className = "" }: Props) {
  const side = x > width / 2 ? { right: width - x + AWAY } : { left: x + AWAY };
  const level = y > height / 2 ? { bottom: height - y } : { top: y };
  return (
    <div
      className={`tip-box chart-tip ${className}`}
      style={{ ...side, ...level }}
      aria-hidden="true"
    >
      <TipContent {...content} />
    </div>
  );
}

/** The same for people who hear it. */
export function spokenTip({ title, subtitle, lines }: TooltipContent): string {
  const said = lines.map(({ label, value }) => [label, value].filter(Boolean).join(" "));
  return [title, subtitle, ...said].filter(Boolean).join(", ");
}
