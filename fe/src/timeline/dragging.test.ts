import { describe, expect, it } from "vitest";
import { landingAt } from "./dragging";
import { movedBefore, UNARRANGED } from "./layout";
import type { Track, TrackRow } from "./track";

const track = (key: string, parent: string | null): Track => ({
  ...{ key, parent, worker: "r", kind: "slices", isGroup: parent === null, name: key },
  ...{ lanes: [], events: 0 },
});
const TRACKS = [
  track("A", null),
  track("a1", "A"),
  track("a2", "A"),
  track("B", null),
  track("b1", "B"),
];
const row = (at: number, level: number, pinned = false): TrackRow => ({
  ...{ level, y: at * 100, height: 100, collapsed: false, pinned, lanes: [] },
  track: TRACKS[at] as Track,
});
const ROWS = [row(0, 0), row(1, 1), row(2, 1), row(3, 0), row(4, 1)];
const rowAt = (at: number) => ROWS[at] as TrackRow;

describe("a track that is dragged", () => {
  it("lands among its siblings only", () => {
    expect(landingAt(ROWS, rowAt(2), 120)).toEqual({ before: "a1", y: 100 });
    expect(landingAt(ROWS, rowAt(1), 480)).toEqual({ before: null, y: 300 });
  });

  it("takes a group with all that is in it", () => {
    expect(landingAt(ROWS, rowAt(3), 100)).toEqual({ before: "A", y: 0 });
    expect(landingAt(ROWS, rowAt(0), 499)).toEqual({ before: null, y: 500 });
  });

  it("lands nowhere where it stands already", () => {
    expect(landingAt(ROWS, rowAt(2), 260)).toBeNull();
    expect(landingAt(ROWS, rowAt(4), 120)).toBeNull();
  });

  it("stays among the pinned ones when it is pinned", () => {
    const pinned = [row(1, 0, true), row(2, 0, true)].map((each, at) => ({ ...each, y: at * 100 }));
    const rows = [...pinned, ...ROWS.map((each) => ({ ...each, y: each.y + 200 }))];
    expect(landingAt(rows, rows[1] as TrackRow, 10)).toEqual({ before: "a1", y: 0 });
    expect(landingAt(rows, rows[1] as TrackRow, 650)).toBeNull();
  });
});

describe("the order after it was dropped", () => {
  it("has it before the other, and keeps what was moved elsewhere", () => {
    expect(movedBefore(TRACKS, UNARRANGED, "a2", "a1")).toEqual(["a2", "a1"]);
    const arrangement = { ...UNARRANGED, order: ["a2", "a1"] };
    expect(movedBefore(TRACKS, arrangement, "B", "A")).toEqual(["a2", "a1", "B", "A"]);
    expect(movedBefore(TRACKS, arrangement, "a2", null)).toEqual(["a1", "a2"]);
  });

  it("is none for what is no sibling", () => {
    expect(movedBefore(TRACKS, UNARRANGED, "a1", "B")).toBeNull();
    expect(movedBefore(TRACKS, UNARRANGED, "gone", null)).toBeNull();
  });
});
