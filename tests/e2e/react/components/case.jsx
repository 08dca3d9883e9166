/** What each case shows: a button to press, and what came of it: "begun" at first, then "done". */

export function Case({ act, done, children }) {
  return (
    <section>
      <button id="act" type="button" onClick={act}>
        act
      </button>
      <output id="seen">{done ? "done" : "begun"}</output>
      {children}
    </section>
  );
}
