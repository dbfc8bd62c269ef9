export { default } from "./index";
