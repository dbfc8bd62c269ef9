import { expect, it } from "vitest";
import { layOut, type Track } from "../../timeline";
import { shownLanes } from "./shownLanes";

const group = (key: string, worker: string): Track => ({
  key,
  worker,
  parent: null,
  kind: "group",
  isGroup: true,
  name: worker,
  lanes: [],
  events: 1,
});
const leaf = (parent: string, worker: string, lanes: number[]): Track => ({
  ...group(`${parent}/1`, worker),
  parent,
  kind: "slices",
  isGroup: false,
  lanes,
});
const TRACKS = [
  group("a:", "a"),
  leaf("a:", "a", [2, 0]),
  group("a:b:", "a:b"),
  leaf("a:b:", "a:b", [7]),
];
const arranged = (toggled: string[]) =>
  layOut(TRACKS, {
    toggled: new Set(toggled),
    pinned: [],
    hidden: new Set(),
    order: [],
    filter: "",
  });

it("are those of one rank, also when another rank's name begins with its name", () => {
  expect(shownLanes(arranged([]), "a")).toEqual([0, 2]);
  expect(shownLanes(arranged([]), "a:b")).toEqual([7]);
});

it("are those that a collapsed group shows", () => {
  expect(shownLanes(arranged(["a:"]), "a")).toEqual([2]);
});
