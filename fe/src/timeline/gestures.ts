/** What pointer and wheel do on the canvas. */
import { whole } from "./camera";
import type { Hit } from "./kinds/renderer";
import { type Mark, sliceOf } from "./scene";
import type { Stage } from "./stage";

export type Tool = "pan" | "range" | "measure";

interface Handlers {
  readonly tool: () => Tool;
  /** `extend`: with Shift, which keeps what was selected before as the other end. */
  readonly onPick: (hit: Hit | null, extend: boolean) => void;
  readonly onOpen: (hit: Hit) => void;
  /** `done`: the button was let go. */
  readonly onMark: (mark: Mark | null, done: boolean) => void;
  readonly onHover: (hit: Hit | null, x: number, y: number) => void;
}

/** Moved no farther than this, it was a click. */
const CLICK = 3;
/** Clicks that follow each other so soon are a double click. */
const DOUBLE_MS = 500;
/** Of a wheel's distance, pixels: how much closer one turn comes. */
const WHEEL = 0.0022;
const LINE = 18;

interface Gestures {
  /** What lies under the pointer may be something else: the picture has moved. */
  readonly again: () => void;
  readonly stop: () => void;
}

/** Listens until it is stopped. */
export function gestures(canvas: HTMLCanvasElement, stage: Stage, handlers: Handlers): Gestures {
  /** Where the pointer is, of the window; null while it is elsewhere. */
  let pointer: { clientX: number; clientY: number } | null = null;
  let drag: {
    x: number;
    y: number;
    lastX: number;
    lastY: number;
    mark: Mark["kind"] | null;
    from: number;
  } | null = null;
  /** What was clicked on last: the details that open beside the picture may move it away from a second click. */
  let clicked: { hit: Hit | null; at: number; x: number; y: number } | null = null;
  const place = (event: { clientX: number; clientY: number }): [number, number] => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };

  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const [x, y] = place(event);
    const tool = handlers.tool();
    const mark = event.shiftKey ? "range" : tool === "pan" ? null : tool;
    drag = { x, y, lastX: x, lastY: y, mark, from: mark ? stage.snap(x, y) : 0 };
    canvas.setPointerCapture(event.pointerId);
    handlers.onHover(null, 0, 0);
  };

  const again = () => {
    if (!pointer || drag) return;
    const hit = stage.hit(...place(pointer));
    stage.hover(sliceOf(hit?.picked));
    handlers.onHover(hit, pointer.clientX, pointer.clientY);
  };

  const onMove = (event: PointerEvent) => {
    const [x, y] = place(event);
    pointer = { clientX: event.clientX, clientY: event.clientY };
    stage.pointAt(x);
    if (!drag) return again();
    if (Math.hypot(x - drag.x, y - drag.y) <= CLICK) return;
    if (drag.mark) {
      handlers.onMark(
        { kind: drag.mark, window: whole({ start: drag.from, end: stage.snap(x, y) }) },
        false,
      );
    } else {
      stage.pan(drag.lastX - x);
      stage.scroll(drag.lastY - y);
    }
    drag.lastX = x;
    drag.lastY = y;
  };

  const isSecond = (event: MouseEvent) =>
    clicked !== null &&
    event.timeStamp - clicked.at < DOUBLE_MS &&
    Math.hypot(event.clientX - clicked.x, event.clientY - clicked.y) <= CLICK;

  const onUp = (event: PointerEvent) => {
    if (!drag) return;
    const [x, y] = place(event);
    const { mark, from } = drag;
    const moved = Math.hypot(x - drag.x, y - drag.y) > CLICK;
    drag = null;
    if (!moved) {
      const hit = isSecond(event) && clicked ? clicked.hit : stage.hit(x, y);
      clicked = { hit, at: event.timeStamp, x: event.clientX, y: event.clientY };
      handlers.onPick(hit, event.shiftKey);
    } else if (mark)
      handlers.onMark({ kind: mark, window: whole({ start: from, end: stage.snap(x, y) }) }, true);
  };

  const onCancel = () => {
    drag = null;
  };
  const onDouble = () => {
    if (clicked?.hit) handlers.onOpen(clicked.hit);
  };
  /** A second click where the details stand now. */
  const onClick = (event: MouseEvent) => {
    if (event.target === canvas || !isSecond(event)) return;
    event.stopPropagation();
    event.preventDefault();
    onDouble();
  };
  const onLeave = () => {
    pointer = null;
    stage.pointAt(null);
    stage.hover(null);
    handlers.onHover(null, 0, 0);
  };

  const ending = new AbortController();
  const { signal } = ending;
  // A listener of React's could not keep the page from zooming.
  canvas.addEventListener("wheel", (event) => onWheel(event, stage, place(event)[0]), {
    passive: false,
    signal,
  });
  canvas.addEventListener("pointerdown", onDown, { signal });
  canvas.addEventListener("pointermove", onMove, { signal });
  canvas.addEventListener("pointerup", onUp, { signal });
  canvas.addEventListener("pointercancel", onCancel, { signal });
  canvas.addEventListener("pointerleave", onLeave, { signal });
  canvas.addEventListener("dblclick", onDouble, { signal });
  document.addEventListener("click", onClick, { capture: true, signal });
  return { again, stop: () => ending.abort() };
}

function onWheel(event: WheelEvent, stage: Stage, x: number): void {
  const unit = event.deltaMode === 0 ? 1 : LINE;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    stage.zoom(Math.exp(event.deltaY * unit * WHEEL), x);
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    stage.pan((event.deltaX || event.deltaY) * unit);
  }
}
