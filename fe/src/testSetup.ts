/** Before every test: the views are known, as on the page. After the last one nothing waits to be written. */
import { afterAll } from "vitest";
import { paramStore } from "./state/store";
import "./views/registry";

afterAll(() => {
  if (typeof window !== "undefined") paramStore().flush();
});
