export function Badge() {
  return <b id="badge">badge 0</b>;
}
