/** The segments at a moment, and what lies in them. */
import { type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useTraceQuery } from "../../api";
import type { SegmentsAnswer } from "../../api/schema.gen";
import { crisp, PointerTip, readTheme, type TooltipContent, useBoxWidth } from "../../draw";
import { bytes, count } from "../../format";
import { useTheme } from "../../host";
import { snapshotTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { ListTable } from "../../table";
import { QueryPanel } from "../../ui";
import { MomentChoice } from "./Moments";
import { asked, type Look, useColors } from "./useSnapshot";

const ROW = 10;
const GAP = 3;
const MOST_HEIGHT = 420;
const MIXED = -2;

export function MapPanel({ look }: { readonly look: Look }) {
  const { sel } = useTrace();
  const query = useTraceQuery("snapshot/segments", sel, { ...asked(look), at: look.at });
  return (
    <QueryPanel
      title={text.map}
      help={text.mapHelp}
      query={query}
      actions={<MomentChoice look={look} />}
    >
      {(answer) => (
        <>
          <Segments answer={answer} look={look} />
          {!answer.exact && <p className="muted">{text.inexact}</p>}
          {answer.left_out > 0 && <p className="muted">{text.leftOut(count(answer.left_out))}</p>}
          <Pools answer={answer} />
        </>
      )}
    </QueryPanel>
  );
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** Segments side by side in rows, as wide as they are large; the largest fills a row. Pure. */
export function placesOf(
  sizes: readonly number[],
  width: number,
): { places: Place[]; rows: number } {
  const most = Math.max(1, ...sizes);
  let [x, row] = [0, 0];
  const places = sizes.map((size) => {
    const wide = Math.max(2, (size / most) * width);
    if (x > 0 && x + wide > width) [x, row] = [0, row + 1];
    const place = { x, y: row * (ROW + GAP), width: wide };
    x += wide + 2;
    return place;
  });
  return { places, rows: sizes.length ? row + 1 : 0 };
}

function Segments({ answer, look }: { readonly answer: SegmentsAnswer; readonly look: Look }) {
  const { box, width } = useBoxWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [tip, setTip] = useState<{ content: TooltipContent; x: number; y: number } | null>(null);
  const { segments, pieces, lines } = answer;
  const { places, rows } = useMemo(() => placesOf(segments.bytes, width), [segments, width]);
  const height = rows * (ROW + GAP);
  const colorOf = useColors(look);
  const boxOf = (piece: number) => {
    const segment = pieces.segment[piece] ?? 0;
    const place = places[segment];
    const scale = (place?.width ?? 0) / (segments.bytes[segment] || 1);
    return {
      x: (place?.x ?? 0) + (pieces.offset[piece] ?? 0) * scale,
      y: place?.y ?? 0,
      width: (pieces.bytes[piece] ?? 0) * scale,
    };
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn follows from these, and from the page's style
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || width === 0) return;
    const context = crisp(element, width, Math.max(1, height));
    if (!context) return;
    const colors = readTheme(element);
    for (const { x, y, width: wide } of places) {
      context.fillStyle = colors.resolve("var(--surface-3)");
      context.fillRect(x, y, wide, ROW);
    }
    pieces.segment.forEach((_, piece) => {
      const line = pieces.line[piece] ?? -1;
      if (line === -1) return;
      const { x, y, width: wide } = boxOf(piece);
      const used = line === MIXED ? (pieces.used[piece] ?? 0) / (pieces.bytes[piece] || 1) : 1;
      context.fillStyle = colors.resolve(
        line === MIXED ? "var(--series-rest)" : colorOf(lines[line] ?? ""),
      );
      context.fillRect(
        x,
        y + ROW * (1 - used),
        Math.max(wide - (wide > 3 ? 0.5 : 0), 0.5),
        ROW * used,
      );
    });
  }, [answer, places, colorOf, width, theme]);

  const onMove = (event: PointerEvent) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const piece = pieces.segment.findIndex((_, at) => {
      const found = boxOf(at);
      return found.x <= x && x < found.x + found.width && found.y <= y && y < found.y + ROW;
    });
    setTip(
      piece < 0 ? null : { content: tipOf(answer, piece), x: event.clientX, y: event.clientY },
    );
  };
  const free = segments.free.reduce((sum, each) => sum + each, 0);
  const reserved = segments.bytes.reduce((sum, each) => sum + each, 0);
  const said = text.mapSaid(count(segments.bytes.length), bytes(reserved), bytes(free));
  return (
    <div className="snapshot-map">
      <p className="muted">{said}</p>
      <div ref={box} className="snapshot-map-box" style={{ maxHeight: MOST_HEIGHT }}>
        <canvas
          ref={canvas}
          style={{ width: "100%", height }}
          role="img"
          aria-label={said}
          onPointerMove={onMove}
          onPointerLeave={() => setTip(null)}
        />
      </div>
      {tip && <PointerTip {...tip} />}
    </div>
  );
}

function tipOf({ segments, pieces, lines }: SegmentsAnswer, piece: number): TooltipContent {
  const segment = pieces.segment[piece] ?? 0;
  const line = pieces.line[piece] ?? -1;
  return {
    title: line === -1 ? text.freePiece : line === MIXED ? text.mixed : (lines[line] ?? ""),
    subtitle: `0x${(segments.address[segment] ?? 0).toString(16)} · ${bytes(segments.bytes[segment])}`,
    lines: [
      { label: text.tip.size, value: bytes(pieces.bytes[piece]) },
      { label: text.tip.blocks, value: count(pieces.blocks[piece]) },
      { label: text.tip.inUse, value: bytes(pieces.used[piece]) },
    ],
  };
}

function Pools({ answer: { pools } }: { readonly answer: SegmentsAnswer }) {
  return (
    <ListTable caption={text.pools} columns={text.poolColumns} numbersFrom={3}>
      {pools.map((pool) => (
        <tr key={`${pool.pool} ${pool.stream} ${pool.is_small}`}>
          <td>{pool.pool === "default" ? text.defaultPool : pool.pool}</td>
          <td>{pool.stream}</td>
          <td>{pool.is_small ? text.small : text.large}</td>
          <td className="number">{count(pool.segments)}</td>
          <td className="number">{bytes(pool.reserved)}</td>
          <td className="number">{bytes(pool.used)}</td>
          <td className="number">{bytes(pool.free)}</td>
          <td className="number">{bytes(pool.largest)}</td>
        </tr>
      ))}
    </ListTable>
  );
}
