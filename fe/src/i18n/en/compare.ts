export const compare = { title: "compare" };
