/**
 * Sets the heap's option back to its default; the heap has its limit by now. V8 takes no code that was
 * compiled with other options: Node would compile its own modules anew, and the bundle.
 */

'use strict';

require('node:v8').setFlagsFromString('--max-old-space-size=0');
