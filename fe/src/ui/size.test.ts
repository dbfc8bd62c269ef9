import { expect, it } from "vitest";
import { widthAfter, widthOf } from "./size";

const LIMITS = { least: 140, usual: 180, most: 320 };

it("reads a stored width, and nothing else", () => {
  expect(widthOf("200", LIMITS)).toBe(200);
  expect(widthOf("5", LIMITS)).toBe(140);
  expect(widthOf("1e9", LIMITS)).toBe(320);
  expect(widthOf("wide", LIMITS)).toBe(180);
  expect(widthOf(null, LIMITS)).toBe(180);
});

it("moves an edge by keys", () => {
  expect(widthAfter("ArrowRight", 180, LIMITS, "ArrowRight")).toBe(196);
  expect(widthAfter("ArrowRight", 180, LIMITS, "ArrowLeft")).toBe(164);
  expect(widthAfter("ArrowLeft", 145, LIMITS, "ArrowRight")).toBe(140);
  expect(widthAfter("ArrowUp", 180, LIMITS, "ArrowUp")).toBe(196);
  expect(widthAfter("ArrowDown", 180, LIMITS, "ArrowUp")).toBe(164);
  expect(widthAfter("ArrowUp", 180, LIMITS, "ArrowRight")).toBeNull();
  expect(widthAfter("Home", 180, LIMITS, "ArrowRight")).toBe(140);
  expect(widthAfter("End", 180, LIMITS, "ArrowRight")).toBe(320);
  expect(widthAfter("a", 180, LIMITS, "ArrowRight")).toBeNull();
});
