/** The door of the stand-alone page, which calls render() itself. */
import { render } from ".";

void render();
