/** Saving a file from the page. */
import { isEmbedded } from "./frame";

/** Sandboxed frames drop downloads without a word; copying is offered there instead. */
export function canSave(): boolean {
  return !isEmbedded();
}

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[\\/:*?"<>|]+/g, "_");
  link.click();
  // The browser reads the blob after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
