/** What bundle.py asks for, and what it gets back. */

export interface Plan {
  /** Absolute path of the project. */
  root: string;
  /** Absolute path of the build folder that is written. */
  staging: string;
  /** URL prefix of hashed files: the base URL and `_fx/`. */
  base: string;
  mode: 'production' | 'development';
  /** Sources of the `.fxl` files, relative to the project. */
  modules: string[];
  /** By id. */
  views: ViewPlan[];
  /** Absolute path of the toolchain. */
  toolchain: string;
  /** The Python that runs, for what else must be done in it. */
  python: string;
  /** Mixed into the build id: a digest of what the bundler does not see. */
  seed: string;
}

export interface ViewPlan {
  id: number;
  kind: 'page' | 'error' | 'not-found';
  module: string;
  /** Source, and whether it is a template; outermost first. */
  layouts: [source: string, isTemplate: boolean][];
  loading: string | null;
  /** Ids of the error views that may stand in, nearest first. */
  boundaries: number[];
  /** What the nearest of its files says of scripts. */
  scripts: 'auto' | 'none' | 'always';
}

/** URLs of what one module needs. */
export interface FileAssets {
  module: string;
  css: string[];
  preload: string[];
}

/** Why a view needs scripts: what in its code may do more in a browser than its HTML. */
export interface ScriptReason {
  /** Of the file, relative to the project. */
  path: string;
  line: number;
  column: number;
  cause: string;
}

/** An island of a view. */
export interface IslandUse {
  /** Place of the `<Island>`. */
  path: string;
  line: number;
  column: number;
  when: string;
  /** Of its component: `path#name`. */
  key: string;
  /** URLs: its module, and what that imports besides what all islands load. */
  files: string[];
}

export interface IslandProblem {
  path: string;
  line: number;
  column: number;
  message: string;
  remedy: string;
}

export interface Problem {
  path: string;
  line: number;
  column: number;
  message: string;
  frame: string;
}

export interface Built {
  ok: true;
  buildId: string;
  /** Name of the server bundle: a script (`.cjs`), or an ES module (`.mjs`); "" where none was made. */
  server: string;
  entry: FileAssets;
  files: Record<string, FileAssets>;
  clients: Record<string, unknown>[];
  /** Whether the server bundle has been loaded; if not, it may load or not. */
  loads: boolean;
  /** By view id: none for a view that needs no scripts. */
  scripts: ScriptReason[][];
  /** By view id; empty for an app without islands. */
  islands: IslandUse[][];
  /** What brings islands to life; null for an app without. */
  islandsEntry: FileAssets | null;
  /** What does not work in islands, and what may not. */
  islandMistakes: IslandProblem[];
  islandDoubts: IslandProblem[];
  warnings: string[];
}

/** What every answer to a plan says, also that of `fx dev`, which bundles nothing. */
export type Described = Pick<
  Built,
  'ok' | 'buildId' | 'server' | 'entry' | 'files' | 'clients' | 'warnings'
>;

export type Result = Built | { ok: false; problems: Problem[] };
