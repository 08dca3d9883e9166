/** Cases of `react`: hooks and transitions. */

import * as React from "react";
import { navigate, refresh } from "fx/client";

import { Case } from "./case";

const { useEffect, useState } = React;

export function addTransitionType() {
  const [done, setDone] = useState(false);
  const act = () =>
    React.startTransition(() => {
      React.addTransitionType("forward");
      setDone(true);
    });
  return (
    <React.ViewTransition default={{ forward: "slide", default: "none" }}>
      <Case act={act} done={done} />
    </React.ViewTransition>
  );
}

export function startTransition() {
  const [done, setDone] = useState(false);
  return <Case act={() => React.startTransition(() => setDone(true))} done={done} />;
}

export function unstable_useCacheRefresh() {
  const again = React.unstable_useCacheRefresh();
  const [done, setDone] = useState(false);
  const act = () =>
    React.startTransition(() => {
      again();
      setDone(true);
    });
  return <Case act={act} done={done} />;
}

const early = Promise.resolve("early");

export function use() {
  const text = React.use(early);
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setDone(true)} done={done}>
      {text}
    </Case>
  );
}

export function useActionState() {
  const [count, act, pending] = React.useActionState(async (before) => {
    await Promise.resolve();
    return before + 1;
  }, 0);
  return <Case act={() => React.startTransition(act)} done={count > 0 && !pending} />;
}

export function useCallback() {
  const [done, setDone] = useState(false);
  return <Case act={React.useCallback(() => setDone(true), [])} done={done} />;
}

const Place = React.createContext("outside");

function Placed() {
  const [done, setDone] = useState(false);
  const place = React.useContext(Place);
  return <Case act={() => setDone(place === "inside")} done={done} />;
}

export function useContext() {
  return (
    <Place.Provider value="inside">
      <Placed />
    </Place.Provider>
  );
}

export function useDebugValue() {
  const [done, setDone] = useState(false);
  React.useDebugValue(done);
  return <Case act={() => setDone(true)} done={done} />;
}

export function useDeferredValue() {
  const [done, setDone] = useState(false);
  return <Case act={() => setDone(true)} done={React.useDeferredValue(done, false)} />;
}

/** The cleanup of the effects is seen by the page that is shown next. */
function EffectOf({ hook }) {
  const [runs, setRuns] = useState(0);
  const [pressed, setPressed] = useState(0);
  hook(() => {
    document.documentElement.dataset.effects = "on";
    return () => delete document.documentElement.dataset.effects;
  }, []);
  useEffect(() => {
    if (pressed > 0 && document.documentElement.dataset.effects === "on") setRuns(pressed);
  }, [pressed]);
  return <Case act={() => setPressed(pressed + 1)} done={runs > 0} />;
}

export const useEffectCase = () => <EffectOf hook={React.useEffect} />;
export const useInsertionEffect = () => <EffectOf hook={React.useInsertionEffect} />;
export const useLayoutEffect = () => <EffectOf hook={React.useLayoutEffect} />;

export function useEffectEvent() {
  const [pressed, setPressed] = useState(false);
  const [done, setDone] = useState(false);
  const happen = React.useEffectEvent(() => setDone(pressed));
  useEffect(() => {
    if (pressed) happen();
  }, [pressed]);
  return <Case act={() => setPressed(true)} done={done} />;
}

export function useId() {
  const one = React.useId();
  const other = React.useId();
  const [done, setDone] = useState(false);
  const act = () => setDone(one !== other && document.getElementById(one).htmlFor === other);
  return (
    <Case act={act} done={done}>
      <label id={one} htmlFor={other}>
        <input id={other} />
      </label>
    </Case>
  );
}

function Handle({ ref }) {
  React.useImperativeHandle(ref, () => ({ answer: () => 42 }), []);
  return null;
}

export function useImperativeHandle() {
  const handle = React.useRef(null);
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setDone(handle.current.answer() === 42)} done={done}>
      <Handle ref={handle} />
    </Case>
  );
}

export function useMemo() {
  const [count, setCount] = useState(0);
  return <Case act={() => setCount(1)} done={React.useMemo(() => count > 0, [count])} />;
}

/** What waits within an action for the page's data must not wait for the action's own end. */
export function useOptimistic() {
  const [stored, setStored] = useState("begun");
  const [state, setState] = React.useOptimistic(stored);
  const act = () =>
    React.startTransition(async () => {
      setState("pending");
      await refresh();
      React.startTransition(() => setStored("done"));
    });
  return (
    <Case act={act} done={stored === "done" && state === "done"}>
      <p>{state}</p>
    </Case>
  );
}

export function useReducer() {
  const [done, act] = React.useReducer(() => true, false);
  return <Case act={act} done={done} />;
}

export function useRef() {
  const presses = React.useRef(0);
  const [done, setDone] = useState(false);
  const act = () => {
    presses.current += 1;
    setDone(presses.current > 0);
  };
  return <Case act={act} done={done} />;
}

export function useStateCase() {
  const [done, setDone] = React.useState(() => false);
  return <Case act={() => setDone(true)} done={done} />;
}

const store = { pressed: false, listeners: new Set() };

function subscribe(listener) {
  store.listeners.add(listener);
  return () => store.listeners.delete(listener);
}

export function useSyncExternalStore() {
  const pressed = React.useSyncExternalStore(
    subscribe,
    () => store.pressed,
    () => false,
  );
  const act = () => {
    store.pressed = true;
    for (const listener of store.listeners) listener();
  };
  return <Case act={act} done={pressed} />;
}

/** Goes to another page of this app within a transition, and comes back. */
export function useTransition() {
  const [pending, start] = React.useTransition();
  const [ended, setEnded] = useState(false);
  const act = () =>
    start(async () => {
      await navigate("?again", { replace: true });
      start(() => setEnded(true));
    });
  return <Case act={act} done={ended && !pending} />;
}
