const VALUE = 'data 0';

export function load() {
  return { value: VALUE };
}
