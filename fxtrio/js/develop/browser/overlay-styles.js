/** How the overlay looks, whatever the page's own styles are. */

export const styles = `
  :host { all: initial; }
  div {
    position: fixed; inset: 0; z-index: 2147483647; overflow: auto; padding: 2rem;
    background: #14131a; color: #ecebf2; font: 1rem/1.6 system-ui, sans-serif;
  }
  @media (max-width: 40rem) { div { padding: 1rem; } }
  :host(fx-badge) > button {
    position: fixed; float: none; inset: auto auto .75rem .75rem; z-index: 2147483647;
    border-color: #fda29b; background: #14131a; color: #fda29b;
  }
  section { max-width: 60rem; margin: 0 auto 2rem; }
  h2 { margin: 0; font-size: 1.25rem; color: #fda29b; }
  button {
    position: sticky; inset-block-start: 0; float: inline-end; padding: .25rem .75rem;
    border: 1px solid #6b6877; border-radius: .5rem; background: #25232d; color: inherit;
    font: .875rem/1.6 system-ui, sans-serif; cursor: pointer;
  }
  em { display: block; margin: .75rem 0 0; color: #b9f6ca; font-style: normal; }
  small { display: block; margin: .5rem 0 0; color: #a5a3b3; font-size: .8125rem; }
  p { margin: .5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
  a { color: #a5b4fc; overflow-wrap: anywhere; }
  pre {
    margin: .75rem 0 0; padding: 1rem 1.25rem; overflow-x: auto; border-radius: .75rem;
    border-inline-start: .25rem solid #fda29b; background: #25232d;
    font: .875rem/1.6 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere;
  }
`;
