globalThis.classic = (globalThis.classic ?? 0) + 1;
