/** What must be there before React and the app's modules are. */

// @ts-expect-error the React plug-in makes it
import { injectIntoGlobalHook } from '/@react-refresh';

/** Let React tell Fast Refresh of what it renders. */
export function prepare() {
  injectIntoGlobalHook(window);
  const target = /** @type {any} */ (window);
  target.$RefreshReg$ = () => {};
  target.$RefreshSig$ = () => (/** @type {unknown} */ type) => type;
}
