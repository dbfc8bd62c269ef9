import { afterEach, expect, it, vi } from "vitest";

vi.mock("./frame", () => ({ ancestorOrigins: vi.fn(() => []) }));
// The set-up of the tests has loaded the real one already.
vi.resetModules();
const { canOpenInEditor, editorLine, openInEditor } = await import("./editor");
const { ancestorOrigins } = await import("./frame");

const TENSORBOARD = "http://127.0.0.1:6006";
const around = (...origins: string[]) => vi.mocked(ancestorOrigins).mockReturnValue(origins);
const post = vi.spyOn(window.parent.parent, "postMessage").mockImplementation(() => {});

afterEach(() => post.mockReset());

it("knows VS Code by the frames around TensorBoard", () => {
  for (const origin of [
    "vscode-webview://1d3pc0kofcd8lal24sh1ngkk2ck2j9v5",
    "https://abc123.vscode-cdn.net",
    "https://abc123.vscode-webview.net",
  ]) {
    around(TENSORBOARD, origin);
    expect(canOpenInEditor()).toBe(true);
  }
  around(TENSORBOARD, "vscode-webview://1d3", "vscode-file://vscode-app");
  expect(canOpenInEditor()).toBe(true);
});

it("takes nothing else for VS Code", () => {
  for (const origins of [
    [],
    [TENSORBOARD],
    [TENSORBOARD, "https://vscode-cdn.net.evil.example"],
    [TENSORBOARD, "https://evilvscode-cdn.net"],
    [TENSORBOARD, "https://example.com"],
    [TENSORBOARD, "https://example.com", "vscode-webview://1d3"],
    ["vscode-webview://1d3"],
  ]) {
    around(...origins);
    expect(canOpenInEditor()).toBe(false);
  }
});

it("posts to the frame that embeds TensorBoard, and to no other frame", () => {
  around(TENSORBOARD, "vscode-webview://1d3", "vscode-file://vscode-app");
  openInEditor("/src/train.py", 12);
  expect(post).toHaveBeenCalledExactlyOnceWith(
    { filename: "/src/train.py", line: 11 },
    "vscode-webview://1d3",
  );
});

it("posts nothing where no frame of VS Code embeds TensorBoard", () => {
  around(TENSORBOARD);
  openInEditor("/src/train.py", 12);
  around(TENSORBOARD, "https://example.com", "vscode-webview://1d3");
  openInEditor("/src/train.py", 12);
  expect(post).not.toHaveBeenCalled();
});

it("counts lines from 0, but never sends 0, which the extension takes for none", () => {
  expect(editorLine(12)).toBe(11);
  expect(editorLine(2)).toBe(1);
  expect(editorLine(1)).toBe(1);
  expect(editorLine(0)).toBe(1);
});
