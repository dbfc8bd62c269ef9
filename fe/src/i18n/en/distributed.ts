export const distributed = { title: "distributed" };
