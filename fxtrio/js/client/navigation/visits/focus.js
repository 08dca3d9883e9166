/** What people who do not see the screen learn of a navigation. */

const ANNOUNCER = 'fx-announcer';

/**
 * Move the keyboard focus to an element, also to one that takes none by itself.
 *
 * @param {Element} element
 */
export function focusOn(element) {
  const target = /** @type {HTMLElement} */ (element);
  const takesNone = target.getAttribute('tabindex') === null && target.tabIndex < 0;
  if (takesNone) {
    target.setAttribute('tabindex', '-1');
    target.addEventListener('blur', () => target.removeAttribute('tabindex'), { once: true });
  }
  target.focus({ preventScroll: true });
}

/**
 * Move the keyboard focus into a page that was navigated to: to what asks for it, to its heading,
 * or else to the top.
 *
 * @param {Document} document
 */
export function focusOnPage(document) {
  const target =
    document.querySelector('#fx-root [autofocus]') ??
    document.querySelector('#fx-root main h1') ??
    document.querySelector('#fx-root h1');
  if (target !== null) focusOn(target);
  if (target === null || document.activeElement !== target) focusOn(document.body); // it is hidden
}

/**
 * Have screen readers say the title of the page.
 *
 * @param {Document} document
 */
export function announce(document) {
  const region = document.getElementById(ANNOUNCER) ?? makeRegion(document);
  region.textContent =
    document.title || document.querySelector('h1')?.textContent || document.location.pathname;
}

/** @param {Document} document */
function makeRegion(document) {
  const region = document.createElement('div');
  region.id = ANNOUNCER;
  region.setAttribute('aria-live', 'assertive');
  region.setAttribute('aria-atomic', 'true');
  Object.assign(region.style, {
    position: 'absolute',
    width: '1px',
    height: '1px',
    overflow: 'hidden',
    clipPath: 'inset(50%)',
    whiteSpace: 'nowrap',
  });
  document.body.append(region);
  return region;
}
