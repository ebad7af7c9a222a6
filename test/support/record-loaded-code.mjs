// For `node --import`: writes, when the process ends, how many modules it has loaded and how many bytes they have, as JSON to LOADED_CODE.
import { statSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const loaded = new Map();
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.set(url, statSync(new URL(url)).size);
    return next(url, context);
  },
});
process.on('exit', () => {
  const bytes = [...loaded.values()].reduce((sum, size) => sum + size, 0);
  writeFileSync(process.env.LOADED_CODE, JSON.stringify({ modules: loaded.size, bytes }));
});
