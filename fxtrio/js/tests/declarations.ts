/**
 * Read by `npm run types` only: `index.d.ts` declares what the files of the module are.
 */

import type { JSX as React } from 'react';

import type * as Declared from '../client/index.js';
import type { JSX } from '../types/jsx-runtime.js';
import * as actions from '../client/actions/use-action.js';
import * as auth from '../client/auth/auth.js';
import * as awaiting from '../client/view/await.js';
import * as clientOnly from '../client/view/client-only.js';
import * as content from '../client/view/content.js';
import * as data from '../client/view/data.js';
import * as form from '../client/actions/form.js';
import * as head from '../client/head/component.js';
import * as hooks from '../client/navigation/hooks.js';
import * as font from '../client/view/font.js';
import * as image from '../client/view/image.js';
import * as island from '../client/view/islands/island.js';
import * as link from '../client/navigation/link.js';
import * as loader from '../client/navigation/use-loader.js';
import * as messages from '../client/view/messages.js';
import * as navigation from '../client/navigation/navigate.js';
import * as script from '../client/head/script.js';
import * as slot from '../client/view/slot.js';
import * as socket from '../client/live/web-socket.js';
import * as stream from '../client/live/use-stream.js';

export const written = {
  Await: awaiting.Await,
  ClientOnly: clientOnly.ClientOnly,
  Form: form.Form,
  Head: head.Head,
  Font: font.Font,
  Image: image.Image,
  Link: link.Link,
  Script: script.Script,
  Slot: slot.Slot,
  Toc: content.Toc,
  invalidate: navigation.invalidate,
  navigate: navigation.navigate,
  prefetch: navigation.prefetch,
  refresh: navigation.refresh,
  translateMessages: messages.translateMessages,
  ActionFailure: actions.ActionFailure as unknown as (typeof Declared)['ActionFailure'],
  Island: island.Island as (typeof Declared)['Island'],
  useAction: actions.useAction as unknown as (typeof Declared)['useAction'],
  useAuth: auth.useAuth as unknown as (typeof Declared)['useAuth'],
  useLoader: loader.useLoader,
  useContent: content.useContent as unknown as (typeof Declared)['useContent'],
  useData: data.useData,
  useLayoutData: data.useLayoutData,
  useNavigation: hooks.useNavigation,
  useNonce: hooks.useNonce,
  useParams: hooks.useParams as (typeof Declared)['useParams'],
  usePathname: hooks.usePathname,
  useSearchParams: hooks.useSearchParams,
  useServerInsertedHTML: hooks.useServerInsertedHTML,
  useStream: stream.useStream,
  useWebSocket: socket.useWebSocket,
} satisfies typeof Declared;

declare module '../client/index.js' {
  interface Actions {
    like: { payload: { id: number }; result: { likes: number } };
  }
}

/** What an app may write. */
export async function usage({ useAction, useAuth }: typeof Declared): Promise<void> {
  const like = useAction('like');
  const result = await like({ id: 5 });
  if (result.ok) result.likes satisfies number;
  else result.error satisfies string;
  like.fields.id?.join();
  // @ts-expect-error the payload has the type of the action's model
  await like({ id: 'five' });
  const throwing = useAction('like', { throws: true });
  (await throwing({ id: 5 })).likes satisfies number;
  (await useAction('other', { throws: true })()).anything;
  const other = useAction('other');
  (await other({ anything: 1 })).ok satisfies boolean;
  const { login } = useAuth();
  const signedIn = await login({ email: 'a@b.c', password: 'x' });
  if (signedIn.ok) signedIn.user.id satisfies string | number;
}

type Elements = JSX.IntrinsicElements;
type ElementsOfReact = React.IntrinsicElements;
type Tag = keyof Elements & keyof ElementsOfReact;
/** Whether two types are the same, also in what may be left out. */
type IsSame<A, B> = [A, keyof A, B, keyof B] extends [B, keyof B, A, keyof A] ? true : false;
type Differing = {
  [One in Tag]: IsSame<Elements[One], ElementsOfReact[One]> extends true ? never : One;
}[Tag];
/** Of no element the attributes are others than in React. */
export const differing: never[] = [] as Differing[];
