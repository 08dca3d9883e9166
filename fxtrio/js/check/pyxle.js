/**
 * What stands in `fx/client` for names of Pyxle's client module. Pure.
 *
 * The table for people is in `docs/guides/from-pyxle.md`.
 */

const ALWAYS = 'Leave it out';
const ATTRIBUTES = 'Write attributes={{ … }}';

/**
 * By the component or function and its property: a name, or a sentence that begins with a capital.
 *
 * @type {Record<string, Record<string, string>>}
 */
export const PROPERTIES = {
  Form: { pagePath: 'page', resetOnSuccess: 'reset' },
  Link: { passHref: ALWAYS, shallow: ALWAYS },
  Script: {
    async: ATTRIBUTES,
    crossOrigin: ATTRIBUTES,
    defer: ATTRIBUTES,
    integrity: ATTRIBUTES,
    module: ATTRIBUTES,
    noModule: ATTRIBUTES,
    onLoad: 'onReady',
    referrerPolicy: ATTRIBUTES,
  },
  Image: {
    blurDataURL: ALWAYS,
    fallbackSrc: "Write an 'onError' that changes the 'src'",
    lazy: "Leave it out: images load lazily unless they have 'priority'",
    loader: "Write the URL as 'src'",
    objectFit: 'Write style={{ objectFit: … }}',
    placeholder: ALWAYS,
    placeholderColor: 'Write style={{ background: … }}',
    quality: "Write the URL as 'src'",
  },
  navigate: { shallow: ALWAYS, updateHistory: ALWAYS },
  useAction: { onMutate: 'Do it before the call', pagePath: 'page' },
  useWebSocket: {
    maxRetries: "Set 'enabled: false' to close it",
    reconnect: "Leave it out: the hook reconnects; 'enabled: false' closes the connection",
  },
};

/** What `pyxle/client` exports and `fx/client` does not. @type {Record<string, string>} */
export const EXPORTS = {
  SlotProvider: "Leave it out: <Slot> finds what the page exports as 'slots'",
  getRouter: "Write import { navigate } from 'fx/client'",
  useSlot: 'Write <Slot name="…"> in the layout',
  useSlots: 'Write <Slot name="…"> in the layout',
};
