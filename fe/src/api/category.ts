/** What the time of a category of the steps was spent with; see docs/api.md, /api/category. */
import type { CategoryAnswer } from "./schema.gen";

export type CategoryTime = CategoryAnswer;
export type Category = CategoryAnswer["category"];
