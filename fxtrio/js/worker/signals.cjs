/**
 * Signals: Node's permissions do not cover them, and page code must not end the server, or
 * other processes of its user.
 */

'use strict';

const process = require('node:process');

/** What sends a signal. `_debugProcess` sends SIGUSR1, which ends what is no Node. */
const SENDERS = ['kill', '_kill', '_debugProcess'];

/** Let this process signal itself alone. */
function refuseSignals() {
  const target = /** @type {any} */ (process);
  for (const name of SENDERS) {
    const send = target[name];
    const guarded = (/** @type {number} */ pid, /** @type {unknown[]} */ ...rest) => {
      if (pid === process.pid) return send.call(process, pid, ...rest);
      throw Object.assign(new Error(`A page may not signal process ${pid}.`), {
        code: 'ERR_ACCESS_DENIED',
      });
    };
    Object.defineProperty(target, name, { value: guarded, writable: false, configurable: false });
  }
}

exports.refuseSignals = refuseSignals;
