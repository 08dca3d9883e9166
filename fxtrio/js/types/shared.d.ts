/**
 * What the declarations of all pages have in common. Read by `fx typecheck`, as `fx/shared`.
 */

import type { ReactElement, ReactNode } from 'react';

import type * as base from 'fx/base';
import type { ActingAt } from 'fx/elsewhere';
import type { Href, PagePath } from 'fx/paths';

/** Messages by the path of a field: of those that an action has. */
export type Fields<Name extends string> = string extends Name
  ? base.Fields
  : { [Path in Name | `${Name}.${string}` | '__root__']?: string[] };

export interface Known {
  payload: any;
  result: any;
  fields: string;
  /** What an action that streams yields. */
  value?: any;
}

/** What an action that streams yields. */
export type Value<Of> = Of extends { value: infer V } ? V : never;

/** What an action has as its `data` where nothing reduces its values. */
export type Data<Of extends Known> = Of extends { value: infer V } ? V | null : Of['result'] | null;

export interface State<Of extends Known, D = Data<Of>> extends base.Stoppable {
  pending: boolean;
  data: D;
  error: string | null;
  fields: Fields<Of['fields']>;
}

/** What begins as an empty list, in code that writes no types: something is put into it later. */
export type Grown<D> = 0 extends 1 & D ? any : [D] extends [never[]] ? any[] : D;

/** How such code reduces what an action yields. */
export interface LooseStreaming<D, V> {
  reduce?: (all: Grown<D>, value: V) => any;
  initial?: D;
}

/** What an action answered, for code that looks at `ok` first. */
export type Result<Of extends Known> =
  | Success<Of>
  | { ok: false; error: string; fields: Fields<Of['fields']>; data?: any; stopped?: boolean };

/** The same for code that writes no types. */
export type LooseResult<Of extends Known> = {
  ok: boolean;
  error: string;
  fields: Fields<Of['fields']>;
  redirect?: string;
  data?: any;
  stopped?: boolean;
} & Of['result'];

/** What an action answered that throws when it fails. */
export type Success<Of extends Known> = {
  ok: true;
  fields: Fields<Of['fields']>;
  redirect?: string;
} & Of['result'];

export type Payload<Of extends Known> = Of['payload'] | FormData | URLSearchParams;

/** The actions of a page, and which of them need no body. */
export interface Acting {
  actions: any;
  optional: string;
}

/** The actions of the page itself, or of the page at a path; those of modules are everywhere. */
export type ActionsAt<Own extends Acting, Page> = [Page] extends [string] ? ActingAt<Page> : Own;

export type NameOf<Own extends Acting, Page> = Extract<
  keyof ActionsAt<Own, Page>['actions'],
  string
>;

export type ActionOf<Own extends Acting, Name, Page> = Extract<
  ActionsAt<Own, Page>['actions'][Name & keyof ActionsAt<Own, Page>['actions']],
  Known
>;

/** The `data` of a form, whose values a property may reduce. */
type Reduced<Of extends Known> = Of extends { value: any } ? any : Data<Of>;

type OwnFormProps<Name, Page, Of extends Known, D> = Omit<
  base.ActionFormProps,
  'action' | 'page' | 'onSuccess' | 'onError' | 'optimistic' | 'children'
> & {
  action: Name;
  page?: Page & PagePath<Page>;
  onSuccess?: (data: Of['result']) => void;
  onError?: (message: string, fields: Fields<Of['fields']>, data: any) => void;
  optimistic?: base.Optimistic<D, FormData>['optimistic'];
  children?:
    | ReactNode
    | ((state: State<Of, Reduced<Of>> & base.Expected<D> & { values: base.Values }) => ReactNode);
};

/** A form whose actions are known. */
export interface Form<Own extends Acting, D = any> {
  <const To extends string | undefined = undefined>(
    props: Omit<base.SearchFormProps, 'action'> & { action?: To & Href<To> },
  ): ReactElement;
  <const Name extends NameOf<Own, Page>, const Page extends string | undefined = undefined>(
    props: OwnFormProps<Name, Page, ActionOf<Own, Name, Page>, D>,
  ): ReactElement;
}
