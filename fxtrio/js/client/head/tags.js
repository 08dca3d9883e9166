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
