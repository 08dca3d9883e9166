/** What React's published fixtures try and the cases of its exports do not. */

import { startTransition, Suspense, useEffect, useRef, useState, ViewTransition } from "react";
import { createPortal } from "react-dom";

import { Case } from "./case";

/** Change a field as typing does, so that React hears of it. */
function type(field, value) {
  const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), "value");
  set.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

const valuesOf = (form) => new URLSearchParams(new FormData(form)).toString();

/** Fields of each kind have their values in the HTML, keep them, and take others. */
export function controlledFields() {
  const [text, setText] = useState("a");
  const [number, setNumber] = useState("1.50");
  const form = useRef(null);
  const [done, setDone] = useState(false);
  const expected =
    "text=typed&area=%0Ab&number=2.50&range=3&radio=two&box=on&one=y&many=x&many=y";
  useEffect(() => setDone(valuesOf(form.current) === expected), [text, number]);
  const act = () => {
    type(form.current.text, "typed");
    type(form.current.number, "2.50");
  };
  const ignore = () => {};
  return (
    <Case act={act} done={done}>
      <form ref={form}>
        <input name="text" value={text} onChange={(event) => setText(event.target.value)} />
        <textarea name="area" value={"\nb"} onChange={ignore} />
        <input
          name="number"
          type="number"
          step="any"
          value={number}
          onChange={(event) => setNumber(event.target.value)}
        />
        <input name="range" type="range" min="0" max="5" value="3" onChange={ignore} />
        {["one", "two"].map((value) => (
          <input
            key={value}
            name="radio"
            type="radio"
            value={value}
            checked={value === "two"}
            onChange={ignore}
          />
        ))}
        <input name="box" type="checkbox" checked onChange={ignore} />
        <select name="one" value="y" onChange={ignore}>
          <option value="x">x</option>
          <option value="y">y</option>
        </select>
        <select name="many" multiple defaultValue={["x", "y"]}>
          <option value="x">x</option>
          <option value="y">y</option>
          <option value="z">z</option>
        </select>
      </form>
    </Case>
  );
}

/** Fields of each kind have their first values again when an action has ended. */
export function resetFields() {
  const form = useRef(null);
  const first = useRef("");
  const [done, setDone] = useState(false);
  const act = () => {
    if (first.current !== "") return setDone(valuesOf(form.current) === first.current);
    first.current = valuesOf(form.current);
    const { text, box, one } = form.current;
    text.value = "typed";
    box.checked = false;
    one.value = "y";
    form.current.requestSubmit();
  };
  return (
    <Case act={act} done={done}>
      <form ref={form} action={async () => {}}>
        <input name="text" defaultValue="a" />
        <input name="box" type="checkbox" defaultChecked />
        <select name="one" defaultValue="x">
          <option value="x">x</option>
          <option value="y">y</option>
        </select>
      </form>
    </Case>
  );
}

/** A field that comes later gets the focus. */
export function autoFocus() {
  const [isThere, setThere] = useState(false);
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setThere(true)} done={done}>
      <input autoFocus aria-label="at first" />
      {isThere && <input autoFocus aria-label="later" onFocus={() => setDone(true)} />}
    </Case>
  );
}

/** A text that may differ between server and browser is no mistake. */
export function suppressedDifference() {
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setDone(true)} done={done}>
      <p suppressHydrationWarning>{Math.random()}</p>
      <noscript dangerouslySetInnerHTML={{ __html: "<b>No JavaScript</b>" }} />
    </Case>
  );
}

/** Attributes of every kind are in the HTML as React expects them. */
export function attributes() {
  const field = useRef(null);
  const [done, setDone] = useState(false);
  const act = () => {
    const { disabled, readOnly, tabIndex, dataset, style, ariaHidden } = field.current;
    const found = [disabled, readOnly, tabIndex, dataset.n, style.opacity, ariaHidden];
    setDone(JSON.stringify(found) === '[true,true,-1,"1","0.5","true"]');
  };
  return (
    <Case act={act} done={done}>
      <input
        ref={field}
        disabled
        readOnly
        required={false}
        tabIndex={-1}
        data-n={1}
        aria-hidden
        style={{ "--size": 2, opacity: 0.5, lineHeight: 2, WebkitLineClamp: 3, margin: 4 }}
        title={'"<&\u2028'}
      />
      <div inert hidden contentEditable suppressContentEditableWarning>
        text
      </div>
      <svg viewBox="0 0 1 1" strokeWidth={2} aria-label="empty">
        <use xlinkHref="#none" />
      </svg>
    </Case>
  );
}

/** Elements of one's own get attributes, and events by their names: React sets those it creates. */
export function customElement() {
  const element = useRef(null);
  const [isCreated, setCreated] = useState(false);
  const [done, setDone] = useState(false);
  useEffect(() => setCreated(true), []);
  const act = () => element.current.dispatchEvent(new CustomEvent("pick"));
  return (
    <Case act={act} done={done}>
      <fx-picker
        key={String(isCreated)}
        ref={element}
        class="wide"
        size={3}
        onpick={() => setDone(true)}
      />
    </Case>
  );
}

/** Events of a portal reach the component around it, also out of a shadow root. */
export function portalEvents() {
  const host = useRef(null);
  const [place, setPlace] = useState(null);
  const [done, setDone] = useState(false);
  useEffect(() => {
    setPlace(host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" }));
  }, []);
  const act = () => place?.getElementById("inner")?.click();
  return (
    <Case act={act} done={done}>
      <div ref={host} />
      <div onClick={() => setDone(true)}>{place && createPortal(<i id="inner" />, place)}</div>
    </Case>
  );
}

/** Events that React makes of others: the pointer enters from outside, and leaves. */
export function pointerEvents() {
  const [entered, setEntered] = useState(false);
  const [done, setDone] = useState(false);
  const box = useRef(null);
  const act = () => {
    const from = { bubbles: true, relatedTarget: document.body };
    box.current.dispatchEvent(new PointerEvent("pointerover", from));
    box.current.dispatchEvent(new PointerEvent("pointerout", from));
  };
  return (
    <Case act={act} done={done}>
      <div onPointerEnter={() => setEntered(true)} onPointerLeave={() => setDone(entered)}>
        <b ref={box}>box</b>
      </div>
    </Case>
  );
}

/** A large part within a boundary arrives whole. */
export function largeContent() {
  const list = useRef(null);
  const [done, setDone] = useState(false);
  return (
    <Case act={() => setDone(list.current?.children.length === 2000)} done={done}>
      <Suspense fallback="…">
        <ol ref={list}>
          {Array.from({ length: 2000 }, (_, index) => (
            <li key={index}>{`${index} </script><!-- $& \u2028`}</li>
          ))}
        </ol>
      </Suspense>
    </Case>
  );
}

/** Parts that come and go within a transition, one inside of the other. */
export function nestedTransitions() {
  const [items, setItems] = useState([1]);
  const [done, setDone] = useState(false);
  useEffect(() => setDone(items.length === 3), [items]);
  const act = () => startTransition(() => setItems([3, 1, 2]));
  return (
    <Case act={act} done={done}>
      <ViewTransition>
        <ul>
          {items.map((item) => (
            <ViewTransition key={item} enter="auto" exit="auto">
              <li>{item}</li>
            </ViewTransition>
          ))}
        </ul>
      </ViewTransition>
    </Case>
  );
}
