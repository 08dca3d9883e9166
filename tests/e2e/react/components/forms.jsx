/** Cases of forms: functions as `action` and `formAction`, and what React says of them. */

import * as React from "react";
import * as DOM from "react-dom";

const { useState } = React;

function Seen({ done }) {
  return <output id="seen">{done ? "done" : "begun"}</output>;
}

/** The field tells that the submission had its data, also one from before hydration. */
export function action() {
  const [word, setWord] = useState("");
  return (
    <form action={async (data) => setWord(data.get("word"))}>
      <input name="word" defaultValue="sent" />
      <button id="act">act</button>
      <Seen done={word === "sent"} />
    </form>
  );
}

export function formAction() {
  const [pressed, setPressed] = useState("");
  return (
    <form action={() => setPressed("form")}>
      <input name="word" defaultValue="own" />
      <button>other</button>
      <button id="act" formAction={(data) => setPressed(data.get("word"))}>
        act
      </button>
      <Seen done={pressed === "own"} />
    </form>
  );
}

/** A form with an action that has a state, and a button that knows of the submission. */
function useFormsState(hook) {
  const [state, act] = hook(async (before, data) => `${before}${data.get("word")}`, "");
  return (
    <form action={act}>
      <input name="word" defaultValue="x" />
      <button id="act">act</button>
      <Seen done={state !== ""} />
    </form>
  );
}

export const ActionState = () => useFormsState(React.useActionState);
/** Its former name: React warns of it in development. */
export const useFormState = () =>
  useFormsState(process.env.NODE_ENV === "production" ? DOM.useFormState : React.useActionState);

function Status({ onPending }) {
  const { pending, data } = DOM.useFormStatus();
  React.useEffect(() => {
    if (pending) onPending(data.get("word"));
  }, [pending, data, onPending]);
  return <button id="act">{pending ? "sending" : "act"}</button>;
}

export function useFormStatus() {
  const [word, setWord] = useState("");
  return (
    <form action={() => new Promise((resolve) => setTimeout(resolve, 10))}>
      <input name="word" defaultValue="sent" />
      <Status onPending={setWord} />
      <Seen done={word === "sent"} />
    </form>
  );
}

export function requestFormReset() {
  const form = React.useRef(null);
  const [done, setDone] = useState(false);
  const act = () => {
    form.current.elements.word.value = "typed";
    React.startTransition(async () => {
      await Promise.resolve();
      React.startTransition(() => {
        DOM.requestFormReset(form.current);
        setDone(true);
      });
    });
  };
  return (
    <form ref={form}>
      <input name="word" defaultValue="first" />
      <button id="act" type="button" onClick={act}>
        act
      </button>
      <Seen done={done} />
    </form>
  );
}
