const shared = SHARED;
const known = new Set();
self.__fx_islands = [];
const load = (island, entry) => {
  self.__fx_islands.push([island, entry]);
  const { preload = [], module } = entry;
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
  const targets = isBox(island) ? [island] : boxes(island);
  if (!targets.some((one) => one.getClientRects().length)) targets.push(around(island));
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((one) => one.isIntersecting)) return;
      observer.disconnect();
      done();
    },
    { rootMargin: "200px" },
  );
  for (const one of targets) observer.observe(one);
};
const json = document.querySelector("script#__fx_given")?.textContent;
const { mark, islands } = JSON.parse(json ?? '{"mark":""}');
for (const island of document.querySelectorAll(`[data-fx-island^="${mark}"]`)) {
  const entry = islands[island.dataset.fxIsland.slice(mark.length)];
  const done = () => load(island, entry);
  if (entry.when === "visible") visible(island, done);
  else if (entry.when === "idle") idle(done);
  else done();
}
