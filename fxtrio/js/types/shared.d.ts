/**
 * What the declarations of all pages have in common. Read by `fx typecheck`, as `fx/shared`.
 */

import type { ReactElement, ReactNode } from 'react';

import type * as base from 'fx/base';

/** Messages by the path of a field: of those that an action has. */
export type Fields<Name extends string> = string extends Name
  ? base.Fields
  : { [Path in Name | `${Name}.${string}` | '__root__']?: string[] };

export interface Known {
  payload: any;
  result: any;
  fields: string;
}

export interface State<Of extends Known> {
  pending: boolean;
  data: Of['result'] | null;
  error: string | null;
  fields: Fields<Of['fields']>;
}

/** What an action answered, for code that looks at `ok` first. */
export type Result<Of extends Known> =
  Success<Of> | { ok: false; error: string; fields: Fields<Of['fields']>; data?: any };

/** The same for code that writes no types. */
export type LooseResult<Of extends Known> = {
  ok: boolean;
  error: string;
  fields: Fields<Of['fields']>;
  redirect?: string;
  data?: any;
} & Of['result'];

/** What an action answered that throws when it fails. */
export type Success<Of extends Known> = {
  ok: true;
  fields: Fields<Of['fields']>;
  redirect?: string;
} & Of['result'];

export type Payload<Of extends Known> = Of['payload'] | FormData | URLSearchParams;

type OwnFormProps<Name, Of extends Known> = Omit<
  base.ActionFormProps,
  'action' | 'page' | 'onSuccess' | 'onError' | 'children'
> & {
  action: Name;
  page?: undefined;
  onSuccess?: (data: Of['result']) => void;
  onError?: (message: string, fields: Fields<Of['fields']>, data: any) => void;
  children?: ReactNode | ((state: State<Of> & { values: base.Values }) => ReactNode);
};

/** A form of a page whose actions are known. */
export interface Form<Actions> {
  <const Name extends keyof Actions>(
    props: OwnFormProps<Name, Extract<Actions[Name], Known>>,
  ): ReactElement;
  (props: (base.ActionFormProps & { page: string }) | base.SearchFormProps): ReactElement;
}

type Tail = '' | `?${string}` | `#${string}`;
export type Elsewhere =
  '' | `${string}:${string}` | `//${string}` | `#${string}` | `?${string}` | `.${string}`;

/** A path that the app answers, or what leads elsewhere. */
export type Href<Path extends string, Text extends string> = string extends Text
  ? Text
  : Text extends `${Path}${Tail}` | Elsewhere
    ? Text
    : Path;

/** A path without its query and fragment. */
export type PathOf<Text extends string> = Text extends `${infer Path}?${string}`
  ? PathOf<Path>
  : Text extends `${infer Path}#${string}`
    ? Path
    : Text;

/** What is no value of `[name]` in a path. */
export type NoSegment = '' | `${string}/${string}`;
