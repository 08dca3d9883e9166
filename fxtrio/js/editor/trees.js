/**
 * Trees of client code that is being written: what has not changed since is not parsed again.
 *
 * To parse a page of 2,000 lines and to look through its tree takes 60 ms, and an editor asks
 * with each key. So a text is cut before its statements, and the trees of the pieces are put
 * together.
 */

import { nodesOf, pushParts } from '../check/tree.js';
import { piecesOf } from '../format/pieces.js';

/** @typedef {import('../check/tree.js').Node} Node */
/** @typedef {(text: string) => Node | null} Parse null for a syntax error */

/** Characters of pieces that are remembered; a tree takes some hundred times as many bytes. */
const MOST = 400_000;

/** A program with what questions need of it. Valid until the next one is read. */
export class Tree {
  /**
   * @param {Node} program
   * @param {Part[]} parts
   * @param {WeakMap<Node, Node>} parents
   */
  constructor(program, parts, parents) {
    this.program = program;
    this.parts = parts;
    /** A node to the one that holds it. */
    this.parents = parents;
    /** Elements by the name of their component. @type {Map<string, Node[]>} */
    this.elements = new Map();
    for (const node of parts.flatMap((part) => part.elements)) {
      const { name } = node.name;
      const others = this.elements.get(name);
      if (others === undefined) this.elements.set(name, [node]);
      else others.push(node);
    }
  }

  /** All nodes but the program itself. */
  get nodes() {
    return this.parts.flatMap((part) => part.nodes);
  }

  /**
   * Return the nodes of the statements around a place, and of some beside them.
   *
   * @param {number} offset
   * @returns {Node[]}
   */
  around(offset) {
    const part = this.parts.findLast(({ start }) => start <= offset);
    return part?.nodes ?? [];
  }
}

/** Some statements. */
class Part {
  /**
   * @param {Node} program
   * @param {WeakMap<Node, Node>} parents
   */
  constructor(program, parents) {
    this.start = 0;
    this.body = program.body;
    this.nodes = nodesOf(program).slice(1);
    this.elements = this.nodes.filter(
      ({ type, name }) => type === 'JSXOpeningElement' && name.type === 'JSXIdentifier',
    );
    /** @type {Node[]} */
    const held = [];
    for (const node of this.nodes) {
      pushParts(node, held);
      for (const one of held) parents.set(one, node);
      held.length = 0;
    }
  }

  /**
   * Let the places of all nodes be those of a text that has these statements at `start`.
   *
   * @param {number} start
   */
  moveTo(start) {
    const by = start - this.start;
    if (by === 0) return;
    for (const node of this.nodes) {
      node.start += by;
      node.end += by;
      if (node.range) node.range = [node.start, node.end];
    }
    this.start = start;
  }
}

/** Reads texts. */
export class Trees {
  /** @param {Parse} parse */
  constructor(parse) {
    this.parse = parse;
    /** Parts by their text: one for each time that a file has it. @type {Map<string, Part[]>} */
    this.known = new Map();
    this.size = 0;
    /** @type {{ text: string, tree: Tree | null } | undefined} */
    this.last = undefined;
    /** @type {WeakMap<Node, Node>} */
    this.parents = new WeakMap();
  }

  /**
   * Return the tree of a text, null for a syntax error.
   *
   * @param {string} text
   * @returns {Tree | null}
   */
  of(text) {
    if (this.last?.text !== text) this.last = { text, tree: this.read(text) };
    return this.last.tree;
  }

  /**
   * @param {string} text
   * @returns {Tree | null}
   */
  read(text) {
    const parts = this.partsOf(text);
    if (parts !== null) {
      const body = parts.flatMap((part) => part.body);
      return this.treeOf({ ...spanOf(text), type: 'Program', sourceType: 'module', body }, parts);
    }
    const program = this.parse(text); // a template or a comment may have been cut
    return program && this.treeOf(program, [new Part(program, this.parents)]);
  }

  /**
   * @param {Node} program
   * @param {Part[]} parts
   */
  treeOf(program, parts) {
    for (const statement of program.body) this.parents.set(statement, program);
    return new Tree(program, parts, this.parents);
  }

  /**
   * Return the parts of a text; null when one of its pieces is no code by itself.
   *
   * @param {string} text
   * @returns {Part[] | null}
   */
  partsOf(text) {
    const parts = [];
    /** @type {Map<string, number>} */
    const times = new Map();
    let start = 0;
    for (const piece of piecesOf(text)) {
      const time = times.get(piece) ?? 0;
      times.set(piece, time + 1);
      const part = this.partOf(piece, time);
      if (part === null) return null;
      part.moveTo(start);
      parts.push(part);
      start += piece.length + 1;
    }
    return parts;
  }

  /**
   * @param {string} piece
   * @param {number} time how often the text has had it before
   * @returns {Part | null}
   */
  partOf(piece, time) {
    const known = this.known.get(piece) ?? [];
    let part = known[time];
    if (part === undefined) {
      const program = this.parse(piece);
      if (program === null) return null;
      part = new Part(program, this.parents);
      known.push(part);
      this.size += piece.length;
    }
    this.known.delete(piece); // so that it is the newest
    this.known.set(piece, known);
    this.forget();
    return part;
  }

  /** Forget the pieces that were not used for the longest time. */
  forget() {
    for (const [oldest, { length }] of this.known) {
      if (this.size <= MOST || this.known.size === 1) break;
      this.known.delete(oldest);
      this.size -= oldest.length * length;
    }
  }
}

/** @param {string} text */
function spanOf(text) {
  /** @type {[number, number]} */
  const range = [0, text.length];
  return { start: 0, end: text.length, range };
}
