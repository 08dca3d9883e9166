/** What pages load when it is used: the search, buttons that copy, and the choice of colours. */

/**
 * @param {HTMLButtonElement} button
 * @param {() => string | Promise<string>} text
 */
async function copy(button, text) {
  const label = button.dataset.label ?? button.textContent;
  button.dataset.label = label;
  try {
    await navigator.clipboard.writeText(await text());
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Not copied';
  }
  setTimeout(() => (button.textContent = label), 2000);
}

/** @param {HTMLButtonElement} button in front of the code */
export function copyCode(button) {
  return copy(button, () => button.nextElementSibling.textContent);
}

/** @param {HTMLButtonElement} button */
export function copyPage(button) {
  return copy(button, async () => {
    const response = await fetch(`${location.pathname.replace(/\/$/, '')}.md`);
    if (!response.ok) throw new Error(String(response.status));
    return response.text();
  });
}

/** @param {HTMLSelectElement} choice */
export function chooseColours(choice) {
  document.documentElement.style.colorScheme = choice.value;
  try {
    localStorage.setItem('colours', choice.value);
  } catch {
    // Storage is blocked: the choice ends with the page.
  }
}

export function openSearch() {
  const found = document.querySelector('dialog.search');
  if (found) {
    found.showModal();
    return;
  }
  const dialog = document.createElement('dialog');
  dialog.className = 'search';
  dialog.setAttribute('aria-label', 'Search');
  dialog.innerHTML =
    '<form method="dialog"><input type="search" aria-label="Search the documentation" autocomplete="off">' +
    '<button>Close</button></form><p role="status"></p><ol></ol>';
  document.body.append(dialog);
  const input = dialog.querySelector('input');
  const status = dialog.querySelector('p');
  const list = dialog.querySelector('ol');
  const loaded = import(new URL('pagefind/pagefind.js', import.meta.url).href);
  input.addEventListener('input', async () => {
    const word = input.value.trim();
    const pagefind = await loaded;
    const search = word ? await pagefind.debouncedSearch(word, {}, 150) : { results: [] };
    if (search === null) return; // a later one has begun
    const results = await Promise.all(search.results.slice(0, 8).map((one) => one.data()));
    if (input.value.trim() !== word) return;
    status.textContent = word ? `${search.results.length} pages` : '';
    list.replaceChildren(...results.flatMap(resultItems));
  });
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target === input) {
      event.preventDefault();
      list.querySelector('a')?.click();
    }
  });
  dialog.showModal();
}

function resultItems(result) {
  const parts = result.sub_results.slice(0, 3);
  return (parts.length ? parts : [result]).map((part) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    const text = document.createElement('p');
    link.href = part.url;
    link.textContent =
      part.title && part.title !== result.meta.title
        ? `${result.meta.title}: ${part.title}`
        : result.meta.title;
    text.innerHTML = part.excerpt; // of our own pages, escaped by Pagefind
    item.append(link, text);
    return item;
  });
}
