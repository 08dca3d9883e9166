import { useEffect, useState } from "react";

/** A moment in the visitor's language and time zone; in UTC until its code has been loaded. */
export function LocalTime({ value }) {
  const [local, setLocal] = useState(null);
  useEffect(() => {
    const style = { dateStyle: "medium", timeStyle: "short" };
    setLocal(new Date(value).toLocaleString(undefined, style));
  }, [value]);
  return (
    <time dateTime={value} className="small">
      {local ?? `${value.slice(0, 16).replace("T", " ")} UTC`}
    </time>
  );
}
