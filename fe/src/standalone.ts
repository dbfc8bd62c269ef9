/** The door of the stand-alone page, which calls render() itself. */
import { render } from ".";

const rendered = render();

// What opens files is fetched when something is dragged onto the page for the first time.
addEventListener(
  "dragenter",
  async () => {
    const client = await rendered;
    const { takeDropped } = await import("./shell/drop");
    takeDropped(client, true);
  },
  { once: true },
);
