/** What a saved picture says of its origin: trace, steps, verdict. The shell knows it, and charts write it. */

let lines: () => readonly string[] = () => [];

/** `current`: asked when a picture is saved. */
export function setCaption(current: () => readonly string[]): void {
  lines = current;
}

export function captionLines(): readonly string[] {
  return lines();
}
