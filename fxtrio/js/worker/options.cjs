/**
 * Options of V8. When it is loaded, this module sets the heap's option back to its default; the heap has
 * its limit by now. V8 takes no code that was compiled with other options: Node would compile its own
 * modules anew, and the bundle.
 */

'use strict';

const v8 = require('node:v8');

v8.setFlagsFromString('--max-old-space-size=0');

/**
 * Let V8 put more functions into one when it optimizes code: twice as much as by default. A renderer
 * calls a few large functions for each element, of which most would stay calls. To be called when
 * the bundle is loaded.
 */
function inlineMore() {
  v8.setFlagsFromString('--max-inlined-bytecode-size=1000');
  v8.setFlagsFromString('--max-inlined-bytecode-size-cumulative=2000');
}

exports.inlineMore = inlineMore;
