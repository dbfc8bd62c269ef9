import { expect, it } from "vitest";
import { findingTitle, noteText, reasonText } from "./serverMessages";

const title = (name: string) =>
  findingTitle({ id: "none", title: `The device waits for the host (${name}): 5 → 7 ms` });

it("leaves numbers beside names that are read from the right where they are", () => {
  expect(title("שלום 12 עולם")).toBe(
    "The device waits for the host (\u2068שלום 12 עולם\u2069): 5 → 7 ms",
  );
  expect(noteText({ kind: "none", text: "مرحبا: 1, שלום: 3" })).toBe(
    "\u2068مرحبا\u2069: 1, \u2068שלום\u2069: 3",
  );
  expect(reasonText("שלום 12 cannot be read", null)).toBe("\u2068שלום\u2069 12 cannot be read");
});

it("changes no other sentence", () => {
  expect(title("aten::mm 矩阵 é")).toBe(
    "The device waits for the host (aten::mm 矩阵 é): 5 → 7 ms",
  );
});
