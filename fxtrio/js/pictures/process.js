/** The Python process that makes pictures (`fxtrio/pictures/process.py`), started when one is asked for. */

import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * A file that browsers may choose.
 *
 * @typedef {{ name: string, type: string, width: number }} Candidate
 */
/**
 * @typedef {{
 *   key: string, width: number, height: number, candidates: Candidate[], placeholder: string,
 * }} Picture
 */
/**
 * A picture with its file, the width that it is shown at, at most (CSS pixels), and the folder of
 * the files that it becomes.
 *
 * @typedef {{ file: string, most: number | null, picture: Picture, folder: string }} Described
 */
/** @typedef {{ message: string, remedy: string }} Told without full stops */
/** @typedef {{ problem: Told } | { problem?: undefined, picture: Picture, folder: string }} Answer */

/** What an import of a picture ends with. */
export const IS_PICTURE = /[?&]picture$/;
const QUERY = /^(?:width=([1-9]\d{0,3})&)?picture$/;

export class PictureProcess {
  /** @type {import('node:child_process').ChildProcess | null} */
  #child = null;
  /** @type {Map<number, { resolve: (answer: Answer) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  #next = 1;
  #python;
  #root;

  /**
   * @param {string} python the interpreter
   * @param {string} root of the project
   */
  constructor(python, root) {
    this.#python = python;
    this.#root = root;
  }

  /**
   * Describe a picture, and make files of it.
   *
   * @param {string} id path of its file, and the query
   * @param {string[] | 'all'} make
   * @returns {Promise<{ problem: Told } | (Described & { problem?: undefined })>}
   */
  async look(id, make) {
    const [file, query] = id.split('?');
    const parameters = query.match(QUERY);
    if (parameters === null) {
      const message = `'?${query}' does not request a picture`;
      return { problem: { message, remedy: "Write '?picture', or '?width=400&picture'" } };
    }
    const most = parameters[1] === undefined ? null : Number(parameters[1]);
    const answer = await this.ask(file, most, make);
    if (answer.problem === undefined) return { file, most, ...answer };
    const { message, remedy } = answer.problem;
    return { problem: { message: `${path.basename(file)}: ${message}`, remedy } };
  }

  /**
   * @param {string} file
   * @param {number | null} most
   * @param {string[] | 'all'} make
   * @returns {Promise<Answer>}
   */
  ask(file, most, make) {
    const child = (this.#child ??= this.#start());
    const id = this.#next;
    this.#next += 1;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      child.stdin?.write(`${JSON.stringify({ id, file, most, make })}\n`);
    });
  }

  /** End the process, which would keep this one alive. */
  close() {
    this.#child?.stdin?.end();
    this.#child = null;
  }

  #start() {
    // -P: no module of the project takes the place of one that is imported.
    const child = spawn(this.#python, ['-P', '-m', 'fxtrio.pictures.process', this.#root], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.on('error', (error) => this.#end(error));
    child.on('exit', (code) => this.#end(new Error(`The process for pictures exited (${code}).`)));
    child.stdin.on('error', () => {}); // it has ended, as `exit` tells
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, ...answer } = JSON.parse(line);
      this.#waiting.get(id)?.resolve(answer);
      this.#waiting.delete(id);
    });
    return child;
  }

  /** @param {Error} error */
  #end(error) {
    this.#child = null;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
