import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Licences } from "./Licences";

it("shows the notices of every bundled package when it is opened", async () => {
  render(<Licences />);
  const details = screen.getByText("Licences of bundled software")
    .parentElement as HTMLDetailsElement;
  details.open = true;
  fireEvent(details, new Event("toggle"));
  const text = await screen.findByText(/^@tanstack\/query-core/m, { selector: "pre" });
  for (const name of ["react ", "react-dom ", "scheduler ", "@tanstack/table-core "]) {
    expect(text.textContent).toContain(`\n${name}`);
  }
  expect(text.textContent).toContain("Permission is hereby granted, free of charge");
});
