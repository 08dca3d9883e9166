/** How the overlay looks, whatever the page's own styles are. */

export const styles = `
  :host {
    all: initial; color-scheme: dark;
  }
  :focus-visible { outline: 2px solid #a5b4fc; outline-offset: 2px; }
  div {
    position: fixed; inset: auto 0 0; z-index: 2147483647; max-height: 60vh; overflow: auto;
    padding: 0 1.5rem 1.5rem; border-top: .25rem solid #fda29b;
    background: #14151b; color: #edeff3; font: 1rem/1.6 system-ui, sans-serif;
    box-shadow: 0 -1rem 3rem rgb(0 0 0 / .35);
  }
  div:focus { outline: none; }
  @media (max-width: 40rem) { div { padding: 0 1rem 1rem; max-height: 75vh; } }
  nav {
    position: sticky; inset-block-start: 0; display: flex; justify-content: end; gap: .5rem;
    padding-block: .75rem; background: #14151b;
  }
  button {
    min-height: 2.25rem; padding: 0 .875rem; border: 1px solid #7d8597; border-radius: .5rem;
    background: #20232c; color: inherit; font: .875rem/1.6 system-ui, sans-serif; cursor: pointer;
  }
  button:hover { border-color: #edeff3; }
  :host(fx-badge) > button {
    position: fixed; inset: auto auto .75rem .75rem; z-index: 2147483647;
    border-color: #fda29b; background: #14151b; color: #fda29b;
  }
  section { max-width: 60rem; margin: 0 auto; }
  section + section { margin-top: 2rem; padding-top: 1.5rem; border-top: 1px solid #2b303b; }
  h2 { margin: 0; font-size: 1.125rem; color: #fda29b; overflow-wrap: anywhere; }
  em { display: block; margin: .75rem 0 0; color: #b9f6ca; font-style: normal; }
  details { margin: .75rem 0 0; }
  summary { color: #a6aebd; font-size: .875rem; cursor: pointer; }
  summary:hover { color: #edeff3; }
  ol { margin: .5rem 0 0; padding: 0; list-style: none; font-size: .8125rem; }
  li { overflow-wrap: anywhere; }
  li i { display: block; height: .375rem; background: #5eb98b; }
  small { display: block; margin: .5rem 0 0; color: #a6aebd; font-size: .8125rem; }
  p { margin: .5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
  a { color: #a5b4fc; overflow-wrap: anywhere; }
  nav a { margin-inline-end: auto; line-height: 2.25rem; }
  section a::after { content: " — open in the editor"; color: #a6aebd; }
  pre {
    margin: .75rem 0 0; padding: .875rem 1.125rem; overflow-x: auto; border-radius: .625rem;
    border: 1px solid #2b303b; background: #1b1e26;
    font: .875rem/1.6 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  }
  section > pre { white-space: pre; overflow-wrap: normal; }
`;
