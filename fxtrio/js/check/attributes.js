/** Attributes that components of `fx/client` pass on to their elements, as React calls them. Pure. */

const EVERY = `about accessKey autoCapitalize autoCorrect autoFocus autoSave children className
  color content contentEditable contextMenu dangerouslySetInnerHTML datatype defaultChecked
  defaultValue dir draggable enterKeyHint exportparts hidden id inert inlist inputMode is itemID
  itemProp itemRef itemScope itemType key lang nonce part popover popoverTarget
  popoverTargetAction prefix property radioGroup ref rel resource results rev role security slot
  spellCheck style suppressContentEditableWarning suppressHydrationWarning tabIndex title
  translate typeof unselectable vocab`;

/** @type {Record<string, string>} */
const OF = {
  a: 'download href hrefLang media ping referrerPolicy target type',
  form: 'acceptCharset action autoComplete encType method name noValidate target',
  img: `alt crossOrigin decoding fetchPriority height loading referrerPolicy sizes src srcSet
    useMap width`,
};

/**
 * Return the attributes of an element, without those that begin with `on`, `aria-` or `data-`.
 *
 * @param {string} element
 * @returns {string[]}
 */
export function attributesOf(element) {
  return `${EVERY} ${Object.hasOwn(OF, element) ? OF[element] : ''}`.trim().split(/\s+/);
}
