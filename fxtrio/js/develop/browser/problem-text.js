/** One thing that is wrong, as elements for the overlay and as text to copy. */

/** @typedef {import('../settings.js').Shown} Shown */

/**
 * Return where something is wrong, relative to the project where it is there.
 *
 * @param {Shown} problem
 * @param {string} root absolute path of the project
 */
function placeOf({ file, line, column }, root) {
  const own = root !== '' && file.startsWith(`${root}/`);
  const shown = own ? file.slice(root.length + 1) : file;
  return line > 0 ? `${shown}:${line}:${column || 1}` : shown;
}

/**
 * @param {Shown} problem
 * @param {string} root
 */
export function textOf(problem, root) {
  const { title, message, frame, remedy = '', request = '' } = problem;
  return [title, message, placeOf(problem, root), frame, remedy, request]
    .filter(Boolean)
    .join('\n');
}

/**
 * @param {Document} document
 * @param {Shown} problem
 * @param {string} root
 * @param {string} editor URL that opens a place, with `{file}`, `{line}` and `{column}`
 */
export function sectionOf(document, problem, root, editor) {
  const { title, message, file, line, column, frame, remedy = '', request = '' } = problem;
  const section = document.createElement('section');
  section.append(elementOf(document, 'h2', title), elementOf(document, 'p', message));
  if (file !== '') {
    const link = elementOf(document, 'a', placeOf(problem, root));
    const url = editor
      .replace('{file}', encodeURI(file))
      .replace('{line}', String(line || 1))
      .replace('{column}', String(column || 1));
    link.setAttribute('href', url);
    section.append(link);
  }
  if (frame !== '') {
    const code = elementOf(document, 'pre', frame);
    code.setAttribute('tabindex', '0');
    section.append(code);
  }
  if (remedy !== '') section.append(elementOf(document, 'em', remedy));
  if (request !== '') section.append(elementOf(document, 'small', `Request ${request}`));
  return section;
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
