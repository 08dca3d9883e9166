/**
 * Which page a path leads to, found in the tree of all paths, `fx/routes`: a part of the path after
 * the other, so that a link costs what its path is long, however many pages there are. Read by
 * `fx typecheck`, as `fx/paths`.
 */

import type { Beside, Pages } from 'fx/routes';

/** Where a path is so far; what is not there is null. */
export interface Place {
  /** What answers a path that ends here: the number of a page. */
  page: unknown;
  /** What follows behind a slash, by its text. */
  next: object;
  /** What follows behind any other text, `[name]`. */
  any: unknown;
  /** What answers all that follows, `[...name]`. */
  rest: unknown;
}

/** A place behind which nothing follows. */
export interface Leaf<Page> {
  page: Page;
  next: {};
  any: null;
  rest: null;
}

/** What is no path of the app. */
export interface Nowhere {
  readonly nowhere: unique symbol;
}

type Elsewhere =
  '' | `${string}:${string}` | `//${string}` | `#${string}` | `?${string}` | `.${string}`;

/** A path that the app answers, or what leads elsewhere. */
export type Href<Text> = Text extends string
  ? string extends Text
    ? Text
    : [LeadsTo<Text>] extends [never]
      ? Nowhere
      : Text
  : Text;

type LeadsTo<Text extends string> = At<Text> | Outside<Text>;

/** The path of a page. */
export type PagePath<Text> = Text extends string
  ? string extends Text
    ? Text
    : [At<Text>] extends [never]
      ? Nowhere
      : Text
  : Text;

/**
 * The number of the page that answers a path as the server finds it, the most specific one; never
 * where there is none, and 'open' for text of which too little is known.
 */
export type At<Text extends string> = string extends Text ? 'open' : Found<Pages, PathOf<Text>>;

/** What besides the pages of the app answers a path; never where nothing does. */
export type Outside<Text extends string> = Text extends Elsewhere
  ? 'open'
  : Found<Beside, PathOf<Text>>;

/** A path without its query and fragment. */
type PathOf<Text extends string> = Text extends `${infer Path}?${string}`
  ? PathOf<Path>
  : Text extends `${infer Path}#${string}`
    ? Path
    : Text;

/** All of a path may be unknown: that of `${pathname}?tab=1`. */
type Found<Tree extends Place, Path> = string extends Path
  ? 'open'
  : Path extends `/${infer Text}`
    ? Below<TextOf<Text>, Tree>
    : Path extends `${infer First}${string}`
      ? IsOpen<TextOf<First>> extends true
        ? 'open'
        : never
      : never;

/** Any text where a value is unknown: `any` is assignable to each text. */
type TextOf<Text> = [Text] extends [''] ? ([Text] extends ['any'] ? string : Text) : Text;

type Below<Text, From extends Place> = Text extends `${infer Head}/${infer Tail}`
  ? Step<TextOf<Head>, TextOf<Tail>, From>
  : Text extends ''
    ? From['page'] extends null
      ? never
      : From['page']
    : Step<Text, '', From>;

type Step<Head, Tail, From extends Place> = Head extends keyof From['next']
  ? OrAny<Below<Tail, Named<From['next'], Head>>, Head, Tail, From>
  : Any<Head, Tail, From>;

type Named<Next, Head extends keyof Next> = Extract<Next[Head], Place>;

type OrAny<Hit, Head, Tail, From extends Place> = [Hit] extends [never]
  ? Any<Head, Tail, From>
  : Hit;

type Any<Head, Tail, From extends Place> = Head extends ''
  ? never
  : From['any'] extends Place
    ? OrRest<Below<Tail, From['any']>, Head, Tail, From>
    : Rest<Head, Tail, From>;

type OrRest<Hit, Head, Tail, From extends Place> = [Hit] extends [never]
  ? Rest<Head, Tail, From>
  : Hit;

type Rest<Head, Tail, From extends Place> = From['rest'] extends null
  ? IsOpen<Head> extends true
    ? Some<{ [Name in keyof From['next'] & Head]: Below<Tail, Named<From['next'], Name>> }>
    : never
  : From['rest'];

/** Whether text has a part that is not known, which may be that of any place. */
type IsOpen<Text> = Text extends string ? ({} extends Record<Text, 1> ? true : false) : false;

type Some<Hits> = [Hits[keyof Hits]] extends [never] ? never : 'open';
