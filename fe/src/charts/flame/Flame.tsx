// biome-ignore-all lint/a11y/noNoninteractiveTabindex: an application region takes the focus itself
import {
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { PointerTip, type TooltipContent } from "../../draw";
import { canSave, saveFile, useComputed } from "../../host";
import { chartsTexts, flameTexts } from "../../i18n";
import { type FlameKind, fillsOf, readPalette } from "./colors";
import { type Box, boxesOf, type FlameData, type Layout, layoutOf, levelsOf } from "./layout";
import {
  type BoxLook,
  canvasSurface,
  colorOf,
  GAP,
  outline,
  paint,
  paintLabels,
  ROW,
} from "./paint";
import { rasterize } from "./pixels";
import { svgOf } from "./svg";
import { type Move, moved } from "./walk";
import "../charts.css";
import "./flame.css";

export interface FlameEntries extends FlameData {
  readonly label: (entry: number) => string;
  /** What decides about its shade: equal names look the same. */
  readonly name: (entry: number) => string;
  readonly kind: (entry: number) => FlameKind;
  readonly tooltip: (entry: number) => TooltipContent;
  /** For screen readers: name and numbers in a sentence. */
  readonly spoken: (entry: number) => string;
}

export interface FlameProps {
  readonly title: string;
  /** Must keep its identity while it means the same. */
  readonly entries: FlameEntries;
  readonly layout: Layout;
  /** The entry that fills the width, -1 for everything. */
  readonly focus: number;
  readonly onFocus: (entry: number) => void;
  readonly selected: number;
  readonly onSelect: (entry: number) => void;
  /** 1 for each entry that a search finds; null without a search. */
  readonly hits: Uint8Array | null;
}

const MOVES: Readonly<Record<string, Move>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** Where the pointer is, and on what. */
interface Hover {
  readonly entry: number;
  readonly x: number;
  readonly y: number;
}

export function useLayout(entries: FlameData, heavyFirst: boolean): Layout {
  return useMemo(() => layoutOf(entries, heavyFirst), [entries, heavyFirst]);
}

export function Flame(props: FlameProps) {
  const { title, entries, layout, focus, onFocus, selected, onSelect, hits } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useRef<readonly Box[]>([]);
  const image = useRef<ImageData | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const [cursor, setCursor] = useState<{ layout: Layout; entry: number } | null>(null);
  const [focused, setFocused] = useState(false);
  const hint = useId();
  const palette = useComputed(scroller, readPalette);
  const levels = useMemo(() => levelsOf(layout, focus), [layout, focus]);
  // Entries of another layout have other numbers.
  const active = cursor?.layout === layout ? cursor.entry : focus;
  const moveTo = (entry: number) => setCursor({ layout, entry });

  const look = useMemo<BoxLook | null>(
    () =>
      palette && {
        label: entries.label,
        ...fillsOf(palette, entries.size, entries.kind, entries.name, hits),
      },
    [entries, hits, palette],
  );

  const draw = useCallback(() => {
    const [element, view] = [canvas.current, scroller.current];
    const context = element?.getContext("2d");
    if (!element || !view || !context || !look || !palette) return;
    const { clientWidth: width, clientHeight: height, scrollTop: top } = view;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (element.width !== wide || element.height !== high) {
      element.width = wide;
      element.height = high;
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
    }
    const boxes = boxesOf(
      layout,
      focus,
      width,
      Math.floor(top / ROW),
      Math.ceil((top + height) / ROW),
    );
    drawn.current = boxes;
    if (wide > 0 && high > 0) {
      if (image.current?.width !== wide || image.current.height !== high)
        image.current = context.createImageData(wide, high);
      const pixels = new Uint32Array(image.current.data.buffer);
      rasterize(
        { pixels, width: wide, height: high, ratio },
        boxes,
        look.colors,
        (box) => colorOf(box, look),
        { row: ROW, gap: GAP, top },
      );
      context.putImageData(image.current, 0, 0);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintLabels(canvasSurface(context, palette), boxes, look, palette, top);
    for (const box of boxes) {
      if (box.entry < 0) continue;
      if (box.entry === selected) outline(context, box, top, palette.text, 1.5);
      if (box.entry === active && focused) outline(context, box, top, palette.accent, 2.5);
    }
  }, [layout, focus, look, palette, selected, active, focused]);
  useDrawing(scroller, draw);

  const entryAt = (event: MouseEvent): number => {
    const view = scroller.current;
    if (!view) return -1;
    const { left, top } = view.getBoundingClientRect();
    const x = event.clientX - left;
    const level = Math.floor((event.clientY - top + view.scrollTop) / ROW);
    const box = drawn.current.find((b) => b.level === level && x >= b.x && x < b.x + b.width);
    return box?.entry ?? -1;
  };

  const pick = (entry: number) => {
    moveTo(entry);
    onSelect(entry);
    if (entries.kind(entry) !== "smaller" && entry !== focus) onFocus(entry);
  };

  const show = (entry: number) => {
    const view = scroller.current;
    if (!view) return;
    const y = (layout.depth[entry] ?? 0) * ROW;
    if (y < view.scrollTop) view.scrollTop = y;
    else if (y + ROW > view.scrollTop + view.clientHeight)
      view.scrollTop = y + ROW - view.clientHeight;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    setFocused(true);
    const from = active >= 0 ? active : firstOf(layout, focus);
    const move = MOVES[event.key];
    if (move && from >= 0) {
      const next = active < 0 ? from : moved(layout, from, move, focus);
      moveTo(next);
      show(next);
    } else if ((event.key === "Enter" || event.key === " ") && from >= 0) {
      pick(from);
    } else if (event.key === "Home") {
      onFocus(-1);
    } else if ((event.key === "Escape" || event.key === "Backspace") && focus >= 0) {
      moveTo(focus);
      onFocus(layout.parent[focus] ?? -1);
    } else {
      return;
    }
    setHover(null);
    event.preventDefault();
  };

  const picture = () => {
    const width = Math.max(scroller.current?.clientWidth ?? 0, 600);
    return { width, boxes: boxesOf(layout, focus, width) };
  };
  const saveSvg = () => {
    const context = canvas.current?.getContext("2d");
    if (!context || !look || !palette) return;
    const { width, boxes } = picture();
    const { measure } = canvasSurface(context, palette);
    const svg = svgOf(boxes, look, palette, width, levels, measure);
    saveFile(`${title}.svg`, new Blob([svg], { type: "image/svg+xml" }));
  };
  const savePng = () => {
    if (!look || !palette) return;
    const { width, boxes } = picture();
    const element = document.createElement("canvas");
    element.width = width * 2;
    element.height = levels * ROW * 2;
    const context = element.getContext("2d");
    if (!context) return;
    context.scale(2, 2);
    context.fillStyle = palette.surface;
    context.fillRect(0, 0, width, levels * ROW);
    paint(canvasSurface(context, palette), boxes, look, palette);
    element.toBlob((png) => png && saveFile(`${title}.png`, png), "image/png");
  };

  return (
    <figure className="flame">
      <div
        ref={scroller}
        className="flame-scroll"
        role="application"
        aria-roledescription={flameTexts.role}
        aria-label={title}
        aria-describedby={hint}
        tabIndex={0}
        style={{ height: `min(${levels * ROW}px, max(260px, 62vh))` }}
        onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocused(false)}
        onKeyDown={onKeyDown}
        onScroll={() => setHover(null)}
        onMouseMove={(event) => {
          const entry = entryAt(event);
          setHover(entry < 0 ? null : { entry, x: event.clientX, y: event.clientY });
        }}
        onMouseLeave={() => setHover(null)}
        onClick={(event) => {
          const entry = entryAt(event);
          if (entry >= 0) pick(entry);
        }}
      >
        <div style={{ height: levels * ROW }}>
          <canvas ref={canvas} className={hover ? "flame-canvas over" : "flame-canvas"} />
        </div>
      </div>
      <p id={hint} className="visually-hidden">
        {flameTexts.keys}
      </p>
      <p className="visually-hidden" role="status">
        {focused && active >= 0 ? entries.spoken(active) : ""}
      </p>
      {hover && hover.entry < layout.size && (
        <PointerTip content={entries.tooltip(hover.entry)} x={hover.x} y={hover.y} />
      )}
      {canSave() && (
        <div className="flame-save">
          <button type="button" className="chart-action" title={chartsTexts.png} onClick={savePng}>
            PNG
          </button>
          <button type="button" className="chart-action" title={chartsTexts.svg} onClick={saveSvg}>
            SVG
          </button>
        </div>
      )}
    </figure>
  );
}

/** Where the keys begin. */
function firstOf(layout: Layout, focus: number): number {
  return focus >= 0 ? focus : (layout.order[0] ?? -1);
}

/** Draws once per frame at most: when something has changed, when scrolled, resized or moved to another screen. */
function useDrawing(scroller: React.RefObject<HTMLElement | null>, draw: () => void): void {
  useEffect(() => {
    const view = scroller.current;
    if (!view) return;
    let frame = 0;
    const ask = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    draw();
    const observer = new ResizeObserver(ask);
    observer.observe(view);
    view.addEventListener("scroll", ask);
    window.addEventListener("resize", ask);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      view.removeEventListener("scroll", ask);
      window.removeEventListener("resize", ask);
    };
  }, [scroller, draw]);
}
