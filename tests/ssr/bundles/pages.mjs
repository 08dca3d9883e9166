/** A bundle without React, whose pages do what the state tells them to. */

export const pages = 3;
export const buildId = 'first';

const acts = {
  hello: ({ name }) => `<p>Hello, ${name}</p>`,
  large: ({ size }) => 'x'.repeat(size),
  environment: ({ name }) => String(process.env[name]),
  pid: () => String(process.pid),
  throw: ({ message }) => {
    throw Object.assign(new TypeError(message), { cause: new Error('the deeper reason') });
  },
  throwText: () => {
    throw 'just text';
  },
  throwTrap: () => {
    throw Object.defineProperty(new Error(), 'message', {
      get() {
        throw new Error('no');
      },
    });
  },
  throwSurrogate: () => {
    throw new Error('half \ud800 of a pair');
  },
  wrong: () => undefined,
  exit: ({ code }) => process.exit(code),
  loop: () => {
    for (;;);
  },
  slow: ({ ms }) => {
    for (const end = performance.now() + ms; performance.now() < end;);
    return '<p>slow</p>';
  },
  memory: () => {
    const retained = [];
    for (;;) retained.push(new Array(100_000).fill({}).map((_, index) => ({ index })));
  },
  flood: () => {
    for (;;) console.log('spam '.repeat(1000));
  },
  print: ({ method, text }) => {
    console[method](text);
    return '<p>printed</p>';
  },
  printRaw: ({ text }) => {
    process.stdout.write(`${text}\n`);
    return '<p>printed</p>';
  },
  rejectLater: ({ message }) => {
    Promise.reject(new Error(message));
    return '<p>rejected</p>';
  },
  throwLater: ({ message }) => {
    setTimeout(() => {
      throw new Error(message);
    });
    return '<p>later</p>';
  },
};

export function render(page, state) {
  const html = acts[state.act ?? 'hello'](state);
  return { head: page === 1 ? '<title>one</title>' : '', html };
}

const streams = {
  /** A shell, and a part for each deferred value once it is there. */
  async deferred(state, { deferred }, write) {
    await write('<main>');
    for (const name of state.names) {
      try {
        await write(`<p>${JSON.stringify(await deferred(name))}</p>`);
      } catch (error) {
        await write(`<p>failed: ${error.message}</p>`);
      }
    }
    await write('</main>');
  },
  /** More than any window holds. */
  async endless(state, _, write) {
    for (;;) await write('x'.repeat(state.size));
  },
  async exitLater(state, { deferred }, write) {
    await write('<main>');
    await deferred('go');
    process.exit(4);
  },
  async errorLater(state, { onError }, write) {
    await write('<main>');
    onError(new Error('a boundary caught this'));
    await write('</main>');
  },
  async nothing() {},
};

export function stream(page, state, options) {
  if (state.act === 'throw') throw new Error('no shell');
  if (state.act === 'exit') process.exit(5);
  let left = false;
  const source = {
    async pipe(destination) {
      const write = async (text) => {
        if (left) return new Promise(() => {});
        if (!destination.write(text)) await new Promise((go) => destination.once('drain', go));
      };
      await streams[state.act](state, options, write);
      destination.end();
    },
    abort(reason) {
      left = true;
      console.info(`aborted: ${reason.message}`);
    },
  };
  if (state.act === 'shellError') options.onShellError(new RangeError('a broken shell'));
  else if (state.act === 'waitingShell')
    options.deferred('shell').then((head) => options.onShellReady(head));
  else options.onShellReady('<title>streamed</title>');
  if (state.act === 'waitingShell') state.act = 'nothing';
  return source;
}
