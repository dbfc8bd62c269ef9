import { TipContent, type TooltipContent } from "./TipContent";

const WIDTH = 420;

/** A tooltip next to the pointer, for what is drawn on a canvas. `x`, `y`: in the window. */
export function PointerTip({ content, x, y }: { content: TooltipContent; x: number; y: number }) {
  const left = Math.max(8, Math.min(x + 14, window.innerWidth - WIDTH - 12));
  const below = y < window.innerHeight * 0.65;
  const place = below ? { left, top: y + 16 } : { left, bottom: window.innerHeight - y + 12 };
  return (
    <div className="tip-box pointer-tip" style={{ ...place, maxWidth: WIDTH }}>
      <TipContent {...content} />
    </div>
  );
}
