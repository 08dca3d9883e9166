/**
 * Show the same pages without and with scripts, and return how they differ: their elements, the head,
 * and what React looks after. Runs in a page of the same site.
 */
async (paths) => {
  const open = (path) =>
    new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.style.cssText = 'width: 800px; height: 600px';
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
  await Promise.all(
    paths.map(async ([plain, live]) => {
      const [one, other] = await Promise.all([open(plain), open(live)]);
      await Promise.all([settled(other)]);
      const [before, after] = [views(one), views(other)];
      for (const name of Object.keys(before)) {
        if (before[name] !== after[name]) found.push({ plain, name, before: before[name], after: after[name] });
      }
      one.remove();
      other.remove();
    }),
  );
  return found;
};
