/** Stands for `react/jsx-runtime` in browsers. */

import * as react from 'react/jsx-runtime';

import { creating } from './based.js';

export const Fragment = react.Fragment;
export const jsx = creating(react.jsx);
export const jsxs = creating(react.jsxs);
