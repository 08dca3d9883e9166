export function load() {
  return { message: 'Hello' };
}
