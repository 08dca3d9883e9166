/** A bundle that cannot be loaded. */

console.error('about to fail');
throw new SyntaxError('a bundle that is broken on purpose');
