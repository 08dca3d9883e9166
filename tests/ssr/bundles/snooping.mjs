/** A bundle whose page looks for what it must not find, with all that Node has. */

import childProcess from 'node:child_process';
import fs from 'node:fs';
import { Worker } from 'node:worker_threads';

export const pages = 1;
export const buildId = 'snooping';

const acts = {
  environment: () => JSON.stringify(process.env),
  read: ({ path }) => fs.readFileSync(path.replace('PARENT', String(process.ppid)), 'utf8'),
  list: ({ path }) => fs.readdirSync(path).join(' '),
  write: ({ path }) => String(fs.writeFileSync(path, 'written by a page')),
  command: () => childProcess.execFileSync('cat', [`/proc/${process.ppid}/environ`]).toString(),
  signal: ({ how, pid }) => String(process[how](pid ?? process.ppid, 0)),
  thread: () => String(new Worker('1', { eval: true }).threadId),
  binding: () => String(process.binding('fs').internalModuleReadJSON),
};

export function render(page, state) {
  try {
    return { head: '', html: acts[state.act](state) };
  } catch (error) {
    return { head: '', html: `refused: ${error.code}` };
  }
}

export function stream() {}
