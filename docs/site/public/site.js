/** What the pages need in the browser: the colours, the search, and buttons that copy. */

const root = document.documentElement;
const base = document.currentScript.src.replace(/\/site\.js$/, '');

try {
  root.style.colorScheme = localStorage.getItem('colours') ?? '';
} catch {
  // Storage is blocked: the system decides.
}

/**
 * @param {HTMLButtonElement} button
 * @param {() => string | Promise<string>} text
 */
function copiesOnClick(button, text) {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(await text());
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not copied';
    }
    setTimeout(() => (button.textContent = label), 2000);
  });
}

function addCopyButtons() {
  for (const pre of document.querySelectorAll('main pre')) {
    const frame = document.createElement('div');
    const button = document.createElement('button');
    frame.className = 'code';
    button.type = 'button';
    button.textContent = 'Copy';
    copiesOnClick(button, () => pre.textContent);
    pre.replaceWith(frame);
    frame.append(pre, button);
  }
  const whole = document.querySelector('[data-copy-page]');
  if (whole) {
    copiesOnClick(whole, async () => {
      const response = await fetch(`${location.pathname.replace(/\/$/, '')}.md`);
      if (!response.ok) throw new Error(String(response.status));
      return response.text();
    });
  }
}

/** A table that scrolls can be scrolled with the keyboard. */
function watchTables() {
  const watching = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
      else target.removeAttribute('tabindex');
    }
  });
  for (const table of document.querySelectorAll('main table')) watching.observe(table);
}

function chooseColours() {
  const choice = document.querySelector('[data-theme-choice]');
  choice.value = root.style.colorScheme;
  choice.addEventListener('change', () => {
    root.style.colorScheme = choice.value;
    try {
      localStorage.setItem('colours', choice.value);
    } catch {
      // As above: the choice ends with the page.
    }
  });
}

function openSearch() {
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
  const loaded = import(`${base}/pagefind/pagefind.js`);
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

document.addEventListener('DOMContentLoaded', () => {
  addCopyButtons();
  watchTables();
  chooseColours();
  for (const button of document.querySelectorAll('[data-open-search]')) {
    button.addEventListener('click', openSearch);
  }
});

document.addEventListener('keydown', (event) => {
  const typing = event.target.closest?.('input, textarea, select');
  if (!typing && event.key === '/' && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openSearch();
  }
});
