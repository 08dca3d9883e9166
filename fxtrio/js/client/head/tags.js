/**
 * Marks the elements of the document that belong to the app; on `html` and `body` it names the
 * attributes that do.
 */
export const MARK = 'data-fx-head';

/** Elements of a head, and the start tags of the document: what servers send and clients take. */
export const HEAD_TAGS = new Set([
  'title',
  'meta',
  'link',
  'base',
  'style',
  'script',
  'noscript',
  'html',
  'body',
]);
