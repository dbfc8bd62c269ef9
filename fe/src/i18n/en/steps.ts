export const steps = { title: "steps" };
