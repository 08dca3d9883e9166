import { ClientOnly } from "fx/client";

/** A time in the visitor's language and time zone; in UTC until React has hydrated the page. */
export function LocalTime({ value }) {
  return (
    <time dateTime={value} className="small">
      <ClientOnly fallback={`${value.slice(0, 16).replace("T", " ")} UTC`}>
        {() =>
          new Date(value).toLocaleString(undefined, {
            dateStyle: "medium",
            timeStyle: "short",
          })
        }
      </ClientOnly>
    </time>
  );
}
