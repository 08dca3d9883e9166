/**
 * What plain JavaScript takes for granted, and strict types do not. Read by `fx typecheck` for
 * halves that write no types.
 */

import 'react';

declare module 'react' {
  interface CSSProperties {
    [property: string]: any;
  }
  interface LooseSetter<State> {
    (update: (previous: State) => any): void;
    (value?: any): void;
  }
  function useState(): [any, (value?: any) => void];
  function useState(initial: null | undefined): [any, (value?: any) => void];
  function useState(initial: never[]): [any[], (value?: any) => void];
  function useState<State>(initial: State | (() => State)): [State, LooseSetter<State>];
  function useRef<Value = any>(initial?: any): { current: any };
  function createContext<Value = any>(value?: any): Context<any>;
}

declare global {
  /** What a `reduce` that begins with a number adds up. */
  type Sum<Initial> = 0 extends 1 & Initial ? any : [Initial] extends [number] ? number : any;
  /** The names in an object: text, also where they were numbers in Python. */
  type NameOf<Of> = 0 extends 1 & Of ? any : string;
  /** The values of an object whose values are alike. */
  type ValueOf<Of> = string extends keyof Of ? Of[keyof Of] : any;
  interface Array<T> {
    find(predicate: (value: T, index: number, all: T[]) => unknown, self?: any): T;
    findLast(predicate: (value: T, index: number, all: T[]) => unknown, self?: any): T;
    at(index: number): T;
    pop(): T;
    shift(): T;
    push(...items: any[]): number;
    unshift(...items: any[]): number;
    concat(...items: any[]): T[];
    reduce<Initial>(
      reducer: (before: Sum<Initial>, value: T, index: number, all: T[]) => Sum<Initial>,
      initial?: Initial,
    ): Sum<Initial>;
  }
  interface Map<K, V> {
    get(key: any): V;
  }
  interface ObjectConstructor {
    entries<Of>(of: Of): [NameOf<Of>, ValueOf<Of>][];
    values<Of>(of: Of): ValueOf<Of>[];
    fromEntries(entries: any): any;
  }
  interface Document {
    getElementById(id: string): any;
    querySelector(selectors: string): any;
  }
  interface Element {
    closest(selectors: string): any;
    querySelector(selectors: string): any;
  }
  interface Storage {
    getItem(key: string): any;
  }
  interface URLSearchParams {
    get(name: string): any;
  }
  interface FormData {
    get(name: string): any;
  }
  interface String {
    match(pattern: any): any;
  }
  interface RegExp {
    exec(text: any): any;
  }
  interface Window {
    [name: string]: any;
  }
}
