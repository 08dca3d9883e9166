/**
 * What is added to Vite's client, in one file: modules of workers import that client too, so that
 * nothing here needs a document. What every document loads shares it.
 */

export { hotSocket, standing, timingOfDocument, whenReplaced } from '../browser/socket.js';
export { follow, isUnfetched, versions } from '../browser/versions.js';
