/**
 * How React's renderer is bundled for browsers. It creates errors when it is loaded. While developer
 * tools are open, V8 then parses each function of their stacks once more, for its places: the file,
 * the function of the module, and the one that React has in it, which are a megabyte each. The file
 * has nothing in it that runs, and the two functions are one, so that it is parsed once.
 */

/** How React's files for development begin, which are one function each, and how they end. */
const OPENING = /^"production" !== process\.env\.NODE_ENV &&\s+\(function \(\) \{$/m;
const CLOSING = /\}\)\(\);\s*$/;

/** Its file, and what it needs. */
export const RENDERER_GROUP = {
  name: 'renderer',
  test: /\/node_modules\/react-dom\//,
  priority: 1,
};

/** A plug-in of Rolldown. */
export const rendererPlugin = {
  name: 'fx:renderer',
  transform: {
    filter: { id: /\/react-dom-client\.development\.js$/ },
    handler: (/** @type {string} */ code) =>
      OPENING.test(code) && CLOSING.test(code)
        ? code.replace(OPENING, '').replace(CLOSING, '')
        : null,
  },
};
