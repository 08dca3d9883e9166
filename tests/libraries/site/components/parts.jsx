/** What a page is pressed at, and what says that it has worked. */

export function Act({ ref, ...props }) {
  return (
    <button type="button" ref={ref} {...props} id="act">
      Act
    </button>
  );
}

export function Seen({ done }) {
  return <output id="seen">{done ? "done" : "ready"}</output>;
}
