/**
 * Let React tell Fast Refresh of what it renders: when it is imported, since React's renderer looks
 * for that when it is, and modules of the app use the functions when they are.
 */

// @ts-expect-error it is the React plug-in's, and has no types
import { injectIntoGlobalHook } from '/@react-refresh';

injectIntoGlobalHook(window);
const target = /** @type {any} */ (window);
target.$RefreshReg$ = () => {};
target.$RefreshSig$ = () => (/** @type {unknown} */ type) => type;
