const shared = SHARED;
const known = new Set();
self.__fx_islands = [];
const load = (island, given) => {
  self.__fx_islands.push([island, given]);
  const { preload = [], module } = given;
  for (const href of [...shared, ...preload, module]) {
    if (known.has(href)) continue;
    known.add(href);
    document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  }
  import(shared[0]);
};
const boxes = (element) =>
  [...element.children].flatMap((one) => (isBox(one) ? one : boxes(one)));
const isBox = (element) => getComputedStyle(element).display !== "contents";
const around = ({ parentElement }) => (isBox(parentElement) ? parentElement : around(parentElement));
const idle = self.requestIdleCallback ?? ((done) => setTimeout(done, 200));
const visible = (island, done) => {
  const shown = isBox(island) ? [island] : boxes(island);
  if (!shown.some((one) => one.getClientRects().length)) shown.push(around(island));
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((one) => one.isIntersecting)) return;
      observer.disconnect();
      done();
    },
    { rootMargin: "200px" },
  );
  for (const one of shown) observer.observe(one);
};
const told = document.querySelector("script#__fx_given")?.textContent;
const { mark, islands } = JSON.parse(told ?? '{"mark":""}');
for (const island of document.querySelectorAll(`[data-fx-island^="${mark}"]`)) {
  const given = islands[island.dataset.fxIsland.slice(mark.length)];
  const done = () => load(island, given);
  if (given.when === "visible") visible(island, done);
  else if (given.when === "idle") idle(done);
  else done();
}
