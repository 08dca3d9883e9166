// Keeps the page of jobs up to date. It is complete without this file.

const PAUSE = 2000; // milliseconds between two looks

/** Show what a page holds; errors that somebody reads stay open. */
function show(text) {
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  const next = fresh.querySelector('main');
  if (next === null) return; // somebody else answers: signed out, or a proxy
  for (const open of document.querySelectorAll('details[open]')) {
    next.querySelector(`#${open.id}`)?.setAttribute('open', '');
  }
  const focused = document.activeElement?.getAttribute('aria-label');
  document.querySelector('main').replaceWith(next);
  document.querySelector('#taken').textContent = fresh.querySelector('#taken').textContent;
  if (focused) next.querySelector(`[aria-label="${focused}"]`)?.focus();
}

async function look() {
  const began = performance.now();
  if (!document.hidden) {
    const answer = await fetch(location.href).catch(() => null);
    if (answer?.redirected) location.reload(); // to sign in
    else if (answer?.ok) show(await answer.text());
  }
  // A database that has much to count is not asked all the time.
  setTimeout(look, Math.max(PAUSE, 10 * (performance.now() - began)));
}

setTimeout(look, PAUSE);
