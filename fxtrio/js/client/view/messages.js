/** The framework's own messages in browsers, in the language of the page. */

/** The function of the app. @type {{ translate?: import('../index.js').Translate }} */
const chosen = {};

/**
 * Let a function translate the messages that browsers show without the server. The last one that
 * is given counts.
 *
 * @param {import('../index.js').Translate} by
 */
export function translateMessages(by) {
  chosen.translate = by;
}

/**
 * Return a message as visitors read it. Where the function of the app fails, that is reported,
 * and the message stays as it is.
 *
 * @param {string} message
 * @returns {string}
 */
export function translated(message) {
  if (chosen.translate === undefined) return message;
  try {
    return chosen.translate(message, document.documentElement.lang) ?? message;
  } catch (error) {
    reportError(error);
    return message;
  }
}
