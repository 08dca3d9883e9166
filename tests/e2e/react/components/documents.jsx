/** Cases of `react-dom` and of elements that React puts elsewhere: into the head, and into others. */

import * as React from "react";
import * as DOM from "react-dom";
import * as Client from "react-dom/client";

import { Case } from "./case";

const { useEffect, useRef, useState } = React;

function Pressed({ children, check = () => true }) {
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setDone(check())} done={done}>
      {children}
    </Case>
  );
}

const inHead = (selector) => () => document.head.querySelectorAll(selector).length === 1;

/** What only browsers can show: the boundary around it is left to them. */
export function browser() {
  const Only = () => {
    React.use(DOM.browser("the width of the window"));
    return <p id="width">{window.innerWidth}</p>;
  };
  const [Chosen] = useState(() => Only);
  return (
    <Pressed check={() => document.getElementById("width") !== null}>
      <React.Suspense fallback="wait">
        <Chosen />
      </React.Suspense>
    </Pressed>
  );
}

export function createPortal() {
  const [place, setPlace] = useState(null);
  useEffect(() => setPlace(document.body), []);
  return (
    <Pressed check={() => document.querySelector("body > #portal") !== null}>
      {place && DOM.createPortal(<p id="portal">outside</p>, place)}
    </Pressed>
  );
}

export function flushSync() {
  const [done, setDone] = useState(false);
  const [now, setNow] = useState(false);
  const act = () => {
    DOM.flushSync(() => setNow(true));
    setDone(document.getElementById("now") !== null);
  };
  return (
    <Case act={act} done={done}>
      {now && <p id="now" />}
    </Case>
  );
}

export function preconnect() {
  DOM.preconnect("https://preconnect.test");
  return <Pressed check={inHead("link[rel=preconnect]")} />;
}

export function prefetchDNS() {
  DOM.prefetchDNS("https://dns.test");
  return <Pressed check={inHead("link[rel=dns-prefetch]")} />;
}

export function preinit() {
  DOM.preinit("/classic.js", { as: "script" });
  return <Pressed check={inHead('script[src="/classic.js"]')} />;
}

export function preinitModule() {
  DOM.preinitModule("/module.js", { as: "script" });
  return <Pressed check={inHead('script[type=module][src="/module.js"]')} />;
}

export function preload() {
  DOM.preload("/sheet.css", { as: "style" });
  return (
    <Pressed check={inHead('link[rel=stylesheet][href="/sheet.css"]')}>
      <link rel="stylesheet" href="/sheet.css" precedence="low" />
    </Pressed>
  );
}

export function preloadModule() {
  DOM.preloadModule("/module.js", { as: "script" });
  return (
    <Pressed check={inHead('script[src="/module.js"]')}>
      <script async type="module" src="/module.js" />
    </Pressed>
  );
}

export function unstable_batchedUpdates() {
  const [done, setDone] = useState(false);
  return <Case act={() => DOM.unstable_batchedUpdates(() => setDone(true))} done={done} />;
}

export const domVersion = () => <Pressed>{DOM.version}</Pressed>;
export const clientVersion = () => <Pressed>{Client.version}</Pressed>;

/** A root of one's own in an element that the page knows nothing of. */
function OwnRoot({ start, html = "" }) {
  const place = useRef(null);
  useEffect(() => {
    const element = document.createElement("div");
    element.innerHTML = html;
    place.current.append(element);
    const root = start(element, <p id="own">own</p>);
    return () => setTimeout(() => root.unmount());
  }, [start, html]);
  return (
    <Pressed check={() => document.getElementById("own") !== null}>
      <div ref={place} />
    </Pressed>
  );
}

function startEmpty(place, element) {
  const root = Client.createRoot(place);
  root.render(element);
  return root;
}

export const createRoot = () => <OwnRoot start={startEmpty} />;
export const hydrateRoot = () => <OwnRoot start={Client.hydrateRoot} html='<p id="own">own</p>' />;

export function title() {
  return (
    <Pressed check={() => document.title === "A title" && inHead("title:not([data-fx-head])")()}>
      <p>
        <title>A title</title>
      </p>
    </Pressed>
  );
}

export function meta() {
  return (
    <Pressed check={inHead('meta[name=author][content="Ada"]')}>
      <meta name="author" content="Ada" />
      <link rel="author" href="/ada" />
    </Pressed>
  );
}

export function stylesheet() {
  const check = () => getComputedStyle(document.getElementById("styled")).fontWeight === "900";
  return (
    <Pressed check={check}>
      <p id="styled">heavy</p>
      <link rel="stylesheet" href="/sheet.css" precedence="low" />
      <link rel="stylesheet" href="/heavy.css" precedence="high" />
    </Pressed>
  );
}

/** Its text looks like the root element and like the data. */
export function style() {
  const check = () => getComputedStyle(document.getElementById("styled")).fontWeight === "900";
  const text =
    '#styled { font-weight: 900 } /* <div id="fx-root"></div><script id="__fx_data">{}</script> */';
  return (
    <Pressed check={check}>
      <p id="styled">heavy</p>
      <style href="heavy" precedence="inline">
        {text}
      </style>
    </Pressed>
  );
}

export function asyncScript() {
  return (
    <Pressed check={() => inHead('script[src="/classic.js"]')() && globalThis.classic === 1}>
      <script async src="/classic.js" />
    </Pressed>
  );
}

/** Late parts, stylesheets among them, for which React writes scripts behind the page. */
const slow = new Promise((resolve) => setTimeout(resolve, 1, "late "));
const Slow = () => <p id="late">{React.use(slow).repeat(300)}</p>;

export function slowParts() {
  const check = () =>
    document.getElementById("late") !== null &&
    getComputedStyle(document.getElementById("styled")).fontWeight === "900";
  return (
    <Pressed check={check}>
      <form action={() => {}} />
      <React.Suspense fallback="wait" defer>
        <Slow />
        <p id="styled">heavy</p>
        <link rel="stylesheet" href="/heavy.css" precedence="high" />
      </React.Suspense>
    </Pressed>
  );
}

class Boundary extends React.Component {
  state = { error: null };

  static getDerivedStateFromError(error) {
    return { error };
  }

  render() {
    return this.state.error === null ? this.props.children : this.props.fallback;
  }
}

function Breakable() {
  const [broken, setBroken] = useState(false);
  if (broken) throw new Error("broken on purpose");
  return <Case act={() => setBroken(true)} done={false} />;
}

export function errorBoundary() {
  return (
    <Boundary fallback={<Case act={() => {}} done={true} />}>
      <Breakable />
    </Boundary>
  );
}
