/** Whether the page is visible. TensorBoard keeps the frame of an inactive tab alive and merely hides it. */

/**
 * `page` is the element that fills the frame. TensorBoard hides a frame by giving it no height, so
 * the element needs a smallest height: of something without any area a browser cannot say how much
 * of it is seen.
 */
export function watchVisibility(page: Element, callback: (visible: boolean) => void): () => void {
  let onScreen = true;
  const report = () => callback(onScreen && !document.hidden);
  document.addEventListener("visibilitychange", report);

  let observer: IntersectionObserver | undefined;
  if (typeof IntersectionObserver === "function" && window.parent !== window) {
    observer = new IntersectionObserver(
      (entries) => {
        onScreen = (entries.at(-1)?.intersectionRatio ?? 1) > 0;
        report();
      },
      { threshold: 0.001 },
    );
    observer.observe(page);
  }
  return () => {
    document.removeEventListener("visibilitychange", report);
    observer?.disconnect();
  };
}
