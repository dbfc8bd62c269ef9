import { useEffect, useRef, useState } from "react";

/** A canvas with a pixel for every pixel of the screen, cleared. */
export function crisp(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio = window.devicePixelRatio || 1,
): CanvasRenderingContext2D | null {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context?.scale(ratio, ratio);
  return context;
}

/** The width of an element, 0 until it is known. */
export function useBoxWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}
