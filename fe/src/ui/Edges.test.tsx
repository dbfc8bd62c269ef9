import { render } from "@testing-library/react";
import { createRef } from "react";
import { expect, test } from "vitest";
import { Edges, moreOf } from "./Edges";

test.each([
  [0, 500, ""],
  [0, 800, "end"],
  [120, 800, "start end"],
  [300, 800, "start"],
  // As a zoomed page has it: the end is reached, but for a fraction.
  [299.4, 800, "start"],
])("scrolled by %d of %d wide in 500", (scrollLeft, scrollWidth, more) => {
  expect(moreOf({ scrollLeft, scrollWidth, clientWidth: 500 })).toBe(more);
});

test("scrolling is heard", () => {
  const scroller = createRef<HTMLDivElement>();
  const { container } = render(
    <Edges scroller={scroller}>
      <div ref={scroller} />
    </Edges>,
  );
  const frame = container.firstElementChild as HTMLElement;
  const element = scroller.current as HTMLDivElement;
  expect(frame.dataset.more).toBe("");
  Object.defineProperties(element, { scrollWidth: { value: 800 }, clientWidth: { value: 500 } });
  element.dispatchEvent(new Event("scroll"));
  expect(frame.dataset.more).toBe("end");
});
