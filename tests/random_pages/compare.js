/**
 * Show the same pages without and with scripts, and return how they differ: their elements, the head,
 * and what React looks after; then again, when each button of an island was clicked. Runs in a page
 * of the same site.
 */
async (paths) => {
  const open = (path) =>
    new Promise((resolve) => {
      const frame = document.createElement('iframe');
      // In front, so that islands that wait to be seen are seen.
      frame.style.cssText = 'position: fixed; inset: 0 auto auto 0; width: 800px; height: 600px';
      frame.onload = () => resolve(frame);
      frame.src = path;
      document.body.append(frame);
    });
  const settled = async (frame) => {
    const root = frame.contentDocument.getElementById('fx-root');
    const isAlive = () => Object.keys(root ?? {}).some((key) => key.startsWith('__reactContainer'));
    for (let tries = 0; root && !isAlive() && tries < 400; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  };
  const PENDING = '[data-fx-island]:not([data-fx-island=""])';
  const alive = async ({ contentDocument: page }) => {
    for (let tries = 0; tries < 400; tries++) {
      const pending = page.querySelector(PENDING);
      if (!pending) return;
      (pending.firstElementChild ?? pending).scrollIntoView();
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const click = async ({ contentDocument: page }) => {
    for (const button of page.querySelectorAll('[data-fx-island] section > :is(button, form > button)')) {
      button.click();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const headOf = ({ head, documentElement: { attributes } }) => {
    const own = [...head.children].filter(
      ({ localName, rel, as }) =>
        localName !== 'script' && rel !== 'modulepreload' && !(rel === 'preload' && as === 'script'),
    );
    const texts = own.map(({ outerHTML }) => outerHTML).sort();
    return `${[...attributes].map((one) => `${one.name}=${one.value}`)}\n${texts.join('\n')}`;
  };
  const stateOf = ({ body }) =>
    [...body.querySelectorAll('input, textarea, select, details, dialog, video')]
      .map((one) => [one.value, one.checked, one.selectedIndex, one.open, one.muted].join())
      .join(';');
  const looksAfter = ({ body }) =>
    [...body.querySelectorAll(':not(a)')].flatMap((element) => {
      const key = Object.keys(element).find((one) => one.startsWith('__reactProps'));
      const props = key ? element[key] : {};
      return Object.entries(props)
        .filter(([name, value]) => name !== 'children' && /^on/.test(name) && typeof value === 'function')
        .map(([name]) => `<${element.localName} ${name}>`);
    });
  const views = ({ contentDocument: page }) => ({
    body: (page.getElementById('fx-root') ?? page.body).innerHTML
      .replace(/[0-9a-f]{32}/g, '#')
      .replaceAll(' data-fx-prefetch=""', ''),
    head: headOf(page),
    title: page.title,
    attributes: [...page.body.attributes].map((one) => `${one.name}=${one.value}`).join(),
    fields: stateOf(page),
    handlers: looksAfter(page).join(),
  });
  const found = [];
  /** Wait until they are equal, since effects and timers come late, and note what is not. */
  const compare = async (page, one, other) => {
    let different;
    for (let tries = 0; tries < 60; tries++) {
      const [before, after] = [views(one), views(other)];
      different = Object.keys(before)
        .filter((name) => before[name] !== after[name])
        .map((name) => ({ page, name, before: before[name], after: after[name] }));
      if (different.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    found.push(...different);
  };
  await Promise.all(
    paths.map(async ([plain, live]) => {
      const [one, other] = await Promise.all([open(plain), open(live)]);
      await Promise.all([alive(one), settled(other)]);
      await compare(plain, one, other);
      if (other.contentDocument.querySelector('[data-fx-island]')) {
        await Promise.all([click(one), click(other)]);
        await compare(`${plain} when clicked`, one, other);
      }
      one.remove();
      other.remove();
    }),
  );
  return found;
};
