/** Stands for `react/jsx-dev-runtime` in browsers. */

import * as react from 'react/jsx-dev-runtime';

import { creating } from './based.js';

export const Fragment = react.Fragment;
export const jsxDEV = creating(react.jsxDEV);
