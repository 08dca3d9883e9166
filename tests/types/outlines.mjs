// Texts in, their outlines out, both as lists in JSON; null for one that does not parse.
// Arguments: the module with `outlineOf`, and that of Vite.
import { text } from 'node:stream/consumers';

const { outlineOf } = await import(process.argv[2]);
const { parseSync } = await import(process.argv[3]);

const outlines = JSON.parse(await text(process.stdin)).map((page) => {
  const parsed = parseSync('page.tsx', page, { lang: 'tsx' });
  return parsed.errors.length > 0 ? null : outlineOf(page, parsed);
});
process.stdout.write(JSON.stringify(outlines));
