/** The module `fx/client`: what page files import. Types are in `index.d.ts`. */

export { Await } from './await.js';
export { ClientOnly } from './client-only.js';
export { useData, useLayoutData } from './data.js';
export { Form } from './form.js';
export { Head } from './head-component.js';
export { Image } from './image.js';
export { Link } from './link.js';
export { Script } from './script.js';
export { Slot } from './slot.js';
export { invalidate, navigate, prefetch, refresh } from './navigate.js';
export { ActionFailure, useAction } from './use-action.js';
export { useAuth } from './auth.js';
export {
  useNavigation,
  useNonce,
  useParams,
  usePathname,
  useSearchParams,
  useServerInsertedHTML,
} from './hooks.js';
export { useWebSocket } from './web-socket.js';
