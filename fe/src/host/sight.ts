/** What the user went to is brought into sight; what is chosen in the view itself leaves the view where it is. */

let awaited: string | null = null;
let stop = (): void => {};

for (const kind of ["pointerdown", "keydown", "wheel"]) {
  globalThis.addEventListener?.(
    kind,
    () => {
      awaited = null;
      stop();
    },
    { capture: true, passive: true },
  );
}

/** What has this name is to come into sight when it is selected. */
export function awaitInSight(name: string | null): void {
  awaited = name;
}

/**
 * Scrolls to an element, if its name is awaited, and again while what is above it grows, until the user does something.
 * Without a name: of a table that nothing but what is gone to is selected in.
 */
export function bringIntoSight(
  name: string | null,
  find: () => Element | null,
  within: Element,
): void {
  if (awaited === null || (name !== null && name !== awaited)) return;
  awaited = null;
  stop();
  const show = () => find()?.scrollIntoView({ block: "nearest" });
  const observer = new ResizeObserver(show);
  observer.observe(within);
  stop = () => observer.disconnect();
}
