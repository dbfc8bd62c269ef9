/** Opening a source line in VS Code, whose TensorBoard extension listens for a message. */
import { ancestorOrigins } from "./frame";

const EDITOR_ORIGIN = /^vscode-webview:|^vscode-file:|\.vscode-cdn\.net$|\.vscode-webview\.net$/;

export function canOpenInEditor(): boolean {
  return editorOrigin() !== undefined;
}

/** Nearest first: TensorBoard, then the web view that embeds it and listens. Another page there learns no paths. */
function editorOrigin(): string | undefined {
  const origin = ancestorOrigins()[1];
  return origin !== undefined && EDITOR_ORIGIN.test(origin) ? origin : undefined;
}

/** `line` counts from 1, as in traces. */
export function openInEditor(filename: string, line: number): void {
  const target = editorOrigin();
  if (target === undefined) return;
  try {
    window.parent.parent.postMessage({ filename, line: editorLine(line) }, target);
  } catch {
    // No such frame, or an origin that cannot be addressed: the path can still be copied.
  }
}

/** The extension counts from 0 and drops the message when the number is 0. */
export function editorLine(line: number): number {
  return Math.max(1, line - 1);
}
