/** The segments at a moment, and what lies in them. */
import { useCallback } from "react";
import { useTraceQuery } from "../../api";
import type { SegmentsAnswer } from "../../api/schema.gen";
import { type ChartRow, largestFirst, Segments } from "../../charts";
import type { TooltipContent } from "../../draw";
import { bytes, count } from "../../format";
import { snapshotTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { QueryPanel } from "../../ui";
import { MomentChoice } from "./Moments";
import { Pools } from "./Pools";
import { asked, type Look, useColors } from "./useSnapshot";

/** What the server says instead of a line. */
const FREE = -1;
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
          <Drawn answer={answer} look={look} />
          {!answer.exact && <p className="muted">{text.inexact}</p>}
          {answer.left_out > 0 && <p className="muted">{text.leftOut(count(answer.left_out))}</p>}
          <Pools answer={answer} />
        </>
      )}
    </QueryPanel>
  );
}

function Drawn({ answer, look }: { readonly answer: SegmentsAnswer; readonly look: Look }) {
  const { segments, pieces, lines } = answer;
  const colorOf = useColors(look);
  const lookOf = useCallback(
    (piece: number) => {
      const line = pieces.line[piece] ?? FREE;
      if (line === FREE) return { color: null, part: 0 };
      if (line !== MIXED) return { color: colorOf(lines[line] ?? ""), part: 1 };
      const part = (pieces.used[piece] ?? 0) / (pieces.bytes[piece] || 1);
      return { color: "var(--series-rest)", part };
    },
    [pieces, lines, colorOf],
  );
  const free = segments.free.reduce((sum, each) => sum + each, 0);
  const reserved = segments.bytes.reduce((sum, each) => sum + each, 0);
  const said = text.mapSaid(count(segments.bytes.length), bytes(reserved), bytes(free));
  return (
    <>
      <p className="muted">{said}</p>
      <Segments
        title={text.map}
        summary={said}
        keys={text.mapKeys}
        segments={segments}
        pieces={pieces}
        look={lookOf}
        tip={(piece) => tipOf(answer, piece)}
        head={text.pieceColumns}
        texts={2}
        rows={() => largestFirst(pieces.bytes).map((piece) => rowOf(answer, piece))}
      />
    </>
  );
}

function nameOf({ pieces, lines }: SegmentsAnswer, piece: number): string {
  const line = pieces.line[piece] ?? FREE;
  return line === FREE ? text.freePiece : line === MIXED ? text.mixed : (lines[line] ?? "");
}

function placeOf({ segments, pieces }: SegmentsAnswer, piece: number): string {
  const address = segments.address[pieces.segment[piece] ?? 0] ?? 0;
  return `0x${address.toString(16)}`;
}

function tipOf(answer: SegmentsAnswer, piece: number): TooltipContent {
  const { segments, pieces } = answer;
  const size = segments.bytes[pieces.segment[piece] ?? 0];
  return {
    title: nameOf(answer, piece),
    subtitle: `${placeOf(answer, piece)} · ${bytes(size)}`,
    lines: [
      { label: text.tip.size, value: bytes(pieces.bytes[piece]) },
      { label: text.tip.blocks, value: count(pieces.blocks[piece]) },
      { label: text.tip.inUse, value: bytes(pieces.used[piece]) },
    ],
  };
}

function rowOf(answer: SegmentsAnswer, piece: number): ChartRow {
  const { offset, bytes: size, blocks, used } = answer.pieces;
  const numbers = [
    bytes(offset[piece]),
    bytes(size[piece]),
    count(blocks[piece]),
    bytes(used[piece]),
  ];
  return { cells: [nameOf(answer, piece), placeOf(answer, piece), ...numbers] };
}
