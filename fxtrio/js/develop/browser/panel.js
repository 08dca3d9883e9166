/** The dialog at the foot of the page that the overlay fills: where the keyboard focus is. */

const FOCUSABLE = 'a[href], button, summary, section > pre, details[open] > pre';

export class Panel {
  #document;
  #name;
  /** @type {any} what had the focus before the panel came */
  #before = null;

  /**
   * @param {Document} document
   * @param {string} name of the element whose shadow tree holds the panel
   */
  constructor(document, name) {
    this.#document = document;
    this.#name = name;
  }

  get #host() {
    return this.#document.querySelectorAll(this.#name)[0];
  }

  /**
   * Call `draw`, which takes the panel away and may show it anew. The focus goes to a panel that
   * comes, stays in one that is drawn again, and returns to the page when the panel has gone.
   *
   * @param {() => void} draw
   */
  around(draw) {
    const was = this.#host;
    const had = was !== undefined && this.#document.activeElement === was;
    if (was === undefined) this.#before = this.#document.activeElement;
    draw();
    const is = this.#host;
    if (is !== undefined) {
      if (was === undefined || had) this.#box(is)?.focus();
    } else if (had) this.#before?.focus?.();
  }

  /** @param {Element} host */
  #box(host) {
    return /** @type {HTMLElement | undefined} */ (host.shadowRoot?.querySelector('div'));
  }

  /**
   * Return a dialog: it takes the focus, and Tab stays inside.
   *
   * @param {string} label
   * @param {Element[]} bar links and buttons at its top
   * @param {Element[]} sections
   */
  boxOf(label, bar, sections) {
    const box = this.#document.createElement('div');
    const top = this.#document.createElement('nav');
    top.append(...bar);
    box.append(top, ...sections);
    box.setAttribute('role', 'dialog');
    box.setAttribute('aria-label', label);
    box.setAttribute('tabindex', '-1');
    box.addEventListener('keydown', (event) => {
      if (event.key !== 'Tab') return;
      const stops = /** @type {HTMLElement[]} */ ([...box.querySelectorAll(FOCUSABLE)]);
      const active = /** @type {ShadowRoot} */ (box.getRootNode()).activeElement;
      const [first, last] = [stops[0], stops.at(-1)];
      if (active !== (event.shiftKey ? first : last) && active !== box) return;
      event.preventDefault();
      (event.shiftKey ? last : first)?.focus();
    });
    return box;
  }
}
