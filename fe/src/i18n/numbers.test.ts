import { expect, it } from "vitest";
import { decimalBytes, gibibytes, mebibytes } from "./zh-CN/numbers";

/** The same cases as in `torch_tb_profiler/words/numbers.py`. */
it("writes bytes with as many digits as the server", () => {
  expect([77_070_336, 2 ** 30, 1024].map((bytes) => mebibytes(bytes))).toEqual([
    "73.5 MiB",
    "1024 MiB",
    "0.000977 MiB",
  ]);
  expect(mebibytes(150.25 * 2 ** 20, 4)).toBe("150.3 MiB");
  expect(mebibytes(10_240 * 2 ** 20, 4)).toBe("10240 MiB");
  expect([gibibytes(130 * 2 ** 30), gibibytes(2 ** 28)]).toEqual(["130 GiB", "0.25 GiB"]);
  expect(decimalBytes(4 * 2 ** 30, "GiB", 2)).toBe("4.00 GiB");
});
