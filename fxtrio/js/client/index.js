/** The module `fx/client`: what page files import. Types are in `index.d.ts`. */

export { Await } from './view/await.js';
export { ClientOnly } from './view/client-only.js';
export { useData, useLayoutData } from './view/data.js';
export { Form } from './actions/form.js';
export { Head } from './head/component.js';
export { Font } from './view/font.js';
export { Image } from './view/image.js';
export { Island } from './view/islands/island.js';
export { Link } from './navigation/link.js';
export { Script } from './head/script.js';
export { Slot } from './view/slot.js';
export { Toc, useContent } from './view/content.js';
export { translateMessages } from './view/messages.js';
export { invalidate, navigate, prefetch, refresh } from './navigation/navigate.js';
export { ActionFailure, useAction } from './actions/use-action.js';
export { useLoader } from './navigation/use-loader.js';
export { useAuth } from './auth/auth.js';
export {
  useNavigation,
  useNonce,
  useParams,
  usePathname,
  useSearchParams,
  useServerInsertedHTML,
} from './navigation/hooks.js';
export { useStream } from './live/use-stream.js';
export { useWebSocket } from './live/web-socket.js';
