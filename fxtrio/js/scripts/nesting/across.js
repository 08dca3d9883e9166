/**
 * Elements that components bring where HTML does not allow them: `<p><Title /></p>` with a heading in
 * `Title`, and `<Para><Title /></Para>` with a paragraph around the children of `Para`.
 *
 * What is around an element in its own component is looked at in `nesting.js`. Here, everything that may
 * be shown within an element is followed to where it is written: components and what they show, children
 * and other properties to where they are given, names to their values. What cannot be followed counts as
 * not allowed. JSON never holds an element, so data is a text at most.
 */

import { CLIENT } from '../allowed.js';
import { textOf } from '../elements/elements.js';
import { elementOf, isIsland } from '../islands/islands.js';
import { isLibrary, Meanings } from '../module.js';
import { setHtmlProblem } from '../elements/set-html.js';
import { textProblem } from '../elements/texts.js';
import { AWAY } from './findings.js';
import { clashOf, drawingAround, isFree, shortened } from './nesting.js';
import { addTo, Sources } from './sources.js';
import { Values } from './values.js';

/** @typedef {import('../../check/tree.js').Node} Node */
/** @typedef {import('./sources.js').Place} Place */
/** @typedef {import('./findings.js').At} At */
/** @typedef {import('../module.js').Module} Module */
/** @typedef {import('../proof.js').Proof} Proof */
/** @typedef {import('../../vite/plan.js').ScriptReason} ScriptReason */

/** Components of `fx/client` whose children are not shown where they stand. */
const IN_HEAD = new Set(['Font', 'Head']);

/** What `Toc` shows, each in the one before. */
const OF_TOC = ['nav', 'ul', 'li', 'a'];

/** What components of `fx/client` show instead of themselves. */
const ELEMENTS = new Map([
  ['Image', 'img'],
  ['Link', 'a'],
]);

/**
 * Return the element of HTML that a component of `fx/client` shows instead of itself; "" for any other.
 *
 * @param {import('../module.js').Meaning | null | undefined} meaning
 */
export function elementOfClient(meaning) {
  const isOfClient = meaning?.kind === 'import' && meaning.specifier === 'fx/client';
  return (isOfClient && ELEMENTS.get(meaning.name)) || '';
}

/**
 * Return the reasons of each file.
 *
 * @param {Proof} proof
 * @param {Map<string, { module: Module } | null>} known by file
 * @param {import('../../vite/plan.js').Plan} plan
 * @returns {Map<string, ScriptReason[]>}
 */
export function reasonsAcross(proof, known, { root, views }) {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  for (const [file, one] of known) if (one) modules.set(file, one.module);
  const across = new Across(proof, new Sources(proof, modules));
  for (const { module, layouts } of views) {
    across.addView([...layouts.map(([source]) => source), module].map((one) => `${root}/${one}`));
  }
  for (const [file, { program }] of modules) across.scan(program, file, []);
  across.showPages();
  /** @type {Map<string, ScriptReason[]>} */
  const reasons = new Map();
  for (const [file, found] of across.reasons) {
    const module = across.sources.moduleOf(file);
    const sorted = found.sort((one, other) => one.node.start - other.node.start);
    const placed = sorted.map(({ node, cause }) => ({
      path: module.path,
      ...module.placeOf(node),
      cause,
    }));
    reasons.set(file, placed);
  }
  return reasons;
}

class Across extends Values {
  /** @type {Place[]} */
  #outermost = [];
  /** @type {Map<string, Meanings>} */
  #meanings = new Map();

  /**
   * @param {Proof} proof
   * @param {Sources} sources
   */
  constructor(proof, sources) {
    super(sources);
    for (const [file, module] of sources.modules) {
      const resolve = (/** @type {string} */ specifier, /** @type {string} */ name) =>
        proof.declared(file, specifier, name).meaning;
      this.#meanings.set(file, new Meanings(module, resolve));
    }
  }

  /** @param {string[]} files of a page, and of the layouts around it, the outermost first */
  addView(files) {
    const exported = files.flatMap((file) => this.sources.exportOf(file, 'default') ?? []);
    this.#outermost.push(...exported.slice(0, 1));
    for (const [index, one] of exported.slice(1).entries()) {
      const around = this.sources.functionOf(exported[index])?.node;
      const before = around && (this.inLayouts.get(around) ?? []);
      const isNew = before && !before.some(({ node }) => node === one.node);
      if (around && isNew) addTo(this.inLayouts, around, one);
    }
  }

  /** The document has pages in an element that allows what is not part of another one. */
  showPages() {
    for (const one of this.#outermost) {
      const at = { file: one.file, chain: ['div'], blamed: one, via: '', use: null, ...AWAY };
      this.showComponent(one, at);
    }
  }

  /**
   * Look at all elements of a module, each with those around it in its component.
   *
   * @param {Node} node
   * @param {string} file
   * @param {string[]} chain
   */
  scan(node, file, chain) {
    let inside = chain;
    if (node.type === 'JSXElement') {
      const name = this.#elementOf(file, node);
      const isComponentInside = name === '' && chain.length > 0;
      if (isComponentInside) this.show(node, this.#at(file, chain, node));
      inside = name === '' ? [] : shortened([...chain, name]);
      for (const one of node.openingElement.attributes) {
        this.scan(one, file, []);
        if (name !== '' && one.name?.name === 'children' && one.value) {
          this.show(one.value, this.#at(file, inside, one));
        }
      }
      for (const one of node.children) this.scan(one, file, inside);
      return;
    }
    if (node.type === 'JSXExpressionContainer' && chain.length > 0) {
      this.show(node.expression, this.#at(file, chain, node));
    }
    for (const value of Object.values(node)) {
      for (const part of Array.isArray(value) ? value : [value]) {
        if (typeof part?.type === 'string') this.scan(part, file, inside);
      }
    }
  }

  /** @param {string} file @param {string[]} chain @param {Node} node @returns {At} */
  #at(file, chain, node) {
    return { file, chain, blamed: { file, node }, via: '', use: null, isOwn: true, isDirect: true };
  }

  /** Return the element of HTML that a tag is; "" for a component. @param {string} file @param {Node} node */
  #elementOf(file, { openingElement }) {
    const meaning = this.#meanings.get(file)?.ofTag(openingElement.name);
    if (meaning === undefined) return textOf(openingElement.name);
    return isIsland(meaning) ? (elementOf(openingElement) ?? '') : elementOfClient(meaning);
  }

  /** @param {Node} node @param {At} at */
  showElement(node, at) {
    const { file } = at;
    const { openingElement, children } = node;
    const meaning = this.#meanings.get(at.file)?.ofTag(openingElement.name);
    const name = this.#elementOf(at.file, node);
    if (name !== '') {
      const module = this.sources.moduleOf(file);
      const problem = setHtmlProblem(openingElement, name, at.chain, module);
      // What is written in the elements around it is looked at with these.
      if (problem !== '' && !at.isOwn) this.add(at, problem);
      const isDrawn = !at.isOwn && drawingAround(at.chain) !== undefined;
      const text = isDrawn ? textProblem(node, name, at.chain, module) : '';
      if (text !== '') this.add(at, text);
      return this.#showInside(name, children, at);
    }
    if (
      meaning?.kind === 'context' ||
      (meaning?.kind === 'import' && meaning.specifier === 'react')
    ) {
      return children.forEach((/** @type {Node} */ one) => {
        const called = one.expression && this.sources.functionOf({ file, node: one.expression });
        if (called) this.showReturned(called.node, { ...at, file: called.file, ...AWAY });
        else this.show(one, { ...at, ...AWAY });
      });
    }
    if (meaning?.kind === 'import' && isLibrary(meaning.specifier)) {
      return this.#showOfClient(meaning.name, children, at);
    }
    const component = this.sources.functionOf({ file: at.file, node: openingElement.name });
    if (!component) return this.addUnknown(at, `<${textOf(openingElement.name)}>`);
    const site = { file: at.file, node };
    const outer = at.use?.outer
      ? { ...at.use, outer: null, key: at.use.key.split('<')[0] }
      : at.use;
    const key = [this.numberOf(node), ...(outer ? [outer.key] : [])].join('<');
    const use = { component: component.node, site, outer, key };
    return this.showComponent(component, { ...at, use });
  }

  /** @param {string} name @param {Node[]} children @param {At} at */
  #showInside(name, children, at) {
    const outer = clashOf(name, at.chain);
    // What is written in the elements around it is looked at with these.
    if (outer !== undefined && !at.isOwn) {
      this.add(at, `<${name}> in <${outer}>, which browsers rearrange`);
    }
    if (outer !== undefined || isFree(at.chain)) return;
    const inside = { ...at, chain: shortened([...at.chain, name]), isDirect: true, isQuiet: false };
    for (const one of children) this.show(one, inside);
  }

  /**
   * @param {string} name of a component of `fx/client`
   * @param {Node[]} children
   * @param {At} at
   */
  #showOfClient(name, children, at) {
    if (IN_HEAD.has(name)) return;
    if (name === 'Toc') {
      for (const [index, one] of OF_TOC.entries()) {
        const chain = shortened([...at.chain, ...OF_TOC.slice(0, index)]);
        this.#showInside(one, [], { ...at, chain, ...AWAY });
      }
    } else if (name === 'Slot') {
      for (const one of this.sources.slots()) {
        if (one === undefined) this.addUnknown(at, `<${name}>`);
        else if (this.sources.functionOf(one)) this.showComponent(one, { ...at, use: null });
        else this.show(one.node, { ...at, file: one.file, use: null, ...AWAY });
      }
      for (const one of children) this.show(one, at);
    } else if (CLIENT.has(name)) this.addUnknown(at, `<${name}>`);
  }

  /** @param {Place} place of a component @param {At} at */
  showComponent(place, at) {
    const found = this.sources.functionOf(place);
    if (!found) return;
    const { file, node } = found;
    const parent = this.sources.parentOf(found);
    const name = node.id?.name ?? parent?.id?.name;
    const { path } = this.sources.moduleOf(file);
    const via = name ? `${name} in ${path}` : path;
    this.showReturned(node, { ...at, file, via, ...AWAY, isQuiet: false });
  }
}
