/** HTML that components add to the document of their render: styles that they have collected. */

import { renderToStaticMarkup } from 'react-dom/server.node';

/** What the components of one render add. */
export class Inserted {
  /** @type {(() => import('react').ReactNode)[]} */
  #callbacks = [];

  /** @param {() => import('react').ReactNode} callback returns what is new since its last call */
  add(callback) {
    this.#callbacks.push(callback);
  }

  /** Return what is new. */
  html() {
    let html = '';
    for (const callback of this.#callbacks) html += renderToStaticMarkup(callback());
    return html;
  }
}
