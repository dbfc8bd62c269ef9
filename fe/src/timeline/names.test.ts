import { expect, it, vi } from "vitest";
import { Names } from "./names";

type Which = Parameters<ConstructorParameters<typeof Names>[0]["load"]>[0];

function namesOf(total: number, fail = false) {
  const asked: Which[] = [];
  const onChange = vi.fn();
  const state = { fail };
  const names = new Names({
    total,
    onChange,
    load: async (which) => {
      asked.push(which);
      if (state.fail) throw new Error("no");
      const ids =
        "ids" in which
          ? which.ids.split(",").map(Number)
          : Array.from({ length: which.count }, (_, at) => which.from + at);
      const labels = ids.map((id) => (id === 7 ? "seven" : null));
      return { ids, names: ids.map((id) => `name ${id}`), labels };
    },
  });
  return { names, asked, onChange, state };
}
const settled = () => new Promise((done) => setTimeout(done));

it("asks for the costliest with the first name that is to be read, and once", async () => {
  const { names, asked, onChange } = namesOf(5_000);
  await settled();
  expect(asked).toEqual([]);
  for (const name of [3, 4]) expect(names.text(name)).toBeUndefined();
  names.flush();
  await settled();
  names.flush();
  expect(asked).toEqual([{ from: 0, count: 2_000 }]);
  expect([names.text(3), onChange.mock.calls.length]).toEqual(["name 3", 1]);
});

it("asks for the others together, when they are to be read", async () => {
  const { names, asked } = namesOf(5_000);
  names.text(0);
  await settled();
  for (const name of [4_000, 3_000, 4_000]) expect(names.text(name)).toBeUndefined();
  names.flush();
  names.flush();
  await settled();
  expect(asked.slice(1)).toEqual([{ ids: "4000,3000" }]);
  expect([names.text(3_000), names.text(4_000)]).toEqual(["name 3000", "name 4000"]);
  names.flush();
  expect(asked).toHaveLength(2);
});

it("asks again for what could not be had", async () => {
  const { names, asked, state } = namesOf(5_000, true);
  names.text(7);
  await settled();
  names.text(7);
  names.flush();
  await settled();
  state.fail = false;
  names.text(7);
  names.flush();
  await settled();
  expect(asked).toHaveLength(3);
  expect(names.text(7)).toBe("name 7");
});

it("asks for nothing of a trace without names", async () => {
  const { names, asked } = namesOf(0);
  names.flush();
  await settled();
  expect(asked).toEqual([]);
});

it("writes the shorter name where there is one", async () => {
  const { names } = namesOf(10);
  names.text(0);
  await settled();
  expect([names.label(7), names.text(7), names.label(3)]).toEqual(["seven", "name 7", "name 3"]);
});
