/** What is wrong, in a panel at the foot of the page: gone as soon as it is put right. */

import { ClosedProblems } from './closed-problems.js';
import { mismatchOf, problemOf } from './mismatch.js';
import { styles } from './overlay-styles.js';
import { PageRequests } from './page-requests.js';
import { Panel } from './panel.js';
import { copyOf, elementOf, timingsOf } from './problem-text.js';
import { requestsOf, timedSectionOf } from './waterfall.js';

/** @typedef {import('../settings.js').OverlayProblem} OverlayProblem */
/** @typedef {OverlayProblem & { id?: number }} Thrown `id` is that of the question for its place */

const NAME = 'fx-overlay';
const BADGE = 'fx-badge';

export class Overlay {
  /** @type {OverlayProblem[]} what is wrong with files, until `fx dev` says otherwise */
  #standing = [];
  /** @type {Thrown | null} what has gone wrong on this page */
  #passing = null;
  /** @type {OverlayProblem | null} what could not be loaded, and is no part of this page */
  #elsewhere = null;
  /** @type {Map<string, Thrown>} what modules have thrown that are not loaded since, by URL */
  #unloaded = new Map();
  #isUnsure = false;
  /** Whether that is its data: only new data puts it right. */
  #isOfData = false;
  #closed;
  #listed = false;
  #document;
  #editor;
  #covers;
  #panel;

  /** URL of the page that shows where the time of the last requests went; "" without one. */
  timings = '';

  /** The last requests of the page. */
  requests = new PageRequests(
    () => this.timings,
    () => this.draw(),
  );

  /** Absolute path of the project: places below it are shown as its own. */
  root = '';

  /**
   * Whether the page that is shown is made of a file.
   *
   * @type {(file: string) => boolean}
   */
  concerns = () => true;

  /** Counts what was thrown. */
  #asked = 0;

  /**
   * Asks `fx dev` where something was thrown; `located` takes the answer.
   *
   * @type {(id: number, stack: string) => void}
   */
  ask = () => {};

  /** Whether something was wrong with files since the page was loaded. */
  hadStanding = false;

  /**
   * @param {Document} document
   * @param {string} editor URL that opens a place, with `{file}`, `{line}` and `{column}`
   * @param {boolean} covers whether what fails on the page covers it
   */
  constructor(document, editor, covers = true) {
    this.#document = document;
    this.#editor = editor;
    this.#covers = covers;
    this.#panel = new Panel(document, NAME);
    this.#closed = new ClosedProblems(document.defaultView?.sessionStorage);
    document.addEventListener('keydown', ({ key, code, altKey, shiftKey }) => {
      if (key === 'Escape') this.#close();
      // By the key, since Alt makes another letter of it on a Mac.
      if (code === 'KeyW' && altKey && shiftKey) void this.requests.open();
    });
  }

  /** Whether something has gone wrong on this page, and nobody knows that it is right again. */
  get isPassing() {
    return this.#thrown().length > 0;
  }

  /** @param {OverlayProblem[]} problems */
  setStanding(problems) {
    if (problems.length > 0) this.hadStanding = true;
    else if (this.#standing.length > 0) {
      this.#passing = null;
      this.#closed.forget();
    }
    const known = new Set(this.#standing.map((problem) => JSON.stringify(problem)));
    for (const problem of problems) {
      if (!known.has(JSON.stringify(problem))) this.#closed.report(problem);
    }
    this.#standing = problems;
    this.draw();
  }

  /** Server code has been replaced: whatever kept it from that is right, before Node says so. */
  replaced() {
    const left = this.#standing.filter(({ swap }) => swap !== true);
    if (left.length < this.#standing.length) this.setStanding(left);
  }

  /** Everything has changed that may have put right what went wrong on the page. */
  clear() {
    if (this.#passing !== null) this.#closed.forget();
    this.#passing = null;
    this.#elsewhere = null;
    this.draw();
  }

  /** What is no part of this page may be right: whoever asks for it is told if it is not. */
  clearElsewhere() {
    if (this.#elsewhere === null) return;
    this.#elsewhere = null;
    this.draw();
  }

  /** Code has changed: what it has thrown may be right. */
  clearThrown() {
    if (this.#isOfData || this.#passing === null) return;
    this.#isUnsure = true;
    this.clear();
  }

  /** Whether something was cleared since the last call that may be wrong still. */
  takeUnsure() {
    const isUnsure = this.#isUnsure;
    this.#isUnsure = false;
    return isUnsure;
  }

  /**
   * A module could not be made, says Vite.
   *
   * @param {{
   *   message: string, frame?: string, id?: string,
   *   loc?: { file?: string, line: number, column: number }, pages?: string[],
   * }} error `pages` need the module, as in `OverlayProblem`
   */
  couldNotCompile({ message, frame = '', id = '', loc, pages }) {
    const file = (loc?.file ?? id).replace(/\.tsx$/, '').split('?', 1)[0];
    const { line = 0, column = 0 } = loc ?? {};
    const title = 'A module cannot be loaded';
    const problem = { title, message, file, line, column, frame, pages };
    if (this.#isHere(problem)) this.failed(problem);
    else if (!this.#standing.some((known) => known.file === file)) {
      this.#elsewhere = problem;
      this.draw();
    }
  }

  /**
   * Code of the page has thrown something.
   *
   * @param {unknown} thrown
   * @param {{ componentStack?: string, ownerStack?: string }} [info] of React
   */
  thrown(thrown, info = {}) {
    if (thrown === null || thrown === undefined) return;
    const { problem, stack } = problemOf(thrown, (this.#asked += 1), info);
    this.failed(problem);
    this.ask(problem.id, stack);
  }

  /**
   * An update of a module has thrown something, so that it could not be loaded. That stays wrong
   * until the module itself is loaded: updates of others, and new data, put nothing right.
   *
   * @param {string} url
   * @param {unknown} thrown
   */
  unloaded(url, thrown) {
    const { problem, stack } = problemOf(thrown, (this.#asked += 1));
    this.#unloaded.set(url, problem);
    this.#closed.report(problem);
    this.draw();
    this.ask(problem.id, stack);
  }

  /**
   * A module has been loaded, or nothing imports it any more.
   *
   * @param {string} url
   */
  loaded(url) {
    if (this.#unloaded.delete(url)) this.draw();
  }

  /**
   * `fx dev` has found the place of what was thrown.
   *
   * @param {OverlayProblem & { id: number, stack: string }} located
   */
  located({ id, file, line, column, frame, stack }) {
    const of = (/** @type {Thrown} */ problem) => {
      if (mismatchOf(stack) === null) {
        return { ...problem, file, line, column, frame, trace: stack };
      }
      if (frame === '') return { ...problem, file, line, column };
      return { ...problem, file, line, column, frame, trace: problem.frame };
    };
    if (this.#passing?.id === id) this.#passing = of(this.#passing);
    for (const [url, problem] of this.#unloaded) {
      if (problem.id === id) this.#unloaded.set(url, of(problem));
    }
    this.draw();
  }

  /**
   * The server could not make the data of the page, or run an action.
   *
   * @param {any} body
   * @param {Response} response
   * @param {{ isOfData?: boolean }} [options]
   */
  answered(body, response, { isOfData = false } = {}) {
    const details = String(body.details ?? body.stack ?? body.data?.stack ?? '');
    const request = response.headers.get('x-request-id') ?? '';
    if (request !== '' && this.#passing?.request === request) return; // its place is known already
    const problem = {
      title: `${response.status}: ${body.type ?? 'the action has failed'}`,
      message: String(body.error?.message ?? body.error ?? response.statusText),
      ...{ file: '', line: 0, column: 0, frame: '' },
      trace: details,
      request,
    };
    this.failed(problem, { isOfData });
  }

  /**
   * Something has gone wrong on this page.
   *
   * @param {Thrown} problem
   * @param {{ isOfData?: boolean }} [options]
   */
  failed(problem, { isOfData = false } = {}) {
    this.#passing = problem;
    this.#isOfData = isOfData;
    this.#closed.report(problem);
    this.draw();
  }

  #close() {
    this.#closed.close(this.#failed());
    this.#listed = false;
    this.requests.close();
    this.draw();
  }

  /** Show what has failed on this page over it, and count the rest in its corner. */
  draw() {
    this.#panel.around(() => this.#redraw());
  }

  #redraw() {
    for (const old of this.#document.querySelectorAll(`${NAME}, ${BADGE}`)) old.remove();
    const failed = this.#failed();
    const isNew = failed.some((problem) => !this.#closed.has(problem));
    const covering = this.#covers && isNew ? failed : [];
    const elsewhere = this.#elsewhere === null ? [] : [this.#elsewhere];
    const all = [...this.#unexplained(), ...this.#standing, ...elsewhere];
    if (covering.length > 0) this.#show(covering);
    else if (this.#listed && all.length > 0) this.#show(all);
    else if (this.requests.timings !== null) {
      this.#open('Requests', [], [], [requestsOf(this.#document, this.requests.timings)]);
    } else if (all.length > 0) this.#count(all.length);
  }

  #thrown() {
    return this.#passing === null ? [...this.#unloaded.values()].slice(-1) : [this.#passing];
  }

  /** What was thrown, but by files that do not compile: their own problems say why. */
  #unexplained() {
    const wrong = new Set(this.#standing.map(({ finding, file }) => (finding ? '' : file)));
    return this.#thrown().filter(({ file }) => file === '' || !wrong.has(file));
  }

  /** What has failed on this page. */
  #failed() {
    return [...this.#unexplained(), ...this.#standing.filter((problem) => this.#isHere(problem))];
  }

  /**
   * Whether something has failed on this page.
   *
   * @param {OverlayProblem} problem
   */
  #isHere({ finding, file, pages = [file] }) {
    const threw = file !== '' && this.#thrown().some((one) => one.file === file);
    return !finding && (threw || pages.some(this.concerns));
  }

  /** @param {OverlayProblem[]} problems */
  #show(problems) {
    const sections = problems.map((one) => timedSectionOf(this.#document, one, this.#editor, this));
    this.#open('Problems', problems, [copyOf(this.#document, problems, this.root)], sections);
  }

  /**
   * Open the panel.
   *
   * @param {string} label
   * @param {OverlayProblem[]} problems that it is about
   * @param {Element[]} buttons
   * @param {Element[]} sections
   */
  #open(label, problems, buttons, sections) {
    const close = elementOf(this.#document, 'button', 'Close (Esc)');
    close.addEventListener('click', () => this.#close());
    const link = this.timings === '' ? [] : [timingsOf(this.#document, problems, this.timings)];
    const box = this.#panel.boxOf(label, [...link, ...buttons, close], sections);
    this.#attach(NAME, box);
  }

  /** @param {number} problems */
  #count(problems) {
    const badge = elementOf(
      this.#document,
      'button',
      problems === 1 ? '1 problem' : `${problems} problems`,
    );
    badge.addEventListener('click', () => {
      this.#listed = true;
      this.draw();
    });
    this.#attach(BADGE, badge);
  }

  /**
   * @param {string} name
   * @param {Element} content
   */
  #attach(name, content) {
    const host = this.#document.createElement(name);
    const sheet = this.#document.createElement('style');
    sheet.textContent = styles;
    host.attachShadow({ mode: 'open' }).append(sheet, content);
    this.#document.body.append(host);
  }
}
