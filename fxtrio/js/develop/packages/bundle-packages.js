/**
 * Bundles packages into the cache of Vite, and ends: with status 0 when all of them could be.
 *
 *     node bundle-packages.js
 *
 * Stdin is the JSON of the settings of `fx dev` and of what is to be bundled.
 */

import { EventEmitter } from 'node:events';
import { text } from 'node:stream/consumers';

import { replaceConsole } from '../../worker/log.cjs';
import { refuseSignals } from '../../worker/signals.cjs';
import { Browsers } from '../browsers.js';
import { registerPackages, waitBundled } from './discovery.js';
import { makeServer } from '../server.js';
import { Site } from '../site.js';

replaceConsole();
refuseSignals();
process.env.NODE_ENV = 'development';
const { settings, packages } = JSON.parse(await text(process.stdin));
const site = new Site(settings);
const discovery = registerPackages(packages);
const started = await makeServer(settings, site, new Browsers(), new EventEmitter(), discovery);
const bundled = await Promise.all(Object.values(started.server.environments).map(waitBundled));
process.exit(bundled.every(Boolean) ? 0 : 1);
