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
