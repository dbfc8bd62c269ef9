import { describe, expect, it } from "vitest";
import { tileBytes } from "./cases";
import { DecodeError, decodeCounters, decodeTile, itemsOf, NO_NAME } from "./decode";

/** The example of docs/maintainers/timeline-protocol.md. */
const EXAMPLE = `54 54 4c 31 01 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 f0 3f
  01 00 00 00 02 00 00 00 04 00 00 00 00 00 00 00 02 00 00 00 64 00 00 00 4c 04 00 00 4c 04 00 00 14 05 00 00
  07 00 00 00 09 00 00 00 02 00 00 00 05 00 00 00 01 00 00 00 03 00 00 00 06 06 ff 80`;

const example = () =>
  Uint8Array.from(EXAMPLE.trim().split(/\s+/), (byte) => Number.parseInt(byte, 16)).buffer;

describe("a tile", () => {
  it("is that of the protocol's example", () => {
    const tile = decodeTile(example());
    expect([tile.level, tile.index, tile.begin, tile.tick]).toEqual([1, 0, 0, 1]);
    expect([...tile.lanes]).toEqual([4]);
    expect(itemsOf(tile, 4)).toEqual([0, 2]);
    expect([...tile.start]).toEqual([100, 1100]);
    expect([...tile.end]).toEqual([1100, 1300]);
    expect([...tile.row]).toEqual([7, 9]);
    expect([...tile.name]).toEqual([2, 5]);
    expect([...tile.count]).toEqual([1, 3]);
    expect([...tile.category]).toEqual([6, 6]);
    expect([...tile.fill]).toEqual([255, 128]);
  });

  it("of other tests is written in the same way", () => {
    const bytes = tileBytes({
      4: [
        { start: 100, end: 1100, row: 7, name: 2, category: 6 },
        { start: 1100, end: 1300, row: 9, name: 5, category: 6, count: 3, fill: 128 },
      ],
    });
    expect(new Uint8Array(bytes)).toEqual(new Uint8Array(example()));
  });

  it("may say the slack of its slices, with their operators or without", () => {
    const items = [
      { start: 0, end: 9, row: 1, operator: 4, slack: 250 },
      { start: 9, end: 20, row: 2, operator: 4 },
    ];
    for (const kind of ["slack", "both"] as const) {
      const tile = decodeTile(tileBytes({ 3: items }, { kind }));
      expect([...(tile.slack ?? [])]).toEqual([250, Number.NaN]);
      expect(tile.operator === null).toBe(kind === "slack");
      expect([...tile.fill]).toEqual([255, 255]);
    }
    expect(decodeTile(tileBytes({ 3: items })).slack).toBeNull();
  });

  it("may say the operators of its slices", () => {
    const items = [
      { start: 0, end: 9, row: 1, operator: 5, fill: 100 },
      { start: 9, end: 12, row: 2 },
    ];
    const tile = decodeTile(tileBytes({ 3: items }, { kind: "operators" }));
    expect([...(tile.operator ?? [])]).toEqual([5, NO_NAME]);
    expect([...tile.fill]).toEqual([100, 255]);
    expect(decodeTile(tileBytes({ 3: items })).operator).toBeNull();
  });

  it("may have nothing on it, and starts before it", () => {
    const empty = decodeTile(tileBytes({}));
    expect(empty.row).toHaveLength(0);
    expect(itemsOf(empty, 4)).toEqual([0, 0]);
    const early = decodeTile(
      tileBytes({ 2: [], 5: [{ start: -70_000, end: 9, row: 1 }] }, { index: -1 }),
    );
    expect(early.index).toBe(-1);
    expect(early.start[0]).toBe(-70_000);
    expect(itemsOf(early, 2)).toEqual([0, 0]);
    expect(itemsOf(early, 5)).toEqual([0, 1]);
  });

  it("is refused when it is cut off, too long, of another kind or something else", () => {
    const good = new Uint8Array(example());
    for (const wrong of [good.slice(0, 90), good.slice(0, 7), Uint8Array.of(...good, 0)])
      expect(() => decodeTile(wrong.buffer)).toThrow(DecodeError);
    expect(() => decodeCounters(example())).toThrow(DecodeError);
    expect(() => decodeTile(new TextEncoder().encode("<!doctype html>".repeat(9)).buffer)).toThrow(
      DecodeError,
    );
  });
});

it("reads four columns for each counter", () => {
  const buffer = new ArrayBuffer(40 + 2 * 4 * 2 * 8);
  const view = new DataView(buffer);
  [0x314c5454, 3, 4].forEach((word, at) => {
    view.setUint32(4 * at, word, true);
  });
  view.setFloat64(16, 1000, true);
  view.setFloat64(24, 16, true);
  view.setUint32(32, 2, true);
  view.setUint32(36, 2, true);
  for (let at = 0; at < 16; at++) view.setFloat64(40 + 8 * at, at === 1 ? Number.NaN : at, true);
  const tile = decodeCounters(buffer);
  expect([tile.begin, tile.bin]).toEqual([1000, 16]);
  expect([...(tile.values[0]?.min ?? [])]).toEqual([0, Number.NaN]);
  expect([...(tile.values[1]?.min ?? []), ...(tile.values[1]?.mean ?? [])]).toEqual([8, 9, 14, 15]);
});
