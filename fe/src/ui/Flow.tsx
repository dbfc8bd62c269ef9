/**
 * The parts of a page below each other or, where the page is wide, in columns: each goes to the column that ends first,
 * so that none leaves a half of the page blank. They have the order of the document.
 */
import { type ReactNode, useLayoutEffect, useRef } from "react";
import { flow, linesOf } from "./flowPlaces";
import "./flow.css";

interface Props {
  readonly className?: string;
  readonly children: ReactNode;
}

/** What may be beside something else, alone in an anchor too; all other parts are as wide as the page. */
const BESIDE = ":is(.panel, .beside, div:has(> .panel:only-child:not(.across))):not(.across)";

export function Flow({ className = "", children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => (box.current ? flowIn(box.current) : undefined), []);
  return (
    <div ref={box} className={`flow ${className}`}>
      {children}
    </div>
  );
}

/** For `flow.css`, which does not follow them on paper: rows of the page; rows, column and least height of a part. */
const ROWS = "--flow-rows";
const ROW = "--flow-row";
const COLUMN = "--flow-column";
const LEAST = "--least-height";
/** After which parts are where they are. */
const TURNS = 3;

/** Keeps the parts of an element in their columns; the returned function ends it. How many there are is said by CSS. */
function flowIn(box: HTMLElement): () => void {
  /** The column of each part. What somebody has used stays there, whatever grows above it. */
  let stays = new Map<Element, number>();
  let used = false;
  let columns = 1;
  let known = "";

  const sizesOf = (parts: readonly HTMLElement[]) =>
    [box.clientWidth, ...parts.map(({ offsetHeight }) => offsetHeight)].join();

  const clear = (parts: readonly HTMLElement[]) => {
    box.style.removeProperty(ROWS);
    for (const part of parts)
      for (const name of [ROW, COLUMN, LEAST]) part.style.removeProperty(name);
  };

  const place = () => {
    const parts = [...box.children] as HTMLElement[];
    const style = getComputedStyle(box);
    const wanted = Number(style.getPropertyValue("--flow")) || 1;
    if (wanted !== columns) used = false;
    if (!used) stays = new Map();
    columns = wanted;
    box.toggleAttribute("data-flows", columns > 1);
    clear(parts);
    if (columns > 1) arrange(parts, Number.parseFloat(style.columnGap) || 0);
    known = sizesOf(parts);
  };

  const arrange = (parts: readonly HTMLElement[], gap: number) => {
    const beside = parts.map((part) => part.matches(BESIDE));
    for (const [at, part] of parts.entries())
      put(part, "auto", beside[at] ? (stays.get(part) ?? 0) : null);
    const placed = (kept: ReadonlyMap<Element, number>) => {
      const places = flow(
        parts.map((part, at) => ({
          height: part.offsetHeight,
          across: !beside[at],
          column: kept.get(part),
        })),
        columns,
        gap,
      );
      const { rows, spans } = linesOf(places);
      box.style.setProperty(ROWS, rows.map((row) => `${row}px`).join(" "));
      for (const [at, part] of parts.entries()) {
        const { column = null } = places[at] ?? {};
        put(part, (spans[at] ?? []).join(" / "), column);
        if (column !== null) stays.set(part, column);
      }
      return places;
    };
    // Columns may differ in width, and parts in height with it: with those of where they were put, some go elsewhere.
    const kept = used ? stays : new Map<Element, number>();
    for (let turn = 0; turn < TURNS; turn++) placed(kept);
    for (const [at, { top, bottom }] of placed(stays).entries()) {
      const part = parts[at];
      if (part && bottom - top > part.offsetHeight)
        part.style.setProperty(LEAST, `${bottom - top}px`);
    }
  };

  let next = 0;
  const watch = () => {
    for (const each of [box, ...box.children]) sizes.observe(each);
  };
  // What is put elsewhere has another size: that is no news.
  const sizes = new ResizeObserver(() => {
    if (sizesOf([...box.children] as HTMLElement[]) === known) return;
    sizes.disconnect();
    place();
    cancelAnimationFrame(next);
    next = requestAnimationFrame(watch);
  });
  const coming = new MutationObserver(watch);
  const use = () => {
    used = true;
  };
  place();
  watch();
  coming.observe(box, { childList: true });
  for (const kind of ["pointerdown", "keydown"]) box.addEventListener(kind, use, true);
  return () => {
    cancelAnimationFrame(next);
    sizes.disconnect();
    coming.disconnect();
    for (const kind of ["pointerdown", "keydown"]) box.removeEventListener(kind, use, true);
  };
}

/** rows: "from / to" or "auto"; column: null for all. */
function put(part: HTMLElement, rows: string, column: number | null): void {
  part.style.setProperty(ROW, rows);
  part.style.setProperty(COLUMN, column === null ? "1 / -1" : `${column + 1}`);
}
