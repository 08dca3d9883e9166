/**
 * Errors as the server wants them: name, message, and a stack with the lines of the sources.
 *
 * The source maps are read when the first error occurs, so that a render costs nothing:
 * `--enable-source-maps` would parse them at the start.
 */

'use strict';

const fs = require('node:fs');
const { SourceMap } = require('node:module');
const path = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');

const { bundleNames, fileOfFrame } = require('./bundle.cjs');
const { renderer } = require('./library.json');
const { remedyFor } = require('./remedies.cjs');

const MESSAGE_LIMIT = 4096; // characters
const STACK_LIMIT = 32768; // characters
const CAUSES = 3; // errors of a `cause` chain that are shown below an error

/** A place in a stack: the URL of a module, a line and a column, both from 1. */
const PLACE = /(file:\/\/\S+?):(\d+):(\d+)/g;

/**
 * The folders of the worker and of `fx dev`, and the file that Node has started with, as paths and
 * as URLs: their own frames tell an application nothing.
 */
const OWN = [
  ...['.', '../develop'].map((folder) => path.join(__dirname, folder, path.sep)),
  ...process.argv.slice(1, 2),
].flatMap((place) => [place, pathToFileURL(place).href]);

/** A frame of React's renderer in a stack. */
const RENDERER = new RegExp(`^\\s+at .*/node_modules/${renderer}/`);

/** Frames of what loads modules in `fx dev`, which tell an application nothing either. */
const LOADER = /[( ]node:\w|\/node_modules\/(?:vite|rolldown)\//;

/** Frames of packages that come with the framework, such as PostCSS. */
const TOOLCHAIN = /\/toolchain-[0-9a-f]+\/node_modules\//;

/** Frames without a place, such as `at async Promise.all (index 0)`. */
const PLACELESS = /^\s+at async \S+ \(index \d+\)$/;

const FRAME = /^\s+at /;

// eslint-disable-next-line no-control-regex -- colours, which bundlers write into messages
const COLOURS = /\x1b\[[0-9;]*m/g;

/** Describes errors. Keeps the source maps of the modules it has met. */
class Stacks {
  /** @type {Map<string, SourceMap | null>} */
  #maps = new Map();

  /**
   * Return what can be said about something that was thrown. Never throws itself.
   *
   * @param {unknown} thrown
   * @param {any} [state] what was rendered, to find what an error is about
   * @returns {{ name: string, message: string, stack: string }}
   */
  describe(thrown, state) {
    try {
      if (!(thrown instanceof Error)) {
        return { name: 'Error', message: shorten(String(thrown), MESSAGE_LIMIT), stack: '' };
      }
      const name = shorten(String(thrown.name), 128);
      const own = String(thrown.message).replace(COLOURS, '');
      const remedy = remedyFor(name, own, state);
      const stack = this.#chain(thrown);
      if (remedy === '') {
        return { name, message: shorten(own, MESSAGE_LIMIT), stack: shorten(stack, STACK_LIMIT) };
      }
      const message = `${own.replace(/\.$/, '')}. ${remedy}`;
      const lines = stack.split('\n').filter((line) => !RENDERER.test(line));
      return {
        name,
        message: shorten(message, MESSAGE_LIMIT),
        stack: shorten(
          lines.join('\n').replace(own, () => message),
          STACK_LIMIT,
        ),
      };
    } catch (second) {
      return {
        name: 'Error',
        message: `an error that cannot be shown (${typeof second})`,
        stack: '',
      };
    }
  }

  /**
   * Return the stack of something that was thrown, as lines for a log.
   *
   * @param {unknown} thrown
   * @param {any} [state] what was rendered
   */
  text(thrown, state) {
    const { name, message, stack } = this.describe(thrown, state);
    return stack || `${name}: ${message}`;
  }

  /**
   * Return a text with the lines of the sources where it has places in a bundle: what page code
   * prints of a stack has the name that compiled code has kept.
   *
   * @param {string} text
   */
  locate(text) {
    return bundleNames()
      .filter((name) => text.includes(name))
      .reduce((located, name) => {
        const place = new RegExp(`(${name.replaceAll(/\W/g, '\\$&')}):(\\d+):(\\d+)`, 'g');
        return located.replace(place, (...match) => this.#original(match));
      }, text);
  }

  /** @param {Error} error */
  #chain(error) {
    const stacks = [];
    /** @type {unknown} */
    let next = error;
    while (next instanceof Error && stacks.length <= CAUSES) {
      const lines = String(next.stack ?? '')
        .replace(COLOURS, '')
        .split('\n');
      const telling = lines.filter((line) => !FRAME.test(line) || !isOurs(line));
      const mapped = telling.map((line) =>
        line.replace(PLACE, (...match) => this.#original(match)),
      );
      stacks.push(withoutRenderer(mapped).join('\n'));
      next = next.cause;
    }
    return stacks.join('\nCaused by: ');
  }

  /** @param {any[]} match of PLACE */
  #original([place, named, line, column]) {
    const url = fileOfFrame(named);
    const found = this.#map(url)?.findEntry(line - 1, column - 1);
    if (!found || !('originalSource' in found) || !found.originalSource) {
      return place.replace(named, fileURLToPath(url));
    }
    const source = new URL(found.originalSource, `${url}.map`);
    const path = source.protocol === 'file:' ? fileURLToPath(source) : source.href;
    return `${path}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  }

  /** @param {string} url of a module */
  #map(url) {
    let map = this.#maps.get(url);
    if (map === undefined) {
      map = readMap(`${fileURLToPath(url)}.map`);
      this.#maps.set(url, map);
    }
    return map;
  }
}

/** @param {string} line a frame */
function isOurs(line) {
  return OWN.some((folder) => line.includes(folder)) || LOADER.test(line) || PLACELESS.test(line);
}

/**
 * Return the lines of a stack without the frames of React's renderer, which are below every
 * component, and of the packages of the framework; all of them when there are no others.
 *
 * @param {string[]} lines
 */
function withoutRenderer(lines) {
  const own = lines.filter((line) => !RENDERER.test(line) && !TOOLCHAIN.test(line));
  return own.some((line) => FRAME.test(line)) ? own : lines;
}

/**
 * @param {string} path
 * @returns {SourceMap | null} null when there is none that can be read
 */
function readMap(path) {
  try {
    return new SourceMap(JSON.parse(fs.readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/**
 * @param {string} text
 * @param {number} limit characters
 */
function shorten(text, limit) {
  const short = text.length <= limit ? text : `${text.slice(0, limit)}…`;
  return short.toWellFormed(); // a lone surrogate cannot be sent
}

exports.Stacks = Stacks;
