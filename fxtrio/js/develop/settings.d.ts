/** What `fxtrio/develop/vite/vite.py` says first. */
export interface Settings {
  /** Absolute path of the project. */
  root: string;
  /** Absolute path of the development build: holds `ui/<source>.tsx` of every page file. */
  folder: string;
  /** URL prefix of modules: the base URL and `_fx/`. */
  base: string;
  /** Absolute path of the toolchain. */
  toolchain: string;
  /** The Python that runs, for what else must be done in it. */
  python: string;
  /** Folder that the sockets go to. */
  sockets: string;
  /** URL that opens a place in an editor, with `{file}`, `{line}` and `{column}`. */
  editor: string;
  /** Whether what fails on a page covers it (`dev.overlay`). */
  overlay: boolean;
  /** Variables of the environment that code in browsers may know. */
  variables: Record<string, string>;
}

/** One thing that is wrong, as the overlay shows it. */
export interface OverlayProblem {
  title: string;
  message: string;
  /** Absolute path; "" when no file is to blame. */
  file: string;
  line: number;
  column: number;
  /** The lines around the place. */
  frame: string;
  /** The traceback or stack, folded where there is a frame. */
  trace?: string;
  /** What to do, where the message does not say it. */
  remedy?: string;
  /** Id of the request that it happened in. */
  request?: string;
  /** Whether nothing has failed: a check has found it. */
  finding?: boolean;
  /** Absolute paths of the page files that need it, where it is known which: it covers these. */
  pages?: string[];
  /**
   * Whether it has kept server code from being replaced: it is gone as soon as some has been. A
   * restart may still be prevented then.
   */
  swap?: boolean;
}
