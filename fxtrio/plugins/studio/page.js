// Keeps a page of Studio up to date. It is complete without this file.

let showing = false;

/** Show what the page holds now; what somebody has opened stays open. */
async function show() {
  // What somebody writes or reads is not replaced.
  if (showing || document.hidden || document.querySelector('main form')) return;
  showing = true;
  const answer = await fetch(location.href).catch(() => null);
  if (answer?.redirected) location.reload(); // to sign in
  const text = answer?.ok ? await answer.text() : '';
  showing = false;
  const next = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
  if (next === null) return;
  for (const open of document.querySelectorAll('details[open]')) {
    next.querySelector(`#${open.id}`)?.setAttribute('open', '');
  }
  const focused = document.activeElement?.closest('details')?.id;
  document.querySelector('main').replaceWith(next);
  if (focused) document.querySelector(`#${focused} summary`)?.focus();
}

new EventSource(document.body.dataset.events).addEventListener('message', show);
