/** The first steps. Only `fx dev` shows them: delete this file, and its line in the page. */

const DOCS = "https://github.com/fxtrio/fxtrio/blob/main/docs";
const STEPS = [
  ["tutorial.md", "Take the tutorial", "A small app, step by step."],
  ["guides/database.md", "Add a database", "One setting and a SQL file."],
  ["guides/deployment.md", "Put it online", "Build once, serve anywhere."],
];

export function Welcome() {
  return (
    <section aria-labelledby="welcome">
      <h2 id="welcome">__NAME__ is running</h2>
      <p className="lead">
        This page is <code>pages/index.fxl</code>: Python above, React below.
        Change a word, save the file, and watch the page update.
      </p>
      <ul className="steps">
        {STEPS.map(([page, title, text]) => (
          <li key={page}>
            <a href={`${DOCS}/${page}`} className="step">
              <b className="block">{title}</b>
              <span className="small">{text}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
