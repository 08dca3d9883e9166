/**
 * The texts of stylesheets, for the messages that tell browsers of their changes: asking for them
 * would take a browser as long as all that comes before it.
 */

/** @typedef {Map<string, { id: string, text: string }>} Styles by URL; `id` as Vite's client has it */

/** What a module of Vite is made of that puts a stylesheet in its place, and does nothing else. */
const TEXT = /^const __vite__css = (".*")$/m;
const PLAIN = /^import\.meta\.hot\.accept\(\);?$/m;

/** The longest text that a message brings (characters). */
const LONGEST = 100_000;

/**
 * Let browsers learn of the change of a stylesheet together with its text.
 *
 * @param {string} file
 * @param {import('vite').DevEnvironment} client
 * @param {Pick<import('../browsers.js').Browsers, 'hold' | 'release'>} browsers
 * @param {() => Promise<void>} tell lets Vite tell of it
 */
export async function withText(file, client, browsers, tell) {
  browsers.hold();
  /** @type {Styles} */
  let styles = new Map();
  try {
    await tell();
    styles = await stylesOf(client, file);
  } finally {
    browsers.release(styles);
  }
}

/**
 * Return the stylesheets of a file that has changed, as browsers get them; none that is wrong, or
 * that exports something.
 *
 * @param {import('vite').DevEnvironment} client
 * @param {string} file
 * @returns {Promise<Styles>}
 */
export async function stylesOf(client, file) {
  /** @type {Styles} */
  const styles = new Map();
  for (const { id, url, type } of client.moduleGraph.getModulesByFile(file) ?? []) {
    if (id === null || type === 'asset') continue; // only others have its text in theirs
    const made = await client.transformRequest(url).catch(() => null); // whoever asks is told why
    const [, text] = (made !== null && PLAIN.test(made.code) && TEXT.exec(made.code)) || [];
    if (text === undefined || text.length > LONGEST) continue;
    styles.set(url, { id, text: JSON.parse(text) });
  }
  return styles;
}
