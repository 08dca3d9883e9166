/** Cases of `react`: components, and functions that make elements. */

import * as React from "react";

import { Case } from "./case";

const { useEffect, useState } = React;

/** A case that is done once its button was pressed, around what it tries. */
function Pressed({ children }) {
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setDone(true)} done={done}>
      {typeof children === "function" ? children(done) : children}
    </Case>
  );
}

function Counted({ onCount }) {
  const [count, setCount] = useState(0);
  useEffect(() => onCount(count), [count, onCount]);
  return <i onClick={() => setCount(count + 1)}>{count}</i>;
}

export function Activity() {
  const [mode, setMode] = useState("hidden");
  const [mounted, setMounted] = useState(false);
  return (
    <Case act={() => setMode("visible")} done={mounted}>
      <React.Activity mode={mode}>
        <Counted onCount={() => setMounted(true)} />
      </React.Activity>
      <React.Activity mode={mode === "hidden" ? "visible" : "hidden"}>
        <p>visible at first</p>
      </React.Activity>
    </Case>
  );
}

export function Children() {
  return (
    <Pressed>
      {(done) => React.Children.map([<b key="a">{String(done)}</b>, "b"], (each) => <p>{each}</p>)}
    </Pressed>
  );
}

export class Component extends React.Component {
  state = { done: false };

  render() {
    return <Case act={() => this.setState({ done: true })} done={this.state.done} />;
  }
}

export function Fragment() {
  return (
    <Pressed>
      <React.Fragment key="f">
        one<b>two</b>
      </React.Fragment>
    </Pressed>
  );
}

export function Profiler() {
  return (
    <React.Profiler id="p" onRender={() => {}}>
      <Pressed />
    </React.Profiler>
  );
}

export class PureComponent extends React.PureComponent {
  state = { done: false };

  render() {
    return <Case act={() => this.setState({ done: true })} done={this.state.done} />;
  }
}

export function StrictMode() {
  return (
    <React.StrictMode>
      <Pressed />
    </React.StrictMode>
  );
}

const slow = new Promise((resolve) => setTimeout(resolve, 1, "late"));
const Slow = () => <b>{React.use(slow)}</b>;

export function Suspense() {
  return (
    <Pressed>
      <React.Suspense fallback="wait">
        <Slow />
      </React.Suspense>
    </Pressed>
  );
}

export function ViewTransition() {
  const [done, setDone] = useState(false);
  return (
    <Case act={() => React.startTransition(() => setDone(true))} done={done}>
      <React.ViewTransition>
        <p>{done ? "new" : "old"}</p>
      </React.ViewTransition>
    </Case>
  );
}

export function cloneElement() {
  return <Pressed>{(done) => React.cloneElement(<p title="a">x</p>, { lang: String(done) })}</Pressed>;
}

export function createElement() {
  return React.createElement(Pressed);
}

export function isValidElement() {
  return <Pressed>{React.isValidElement(<p />) ? "valid" : "invalid"}</Pressed>;
}

const Lazy = React.lazy(() => Promise.resolve({ default: Pressed }));

/** Without a boundary: the server waits for it. */
export function lazy() {
  return <Lazy />;
}

export const memo = React.memo(Pressed);

export const forwardRef = React.forwardRef(function Forwarded(props, ref) {
  return (
    <Pressed>
      <p ref={ref} />
    </Pressed>
  );
});

const Theme = React.createContext("light");

export function createContext() {
  return (
    <Theme value="dark">
      <Theme.Consumer>{(theme) => <Pressed>{theme}</Pressed>}</Theme.Consumer>
    </Theme>
  );
}

export class createRef extends React.Component {
  place = React.createRef();
  state = { done: false };

  render() {
    const act = () => this.setState({ done: this.place.current.localName === "p" });
    return (
      <Case act={act} done={this.state.done}>
        <p ref={this.place} />
      </Case>
    );
  }
}

const double = React.cache((number) => number * 2);

export function cache() {
  return <Pressed>{double(2)}</Pressed>;
}

export function cacheSignal() {
  return <Pressed>{String(React.cacheSignal() === null)}</Pressed>;
}

/** In development alone. */
export function captureOwnerStack() {
  useEffect(() => void React.captureOwnerStack?.(), []);
  return <Pressed />;
}

/** In development alone. */
export function act() {
  return <Pressed>{() => (React.act === undefined ? "none" : null)}</Pressed>;
}

export function version() {
  return <Pressed>{React.version}</Pressed>;
}
