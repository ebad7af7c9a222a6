// The built service, which does each second what it does each minute.
const { setInterval } = globalThis;

globalThis.setInterval = (task, ms, ...given) => setInterval(task, ms === 60_000 ? 1_000 : ms, ...given);

await import('../../dist/main.js');
