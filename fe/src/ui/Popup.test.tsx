import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { Help } from "./Help";
import { Popup } from "./Popup";

afterEach(cleanup);

it("gives the focus back to its button on Escape", () => {
  render(<Popup label="Columns">{() => <input aria-label="inside" />}</Popup>);
  const button = screen.getByRole("button", { name: /Columns/ });
  fireEvent.click(button);
  const field = screen.getByLabelText("inside");
  field.focus();
  fireEvent.keyDown(field, { key: "Escape" });
  expect(screen.queryByLabelText("inside")).toBeNull();
  expect(document.activeElement).toBe(button);
});

it("gives it back from the text of a help, too", () => {
  render(
    <Help title="Steps">
      <a href="#more">more</a>
    </Help>,
  );
  const button = screen.getByRole("button");
  fireEvent.click(button);
  screen.getByRole("link").focus();
  fireEvent.keyDown(screen.getByRole("link"), { key: "Escape" });
  expect(document.activeElement).toBe(button);
});

it("leaves the focus where it went on a click elsewhere", () => {
  render(
    <>
      <Popup label="Columns">{() => <input aria-label="inside" />}</Popup>
      <input aria-label="outside" />
    </>,
  );
  fireEvent.click(screen.getByRole("button", { name: /Columns/ }));
  screen.getByLabelText("inside").focus();
  const outside = screen.getByLabelText("outside");
  outside.focus();
  fireEvent.focusIn(outside);
  expect(screen.queryByLabelText("inside")).toBeNull();
  expect(document.activeElement).toBe(outside);
});
