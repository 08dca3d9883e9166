// For Vitest and the shadcn CLI. fxtrio has its own settings, and does not read this file.
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));

export default {
  oxc: { jsx: { runtime: "automatic" } },
  resolve: { alias: [{ find: /^@\//, replacement: root }] },
};
