/**
 * Shapes that the files of this folder share. Public types are in `index.d.ts`.
 */

import type { ComponentType, ReactNode } from 'react';

/** `[tag, attributes, text]`; `text` is "" for void elements. */
export type HeadNode = [tag: string, attributes: Record<string, string>, text: string];

/** A layout or template around a page. */
export interface LayoutInfo {
  module: string;
  template?: boolean;
}

/** A file that stands in a layout chain: within the first `depth` layouts. */
export interface StandIn {
  module: string;
  depth: number;
  css?: string[];
}

/** The `page` object of a state (`View.client` of the manifest, and the view's id). */
export interface PageInfo {
  id: number;
  build: string;
  module: string;
  layouts: LayoutInfo[];
  css?: string[];
  preload?: string[];
  loading?: StandIn;
  boundaries?: StandIn[];
  /** Language of documents whose head says nothing about it; `en` where it is left out. */
  lang?: string;
  /** URL path that the app is mounted at, where that is not what it was built for. */
  base?: string;
  /** Whether a host of files serves it, and the payload of each page is a file as well. */
  exported?: boolean;
  /** False for a page whose documents have no scripts, or only those of islands. */
  scripts?: false;
  /** The components of its islands, by key: URL of the module, and of what that imports. */
  islands?: Record<string, string[]>;
  /** No render may bring scripts either. */
  never?: true;
}

export type Json = Record<string, unknown>;

/** What an error page gets. */
export interface PageError {
  message: string;
  statusCode: number;
  type: string;
  data: Json;
  requestId: string;
}

/** The page state: hydration payload, navigation payload and payload of a render. */
export interface State {
  ok: boolean;
  routePath: string | null;
  requestedPath: string;
  statusCode: number;
  page: PageInfo;
  params: Record<string, string>;
  props: { data: Json; layoutData: Json };
  /** Own data of each layout: none, exactly `props.layoutData`, or the value. */
  layouts: (null | true | Json)[];
  head: HeadNode[][];
  ttl: number;
  /** What the loaders have named with `tags`. */
  tags?: string[];
  error?: string | PageError;
  type?: string;
  data?: Json;
  boundary?: string | null;
  requestId?: string;
  actionData?: ActionData;
  nonce?: string;
  /** Whether the page's data comes later (streamed renders only). */
  deferred?: boolean;
  /** Names of deferred values: `page:reviews`, or with the index of a layout, `0:menu`. */
  promises?: string[];
  /** Names the document while its values come. */
  document?: string;
  /** The time in which they come (seconds). */
  within?: number;
  /** End the responses whose values still come. */
  stops?: (() => void)[];
  user?: User | null;
}

/** What a form's action answered that was sent without JavaScript and failed. */
export interface ActionData {
  action: string;
  ok: false;
  error: string;
  fields: Record<string, string[]>;
  data: Json;
  /** The text that was typed, by field; no files and no passwords. */
  values: Record<string, string | string[]>;
}

export interface User {
  id: string | number;
  email?: string;
  [key: string]: unknown;
}

/** The exports of a `.fxl` file. */
export interface Module {
  default: ComponentType<any>;
  slots?: Record<string, ComponentType<any> | ReactNode>;
  /** Of a page in Markdown, as its headings. */
  frontMatter?: Record<string, any>;
  headings?: { level: number; id: string; text: string }[];
}

/** The modules of a view. */
export interface Parts {
  page: Module;
  layouts: Module[];
  loading: Module | null;
}

/** A state with the modules that show it. */
export interface View {
  state: State;
  parts: Parts;
}

/** Takes the nodes of `<Head>` elements. */
export interface HeadSink {
  add(
    level: number,
    nodes: HeadNode[],
    writers: typeof import('./head/writer.js').HeadWriter,
  ): () => void;
}

/** What a navigation came to. */
export type Visit =
  | { kind: 'view'; state: State; url: string }
  | { kind: 'redirect'; url: string }
  | { kind: 'document' };
