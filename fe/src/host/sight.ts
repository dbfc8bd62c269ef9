/** What the user went to is brought into sight; what is chosen in the view itself leaves the view where it is. */

// The address may name something from the start.
let isAwaited = true;
let stop = (): void => {};

for (const kind of ["pointerdown", "keydown", "wheel"]) {
  globalThis.addEventListener?.(
    kind,
    () => {
      isAwaited = false;
      stop();
    },
    { capture: true, passive: true },
  );
}

/** Whatever is selected next is to come into sight. */
export function awaitInSight(): void {
  isAwaited = true;
}

/** Scrolls to an element, if it is awaited, and again while what is above it grows, until the user does something. */
export function bringIntoSight(find: () => Element | null, within: Element): void {
  if (!isAwaited) return;
  isAwaited = false;
  stop();
  const show = () => find()?.scrollIntoView({ block: "nearest" });
  const observer = new ResizeObserver(show);
  observer.observe(within);
  stop = () => observer.disconnect();
}
