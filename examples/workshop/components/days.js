/** Return a day such as "Tue 24 Nov": the same in every time zone. */
export function dayName(day) {
  const format = {
    weekday: "short",
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  };
  return new Date(day).toLocaleDateString("en-GB", format);
}

/** Return an hour such as "Tue 24 Nov at 09:00" of one such as "2026-11-24T09". */
export function hourName(hour) {
  return `${dayName(hour.slice(0, 10))} at ${hour.slice(11)}:00`;
}
