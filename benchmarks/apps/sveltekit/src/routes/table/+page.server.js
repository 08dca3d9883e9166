const ROWS = Array.from({ length: 200 }, (_, index) => ({
  id: index + 1,
  name: `Person ${index + 1}`,
  email: `person${index + 1}@example.com`,
  amount: (index + 1) * 1.25,
}));

export function load() {
  return { rows: ROWS };
}
