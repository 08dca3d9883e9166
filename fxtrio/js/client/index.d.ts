/** Types of the module `fx/client`. */

import type { ComponentProps, CSSProperties, ReactElement, ReactNode } from 'react';

// What page files get
/** What an `error.fxl` or `not-found.fxl` is told. */
export interface PageError {
  message: string;
  statusCode: number;
  /** The class of the error: `LoaderError`, `ServerError`, … */
  type: string;
  data: Record<string, any>;
  /** The id of the request in the log, from status 500 on; "" otherwise. */
  requestId: string;
}

/** What a form's action answered that was sent without JavaScript and failed. */
export interface ActionData {
  /** Name of the action. */
  action: string;
  ok: false;
  error: string;
  fields: Fields;
  data: Record<string, any>;
  values: Values;
}

/** Text that was typed, by the name of its field: a list where a name came more than once. */
export type Values = Record<string, any>;

/** Messages by the path of a field, such as `items.0.price`. */
export type Fields = Record<string, string[]>;

/** Properties of a page. */
export interface PageProps<Data = any, LayoutData = any> {
  /** What the page's loader returned; `{}` without one. */
  data: Data;
  /** What the loaders of the layouts returned, merged: the nearest wins. */
  layoutData: LayoutData;
  /** Values of the dynamic parts of the path. */
  params: Record<string, string>;
  actionData?: ActionData;
}

/** Properties of a layout or template. */
export interface LayoutProps<Data = any, LayoutData = any> {
  /** What the layout's own loader returned; `{}` without one. */
  data: Data;
  /** What the loaders of the layouts around it returned, merged. */
  layoutData: LayoutData;
  children: ReactNode;
}

/** Properties of an `error.fxl` or `not-found.fxl`. */
export interface ErrorProps<LayoutData = any> extends PageProps<any, LayoutData> {
  error: PageError;
  /** Shows the page again; there after an error of a component in the browser. */
  reset?: () => void;
}

// Components

export type LinkProps = Omit<ComponentProps<'a'>, 'href'> & {
  /** A path of the app, without the base URL, or any other URL. */
  href: string;
  /** Load its data and code when pointer or focus come (the default), when it is visible, or never. */
  prefetch?: 'hover' | 'viewport' | boolean;
  /** Take the place of the current history entry. */
  replace?: boolean;
  /** Whether to scroll to the top, or to the hash (the default). */
  scroll?: boolean;
};

/** A link to a page of the app; any other URL works as in a plain `<a>`. */
export function Link(props: LinkProps): ReactElement;

/** What a form knows of its submission. */
export interface ActionState<Result = any> {
  pending: boolean;
  /** What the action returned: null until it succeeds, and after a failure. */
  data: Result | null;
  error: string | null;
  fields: Fields;
}

/** What the children of a `<Form>` may be a function of. */
export interface FormState<Result = any> extends ActionState<Result> {
  /** What was typed before a submission without JavaScript failed; no files and secrets. */
  values: Values;
}

type PlainFormProps = Omit<ComponentProps<'form'>, 'action' | 'method' | 'onError' | 'children'>;

/** A form that calls an action. */
export type ActionFormProps<Result = any> = PlainFormProps & {
  method?: 'post' | 'POST';
  /** Name of an action. */
  action: string;
  /** Path of another page that defines the action. */
  page?: string;
  /** Empty the fields after success. */
  reset?: boolean;
  /** Load the page's data anew after success: yes, unless there is an `onSuccess`. */
  refresh?: boolean;
  /**
   * The keys of the page's `data` that the submission changes, or a function of the data and the
   * form's that returns them. The children get the data with them as `optimistic`.
   */
  optimistic?: Record<string, any> | ((data: any, form: FormData) => Record<string, any>);
  /** Of an action that streams: what `data` becomes with the next value. */
  reduce?: (all: any, value: any) => any;
  /** Of an action that streams: what `data` is before the first value. */
  initial?: any;
  onSuccess?: (data: Result) => void;
  /** `data` is that of the `ActionError`; `{}` without. */
  onError?: (message: string, fields: Fields, data: Record<string, any>) => void;
  children?: ReactNode | ((state: FormState<Result> & Stoppable & Expected) => ReactNode);
};

/** A form whose fields become the query of a page. */
export type SearchFormProps = PlainFormProps & {
  method: 'get' | 'GET';
  /** Path of the page, by default the one that is shown. */
  action?: string;
  /** Take the place of the current history entry. */
  replace?: boolean;
  /** Whether to scroll to the top (the default). */
  scroll?: boolean;
  /** `values` has the query of the shown page when the form leads to it: for `defaultValue`. */
  children?: ReactNode | ((state: FormState) => ReactNode);
};

export type FormProps<Result = any> = ActionFormProps<Result> | SearchFormProps;

/** A form that calls an action or goes to a page, with JavaScript or without. */
export function Form<Result = any>(props: FormProps<Result>): ReactElement;

/** Elements for the document's head: of those that mean the same the innermost wins. */
export function Head(props: { children?: ReactNode }): ReactElement | null;

export interface ScriptProps {
  src?: string;
  /** Tells inline scripts apart. */
  id?: string;
  /** In the document's head, when the page is alive (the default), or when the browser is idle. */
  strategy?: 'beforeInteractive' | 'afterInteractive' | 'lazyOnload';
  /** The code of an inline script. */
  children?: string;
  /** The script has run, now or before. */
  onReady?: () => void;
  onError?: (error: Error) => void;
  /** Further attributes of the element. */
  attributes?: Record<string, string>;
}

/** Run a script once in a document, however many components ask for it. */
export function Script(props: ScriptProps): ReactElement | null;

/** A local picture, `import lake from './lake.jpg?picture'`; its size is in CSS pixels. */
export interface Picture {
  src: string;
  width: number;
  height: number;
  srcSet?: string;
  sources?: { type: string; srcSet: string }[];
  placeholder?: string;
}

export type ImageProps = Omit<ComponentProps<'img'>, 'src' | 'alt'> & {
  src: string | Picture;
  alt: string;
  /** Load it at once: for what is seen first. */
  priority?: boolean;
  /** Cover the positioned element around it; otherwise give `width` and `height`, unless `src` is a `Picture`. */
  fill?: boolean;
  style?: CSSProperties;
};

/** An image that is loaded when it comes near the screen. */
export function Image(props: ImageProps): ReactElement;

/** A font of the project, `import inter from './inter.woff2?font'`: URL, families, media type. */
export type FontFile = { src: string; family: string; type: string };

/** Load a font with the page, before any text is found to need it. */
export function Font(props: { src: FontFile }): ReactElement;

/**
 * A part of a page that needs scripts, which are loaded for it alone: at once (the default), when the
 * browser is idle, or when it is nearly visible. `children` is one component, imported from a file of
 * its own, with properties that are JSON. `as` is the element around it, such as `"td"` in a row.
 */
export function Island(props: {
  when?: 'load' | 'idle' | 'visible';
  as?: string;
  className?: string;
  children: ReactElement;
}): ReactElement;

/** Show `children` in the browser, `fallback` on the server and until the page is alive. */
export function ClientOnly(props: {
  children?: ReactNode | (() => ReactNode);
  fallback?: ReactNode;
}): ReactNode;

/** Show `children` of a value that is deferred, `fallback` until it comes; newer ones replace it. */
export function Await<T>(props: {
  value: T | Promise<T>;
  fallback?: ReactNode;
  children: (value: T) => ReactNode;
}): ReactElement;

/** A place in a layout that the page fills by exporting `slots`; `children` without that. */
export function Slot(props: {
  name: string;
  children?: ReactNode;
  [property: string]: unknown;
}): ReactNode;

/** What a page in Markdown says about itself. */
export interface Content<T = Record<string, any>> {
  /** The values as they are written, dates as text. */
  frontMatter: T;
  /** Levels from 1 to 6; fragments of URLs name an `id`, which is "" for some. */
  headings: { level: number; id: string; text: string }[];
}

/** Return what the page that is shown says about itself; null for a page not in Markdown. */
export function useContent<T = Record<string, any>>(): Content<T> | null;

/** The headings of a page in Markdown, second and third level; `label` is for screen readers. */
export function Toc(props: { label?: string; className?: string }): ReactNode;

// Navigation
/** Go to a page. Resolves when it is shown, or when something newer has taken its place. */
export function navigate(
  href: string,
  options?: { replace?: boolean; scroll?: boolean },
): Promise<void>;

/** Load a page's data and code, so that the navigation that follows waits for neither. */
export function prefetch(href: string): Promise<void>;

/**
 * Run the loaders of the shown page again, and those of `useLoader`; state and scroll position
 * stay. With `only`, other keys of the page's `data` and `layoutData` stay as they are, and other
 * deferred functions do not run.
 */
export function refresh(options?: { only?: readonly string[] }): Promise<void>;

/** The data of another page. */
export interface Loader<Data = any> {
  /** What its loader returned; null before it comes, and when there is an `error`. */
  data: Data | null;
  /** Why there is no data: the page fails, or redirects (`type` is "Redirect"). */
  error: PageError | null;
  /** Whether it is on its way, for the first time or again. */
  pending: boolean;
  /** Ask the server again. Resolves when the answer is there. */
  refresh: () => Promise<void>;
}

/**
 * Return what the loader of another page returns, without going there; null asks for nothing.
 * Hooks and loaders run as they do for a navigation. Components that name the same path share one
 * request, which the last one of them aborts.
 */
export function useLoader<Data = any>(path: string | null): Loader<Data>;

/** Forget what is kept for a URL: without a query for all of its queries, without a URL all. */
export function invalidate(href?: string): void;

/** The path of the page as the address bar has it, without the base URL. */
export function usePathname(): string;

/** What the loader of the page or layout around the component returned: its `data`. */
export function useData<Data = any>(): Data;

/** What the page or layout around the component has as `layoutData`. */
export function useLayoutData<LayoutData = any>(): LayoutData;

/**
 * The data of a page or layout by its file, such as `DataOf<'pages/books/index.fxl'>`: known to
 * `fx typecheck` and editors with `fx lsp`, anything for other compilers.
 */
export type DataOf<Source extends string> = Source extends string ? any : never;

/** The values of the dynamic parts of the path. */
export function useParams<Params extends Record<string, string> = Record<string, string>>(): Params;

/** The query: the same object until it changes, not meant to be changed. */
export function useSearchParams(): URLSearchParams;

/** What is loading. */
export function useNavigation(): {
  state: 'idle' | 'loading';
  /** Path and query; null when idle. */
  to: string | null;
  pending: boolean;
};

// Actions
/**
 * Actions that are known by name: `{ name: { payload, result } }`. Generated declarations add to
 * it.
 */
export interface Actions {}

/** What an action answered. */
export type ActionResult<Result = any> =
  | ({ ok: true; fields: Fields; redirect?: string } & Result)
  | { ok: false; error: string; fields: Fields; data?: any; stopped?: boolean };

/** An action of the page as a function, with the state of its last call. Never throws. */
export type Action<Payload = any, Result = any> = ((
  payload?: Payload | FormData | URLSearchParams,
) => Promise<ActionResult<Result>>) &
  ActionState<Result> &
  Stoppable &
  Expected;

/** What an action may be called with to show its result before the server responds. */
export interface Optimistic<Data = any, Payload = any> {
  /**
   * The keys of the page's `data` that a call changes, or a function that returns them. After a
   * call that succeeds the loaders run again; after a failure the true value is back.
   */
  optimistic?: Partial<Data> | ((data: Data, payload: Payload) => Partial<Data>);
}

/** What an action knows of the page's data. */
export interface Expected<Data = any> {
  /** The page's `data`, with what the option `optimistic` makes of it for calls under way. */
  optimistic: Data;
}

/** A call that can be ended. */
export interface Stoppable {
  /** End the call: it is `stopped`, and not ok. An action that streams is cancelled. */
  stop: () => void;
}

/** What an action that streams may be called with: `data` is the last value without them. */
export interface Streaming<Data = any, Value = any> {
  /** Return what `data` becomes with the next value. */
  reduce?: (all: Data, value: Value) => Data;
  /** What `data` is before the first value; null by default. */
  initial?: Data;
}

/** An action that throws an `ActionFailure` where another one resolves with `ok: false`. */
export type ThrowingAction<Payload = any, Result = any> = ((
  payload?: Payload | FormData | URLSearchParams,
) => Promise<Extract<ActionResult<Result>, { ok: true }>>) &
  ActionState<Result> &
  Stoppable &
  Expected;

/** An action has failed: its `error` is the message. */
export class ActionFailure extends Error {
  fields: Fields;
  /** That of the `ActionError`. */
  data: any;
}

type PayloadOf<Known> = Known extends { payload: infer Payload } ? Payload : any;
type ResultOf<Known> = Known extends { result: infer Result } ? Result : any;

/**
 * Return an action; `page` is the path of another page that defines it. With `throws` a failure
 * is thrown as an `ActionFailure`, for libraries that expect that.
 */
export function useAction<Name extends keyof Actions>(
  name: Name,
  options?: { page?: string; throws?: false } & Streaming &
    Optimistic<any, PayloadOf<Actions[Name]>>,
): Action<PayloadOf<Actions[Name]>, ResultOf<Actions[Name]>>;
export function useAction<Name extends keyof Actions>(
  name: Name,
  options: { page?: string; throws: true } & Streaming & Optimistic<any, PayloadOf<Actions[Name]>>,
): ThrowingAction<PayloadOf<Actions[Name]>, ResultOf<Actions[Name]>>;
export function useAction<Payload = any, Result = any>(
  name: string,
  options?: { page?: string; throws?: false } & Streaming & Optimistic,
): Action<Payload, Result>;
export function useAction<Payload = any, Result = any>(
  name: string,
  options: { page?: string; throws: true } & Streaming & Optimistic,
): ThrowingAction<Payload, Result>;

// Connections and people

export interface StreamOptions<Value = any, Query = any> {
  /** The path of another page that defines the stream. */
  page?: string;
  query?: Query;
  /** How many values are kept, 100 by default. */
  limit?: number;
  /** `false` closes the connection. */
  enabled?: boolean;
  /** Called for each value; those that arrive together are one render. */
  onValue?: (value: Value) => void;
}

export interface StreamState<Value = any> {
  /** The latest values, oldest first. */
  values: Value[];
  /** The newest value, null before the first. */
  last: Value | null;
  status: 'connecting' | 'open' | 'closed';
  /** How many values are lost in all; null if nobody knows. What is shown is to be loaded again. */
  missed: number | null;
  /** Why the server has ended the stream. */
  error: string | null;
}

/** Read a `@stream` of the page for as long as the component is shown. */
export function useStream<Value = any>(
  name: string,
  options?: StreamOptions<Value>,
): StreamState<Value>;

export interface WebSocketOptions<Message = any> {
  /** JSON objects and arrays come parsed, other text as text, binary data as ArrayBuffer. */
  onMessage?: (message: Message) => void;
  /** Also after each reconnection. */
  onOpen?: () => void;
  /**
   * Messages may be lost: after each reconnection (`count` is null), and where the server says
   * so, between the message before and the one after. What is shown is to be loaded anew.
   */
  onMissed?: (missed: { count: number | null }) => void;
  onClose?: (event: CloseEvent) => void;
  /** `false` closes the connection. */
  enabled?: boolean;
  protocols?: string | string[];
}

/** Keep a WebSocket open to `path`, by default the page's own. */
export function useWebSocket<Message = any>(
  path?: string,
  options?: WebSocketOptions<Message>,
): {
  status: 'connecting' | 'open' | 'closed';
  /**
   * The newest message, null before the first. A component that reads it is rendered for each
   * message; those that come together may be one render: `onMessage` gets every one.
   */
  readonly lastMessage: Message | null;
  /** Why the connection was lost or closed by the server; null while it is open. */
  error: string | null;
  /** Returns false, and drops the message, while the connection is not open. */
  send: (message: unknown) => boolean;
  close: () => void;
};

/** Somebody who is signed in. */
export interface User {
  id: string | number;
  email?: string;
  [property: string]: unknown;
}

/** The signed-in user of the auth plugin, and what changes it. */
export function useAuth(): {
  status: 'loading' | 'signed-in' | 'signed-out';
  user: User | null;
  /** Whether `status` is "signed-in". */
  isAuthenticated: boolean;
  /** Whether `status` is "loading": nobody knows yet. */
  loading: boolean;
  /** Why the last login, logout or registration failed; null after one that did not. */
  error: string | null;
  login: (credentials: object) => Promise<ActionResult<{ user: User }>>;
  logout: () => Promise<ActionResult>;
  logoutEverywhere: () => Promise<ActionResult>;
  register: (details: object) => Promise<ActionResult>;
  /** The same as `register`. */
  signup: (details: object) => Promise<ActionResult>;
  /** Ask the server again. */
  refresh: () => Promise<void>;
};

/** Returns one of fxtrio's messages in the language `lang`; undefined leaves it as it is. */
export type Translate = (message: string, lang: string) => string | undefined;

/** Translate what browsers show without the server; the last function that is given counts. */
export function translateMessages(translate: Translate): void;

/** The nonce that inline scripts and styles need; "" without a policy. */
export function useNonce(): string;

/**
 * Add elements to the document of a render, such as the styles that a library has collected:
 * to the head, and in a stream in front of each later part. `callback` returns what is new since
 * it was called last. Browsers do not call it.
 */
export function useServerInsertedHTML(callback: () => ReactNode): void;
