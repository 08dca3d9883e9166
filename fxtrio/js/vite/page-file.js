/** What the names of page files end with. */

/**
 * Whether a file is a page file as far as its name tells: of Markdown files, those are page files
 * that the build has a client half of.
 *
 * @param {string} file
 */
export function isPageFile(file) {
  return /\.(fxl|md)$/.test(file);
}

/**
 * Return the page file of a module of the development server; other modules as they are.
 *
 * @param {string} id
 */
export function pageFileOf(id) {
  return id.replace(/\.(fxl|md)\.tsx$/, '.$1');
}
