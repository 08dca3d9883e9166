import assert from 'node:assert/strict';
import test from 'node:test';

import { stylesOf } from '../../fonts/plugin.js';

const FONT = {
  ...{ family: 'Inter "Tight"', weight: '100 900', style: 'normal', generic: 'sans-serif' },
  ...{ locals: ['Arial', 'Liberation Sans'], size: 107.4, ascent: 90.2, descent: 22.5, gap: 0 },
};

test('a stylesheet has the font, what stands in, and a variable for both', () => {
  assert.equal(
    stylesOf('/shop/fonts/inter.woff2', FONT),
    `@font-face {
  font-family: "Inter Tight"; font-weight: 100 900; font-style: normal; font-display: swap;
  src: url("/shop/fonts/inter.woff2?no-inline") format("woff2");
}
@font-face {
  font-family: "Inter Tight Fallback"; font-weight: 100 900; font-style: normal;
  src: local("Arial"), local("Liberation Sans");
  size-adjust: 107.4%;
  ascent-override: 90.2%; descent-override: 22.5%; line-gap-override: 0%;
}
:root { --font-inter-tight: "Inter Tight", "Inter Tight Fallback", sans-serif; }
`,
  );
});
