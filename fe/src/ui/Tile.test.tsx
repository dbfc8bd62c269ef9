import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Tile } from "./Tile";

it("keeps the numbers of a remark beside their units", () => {
  render(<Tile label="Saved" value="30.8 ms" remark="between 22.53 ms and 30.8 ms" />);
  expect(screen.getByText(/between/).textContent).toBe("between 22.53\u00a0ms and 30.8\u00a0ms");
});
