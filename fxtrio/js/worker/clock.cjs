/** The clock of renders. The global `performance` would load more of Node, for 3 ms of each start. */

'use strict';

/** Return the time by a clock that never goes back (milliseconds). */
function readClock() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

exports.readClock = readClock;
