import { type KeyboardEvent, useId, useMemo, useState } from "react";
import { PointerTip } from "../../draw";
import { flameTexts } from "../../i18n";
import { SaveButtons } from "../Actions";
import type { FileKind } from "../scene";
import { sceneTheme } from "../scene";
import { boxesOf, type FlameData, type Layout, layoutOf, levelsOf } from "./layout";
import { boxShapes, ROW } from "./paint";
import type { FlameProps } from "./types";
import { useFlameCanvas } from "./useFlameCanvas";
import { type Move, moved } from "./walk";
import "../charts.css";
import "./flame.css";

const MOVES: Readonly<Record<string, Move>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};
/** Of a saved picture, at least. */
const SAVED_WIDTH = 600;

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
  const { title, entries, layout, focus, onFocus, onSelect } = props;
  const [hover, setHover] = useState<Hover | null>(null);
  const [cursor, setCursor] = useState<{ layout: Layout; entry: number } | null>(null);
  const [focused, setFocused] = useState(false);
  const hint = useId();
  const levels = useMemo(() => levelsOf(layout, focus), [layout, focus]);
  // Entries of another layout have other numbers.
  const active = cursor?.layout === layout ? cursor.entry : focus;
  const moveTo = (entry: number) => setCursor({ layout, entry });
  const drawn = useFlameCanvas({ ...props, reached: focused ? active : -1 });
  const pick = (entry: number) => {
    moveTo(entry);
    onSelect(entry);
    if (entries.kind(entry) !== "smaller" && entry !== focus) onFocus(entry);
  };
  const acts = keysOf(props, active, { moveTo, pick, show: drawn.show });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    setFocused(true);
    if (!acts(event.key)) return;
    setHover(null);
    event.preventDefault();
  };
  const save = async (kind: FileKind) => {
    const { scroller, look, palette } = drawn;
    if (!scroller.current || !look || !palette) return false;
    const { savePicture } = await import("../save");
    const width = Math.max(scroller.current.clientWidth, SAVED_WIDTH);
    const theme = sceneTheme(scroller.current);
    const shapes = boxShapes(boxesOf(layout, focus, width), look, palette, theme.measure);
    return savePicture(kind, title, shapes, width, levels * ROW, theme);
  };
  return (
    <figure className="flame">
      <div
        ref={drawn.scroller}
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
          const entry = drawn.entryAt(event);
          setHover(entry < 0 ? null : { entry, x: event.clientX, y: event.clientY });
        }}
        onMouseLeave={() => setHover(null)}
        onClick={(event) => {
          const entry = drawn.entryAt(event);
          if (entry >= 0) pick(entry);
        }}
      >
        <div style={{ height: levels * ROW }}>
          <canvas ref={drawn.canvas} className={hover ? "flame-canvas over" : "flame-canvas"} />
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
      <div className="flame-save">
        <SaveButtons onSave={save} />
      </div>
    </figure>
  );
}

interface Acts {
  readonly moveTo: (entry: number) => void;
  readonly pick: (entry: number) => void;
  /** Scrolls to it. */
  readonly show: (entry: number) => void;
}

/** What a key does; the function returns whether it does anything. */
function keysOf({ layout, focus, onFocus }: FlameProps, active: number, acts: Acts) {
  return (key: string): boolean => {
    const from = active >= 0 ? active : firstOf(layout, focus);
    const move = MOVES[key];
    if (move && from >= 0) {
      const next = active < 0 ? from : moved(layout, from, move, focus);
      acts.moveTo(next);
      acts.show(next);
    } else if ((key === "Enter" || key === " ") && from >= 0) {
      acts.pick(from);
    } else if (key === "Home") {
      onFocus(-1);
    } else if ((key === "Escape" || key === "Backspace") && focus >= 0) {
      acts.moveTo(focus);
      onFocus(layout.parent[focus] ?? -1);
    } else return false;
    return true;
  };
}

/** Where the keys begin. */
function firstOf(layout: Layout, focus: number): number {
  return focus >= 0 ? focus : (layout.order[0] ?? -1);
}
