/** The door of the stand-alone page, which has nobody to call render() for it. */
import { render } from ".";

void render();
