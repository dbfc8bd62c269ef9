/** From numbers to what they are made of. Not a part of the first load. */
export { CategoryPanel } from "./CategoryPanel";
