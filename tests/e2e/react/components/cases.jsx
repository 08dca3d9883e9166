/**
 * A case for every export of `react`, `react-dom` and `react-dom/client`, some of elements, and what
 * React's own fixtures try besides.
 */

import * as documents from "./documents";
import * as elements from "./elements";
import * as fixtures from "./fixtures";
import * as forms from "./forms";
import * as hooks from "./hooks";

const { useEffectCase, useStateCase, ...otherHooks } = hooks;
const { action, formAction, ActionState, useFormState, useFormStatus, requestFormReset } = forms;
const { domVersion, clientVersion, createRoot, hydrateRoot, ...others } = documents;
const { title, meta, stylesheet, style, asyncScript, slowParts, errorBoundary, ...dom } = others;

/** @param {string} prefix of their names */
const named = (prefix, cases) =>
  Object.fromEntries(Object.entries(cases).map(([name, each]) => [`${prefix}.${name}`, each]));

export const CASES = {
  ...named("react", {
    ...elements,
    ...otherHooks,
    useEffect: useEffectCase,
    useState: useStateCase,
  }),
  ...named("react-dom", {
    ...dom,
    useFormState,
    useFormStatus,
    requestFormReset,
    version: domVersion,
  }),
  ...named("react-dom.client", { createRoot, hydrateRoot, version: clientVersion }),
  ...named("form", { action, formAction, ActionState }),
  ...named("fixture", fixtures),
  ...named("element", { title, meta, stylesheet, style, asyncScript, slowParts, errorBoundary }),
};

/** In development the modules name their exports in another order on the server. */
export const NAMES = Object.keys(CASES).sort();
