/**
 * Writes what a script consists of into one file:
 *
 *     node bundle-command.js SCRIPT FILE TOOLCHAIN
 *
 * Its first line is a comment with the size and the time of each module and of the lock, which says
 * where the toolchain belongs, and the checksum of the rest.
 */

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';

const [script = '', file = '', toolchain = ''] = process.argv.slice(2);

const LOCK = fileURLToPath(new URL('../../package-lock.json', import.meta.url));

/** Names that stand for the place of a module, which stays where it is. */
const URL_NAME = '__fxUrl';
const FOLDER_NAME = '__fxFolder';

/** What such files are called, and what their first line begins with. */
const NAME = /^develop-[0-9a-f]{8}\.mjs$/;
/** Of one that a process has begun, which may have been ended before it was there. */
const PART = /^develop-[0-9a-f]{8}\.mjs\.(\d+)\.part$/;
const SCRIPT = /^\/\/ \{"script":("(?:[^"\\]|\\.)*")/;

const placed = {
  name: 'fx:placed',
  transform(/** @type {string} */ code, /** @type {string} */ id) {
    const url = JSON.stringify(pathToFileURL(id).href);
    const folder = JSON.stringify(path.dirname(id));
    const names = `const ${URL_NAME} = ${url}, ${FOLDER_NAME} = ${folder};\n`;
    return id.endsWith('.json') ? undefined : { code: names + code };
  },
};

const require = createRequire(path.join(toolchain, 'package.json'));
const rolldown = createRequire(require.resolve('vite')).resolve('rolldown');
const { build } = await import(pathToFileURL(rolldown).href);
const { output } = await build({
  input: script,
  platform: 'node',
  external: [/^node:/],
  logLevel: 'silent',
  plugins: [placed],
  transform: { define: { 'import.meta.url': URL_NAME, __dirname: FOLDER_NAME } },
  output: { format: 'esm', codeSplitting: false },
  write: false,
});
const { code, moduleIds } = output[0];
const files = Object.fromEntries(
  [LOCK, ...moduleIds.filter(path.isAbsolute)].map((/** @type {string} */ id) => {
    const { size, mtimeNs } = fs.statSync(id, { bigint: true });
    return [id, [String(size), String(mtimeNs)]];
  }),
);
const head = JSON.stringify({ script, toolchain, files, checksum: crc32(code) });
const part = `${file}.${process.pid}.part`; // another `fx dev` may do the same
fs.writeFileSync(part, `// ${head}\n${code}`);
fs.renameSync(part, file);
removeForsaken(path.dirname(file));

/**
 * Remove the files of installations that are gone, and what processes have begun that are.
 *
 * @param {string} folder
 */
function removeForsaken(folder) {
  for (const name of fs.readdirSync(folder)) {
    const maker = PART.exec(name)?.[1];
    if (maker !== undefined && !isRunning(Number(maker))) {
      fs.rmSync(path.join(folder, name), { force: true });
    }
    if (!NAME.test(name)) continue;
    const match = SCRIPT.exec(fs.readFileSync(path.join(folder, name), 'utf8'));
    if (match === null || !fs.existsSync(JSON.parse(match[1] ?? ''))) {
      fs.rmSync(path.join(folder, name));
    }
  }
}

/** @param {number} pid of a process, which may be that of another user */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH';
  }
}
