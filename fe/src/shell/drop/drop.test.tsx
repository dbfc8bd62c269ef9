import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { sendFile } from "../../api/drop";
import { chooseFiles } from ".";

vi.mock("../../api/drop", () => ({
  ApiError: class extends Error {},
  mostBytes: () => Promise.resolve(100),
  sendFile: vi.fn(),
}));

afterEach(() => vi.restoreAllMocks());

/** The next file input that is clicked has this file. */
function chosen(file: File): void {
  vi.spyOn(HTMLInputElement.prototype, "click").mockImplementation(function (
    this: HTMLInputElement,
  ) {
    Object.defineProperty(this, "files", { value: [file] });
    this.dispatchEvent(new Event("change"));
  });
}

it("leaves nothing in the page once chosen files were sent", async () => {
  let arrive = (_run: string) => {};
  vi.mocked(sendFile).mockReturnValueOnce(
    new Promise((resolve) => {
      arrive = resolve;
    }),
  );
  chosen(new File(["{}"], "a.json"));
  chooseFiles(new QueryClient());
  const status = () => document.querySelector('[role="status"]')?.textContent;
  await vi.waitFor(() => expect(status()).toContain("a.json"));
  arrive("dropped");
  await vi.waitFor(() => expect(document.body.childElementCount).toBe(0));
});

it("stays until what went wrong was read", async () => {
  chosen(new File(["x".repeat(101)], "large.json"));
  chooseFiles(new QueryClient());
  const alert = await vi.waitFor(() => {
    const found = document.querySelector('[role="alert"]');
    expect(found?.textContent).toContain("large.json");
    return found;
  });
  alert?.closest("dialog")?.querySelector("button")?.click();
  await vi.waitFor(() => expect(document.body.childElementCount).toBe(0));
});
