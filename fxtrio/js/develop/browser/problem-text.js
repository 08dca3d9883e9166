/** One thing that is wrong, as elements for the overlay and as text to copy. */

/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */

/**
 * Return where something is wrong, relative to the project where it is there.
 *
 * @param {OverlayProblem} problem
 * @param {string} root absolute path of the project
 */
function placeOf({ file, line, column }, root) {
  const own = root !== '' && file.startsWith(`${root}/`);
  const name = own ? file.slice(root.length + 1) : file;
  return line > 0 ? `${name}:${line}:${column || 1}` : name;
}

/**
 * @param {OverlayProblem} problem
 * @param {string} root
 */
function textOf(problem, root) {
  const { title, message, frame, trace = '', remedy = '', request = '' } = problem;
  return [title, message, placeOf(problem, root), frame, trace, remedy, request]
    .filter(Boolean)
    .map((text) => relative(text, root))
    .join('\n');
}

/**
 * Return the button that copies problems as text.
 *
 * @param {Document} document
 * @param {OverlayProblem[]} problems
 * @param {string} root
 */
export function copyOf(document, problems, root) {
  const copy = elementOf(document, 'button', 'Copy');
  copy.addEventListener('click', () => {
    const text = problems.map((one) => textOf(one, root)).join('\n\n');
    void navigator.clipboard.writeText(text);
    copy.textContent = 'Copied';
  });
  return copy;
}

/**
 * Return text with the project's files named relative to it.
 *
 * @param {string} text
 * @param {string} root
 */
function relative(text, root) {
  return root === '' ? text : text.replaceAll(`${root}/`, '');
}

/**
 * @param {Document} document
 * @param {OverlayProblem} problem
 * @param {string} root
 * @param {string} editor URL that opens a place, with `{file}`, `{line}` and `{column}`
 */
export function sectionOf(document, problem, root, editor) {
  const { title, message, file, line, column, remedy = '', request = '' } = problem;
  const [frame, trace] = [problem.frame, problem.trace ?? ''].map((text) => relative(text, root));
  const section = document.createElement('section');
  section.append(
    elementOf(document, 'h2', relative(title, root)),
    elementOf(document, 'p', relative(message, root)),
  );
  if (file !== '') {
    const link = elementOf(document, 'a', placeOf(problem, root));
    const url = editor
      .replace('{file}', encodeURI(file))
      .replace('{line}', String(line || 1))
      .replace('{column}', String(column || 1));
    link.setAttribute('href', url);
    section.append(link);
  }
  if (frame !== '') section.append(codeOf(document, frame));
  if (trace !== '') {
    const folded = document.createElement('details');
    folded.append(elementOf(document, 'summary', 'Details'), codeOf(document, trace));
    if (frame === '') folded.setAttribute('open', '');
    section.append(folded);
  }
  if (remedy !== '') section.append(elementOf(document, 'em', remedy));
  if (request !== '') section.append(elementOf(document, 'small', `Request ${request}`));
  return section;
}

/**
 * Return lines of code that the keyboard can scroll.
 *
 * @param {Document} document
 * @param {string} text
 */
function codeOf(document, text) {
  const code = elementOf(document, 'pre', text);
  code.setAttribute('tabindex', '0');
  return code;
}

/**
 * @param {Document} document
 * @param {string} name
 * @param {string} text
 */
export function elementOf(document, name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/**
 * Return a link to where the time went: of the request that failed, if there is one.
 *
 * @param {Document} document
 * @param {OverlayProblem[]} problems
 * @param {string} url of the page of all requests
 */
export function timingsOf(document, problems, url) {
  const link = /** @type {HTMLAnchorElement} */ (elementOf(document, 'a', 'Timings'));
  const request = problems.find((problem) => problem.request)?.request;
  link.href = request ? `${url}#r${request}` : url;
  link.target = '_blank';
  return link;
}
