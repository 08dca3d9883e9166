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

/** Longest time that messages wait for a text (ms); after it, browsers ask for the stylesheet. */
const LONGEST_MS = 300;

/**
 * Return changes of files with those of stylesheets at the end: their plug-ins may take a while.
 *
 * @template {{ file: string }} Change
 * @param {Change[]} changes
 * @param {(file: string) => boolean} isStyle
 */
export function stylesLast(changes, isStyle) {
  return changes.toSorted((a, b) => Number(isStyle(a.file)) - Number(isStyle(b.file)));
}

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
  /** @type {number | NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<Styles>} */
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, LONGEST_MS, new Map());
  });
  const sent = tell();
  const styles = sent.then(() => stylesOf(client, file)).catch(() => new Map());
  browsers.release(await Promise.race([styles, timeout]));
  clearTimeout(timer);
  await sent;
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
    const compiled = await client.transformRequest(url).catch(() => null); // whoever asks is told why
    const [, json] =
      (compiled !== null && PLAIN.test(compiled.code) && TEXT.exec(compiled.code)) || [];
    const text = json === undefined ? null : JSON.parse(json);
    if (text !== null && text.length <= LONGEST) styles.set(url, { id, text });
  }
  return styles;
}
