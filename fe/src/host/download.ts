/** Saving a file from the page. */
import { isEmbedded } from "./frame";

/** Sandboxed frames drop downloads without a word; copying is offered there instead. */
export function canSave(): boolean {
  return !isEmbedded();
}

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  saveFrom(url, name.replace(/[\\/:*?"<>|]+/g, "_"));
  // The browser reads the blob after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves what an address answers, under the name that the server gives it unless there is one. */
export function saveFrom(address: string, name = ""): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}
