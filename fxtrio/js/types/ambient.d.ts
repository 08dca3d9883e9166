/**
 * What the bundler makes of files that are no code. Read by `fx typecheck`.
 */

declare module '*.css';
declare module '*.scss';
declare module '*.sass';
declare module '*.less';
declare module '*.module.css' {
  const classes: Record<string, string>;
  export default classes;
}
declare module '*.mdx' {
  const Document: import('react').ComponentType<any>;
  export default Document;
}
declare module '*.svg' {
  const url: string;
  export default url;
}
declare module '*.png' {
  const url: string;
  export default url;
}
declare module '*.jpg' {
  const url: string;
  export default url;
}
declare module '*.jpeg' {
  const url: string;
  export default url;
}
declare module '*.gif' {
  const url: string;
  export default url;
}
declare module '*.webp' {
  const url: string;
  export default url;
}
declare module '*.avif' {
  const url: string;
  export default url;
}
declare module '*.ico' {
  const url: string;
  export default url;
}
declare module '*.woff2' {
  const url: string;
  export default url;
}
declare module '*.mp3' {
  const url: string;
  export default url;
}
declare module '*.mp4' {
  const url: string;
  export default url;
}
declare module '*.pdf' {
  const url: string;
  export default url;
}
declare module '*.md' {
  const content: any;
  export default content;
}
declare module '*.wasm' {
  const url: any;
  export default url;
}
declare module '*?raw' {
  const text: string;
  export default text;
}
declare module '*?url' {
  const url: string;
  export default url;
}
declare module '*?inline' {
  const text: string;
  export default text;
}
declare module '*?font' {
  const font: import('fx/client').FontFile;
  export default font;
}
declare module '*?picture' {
  const picture: import('fx/client').Picture;
  export default picture;
}
declare module '*&picture' {
  const picture: import('fx/client').Picture;
  export default picture;
}
declare module '*?worker' {
  const worker: new () => Worker;
  export default worker;
}

interface ImportMetaEnv {
  readonly [name: string]: any;
}

interface ImportMeta {
  readonly env: ImportMetaEnv;
  readonly hot?: any;
  glob(pattern: string | string[], options?: any): any;
}

declare const process: { env: Record<string, string | undefined> };
