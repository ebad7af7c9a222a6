/**
 * Loaded into the service before its start: takes the contexts that `LEAVE_OUT` names (`hooks,memory`) out of the list of `app.module.ts`.
 * It changes the bundle while it is loaded, so that the rest of the service stays the one that is shipped.
 */
import { registerHooks } from 'node:module';

const BUNDLED = /\/dist\/bundle\/[\w-]+\.js$/;
const LIST = /\bcontexts=\[((?:\w+Context,?)+)\]/;

let isFound = false;
const leftOut = (process.env['LEAVE_OUT'] ?? '').split(',').filter(Boolean);

/** @throws Error when the list has no such context */
function withoutContexts(text: string): string {
  const listed = LIST.exec(text)?.[1]?.split(',');
  if (!listed) return text;
  isFound = true;
  const names = leftOut.map((name) => `${name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Context`);
  const missing = names.filter((name) => !listed.includes(name));
  if (missing.length > 0) throw new Error(`The list of contexts lacks ${missing.join(', ')}`);
  return text.replace(LIST, `contexts=[${listed.filter((name) => !names.includes(name)).join(',')}]`);
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!BUNDLED.test(url)) return loaded;
    if (!(loaded.source instanceof Uint8Array)) throw new Error('Node gives the bundle in another form than expected');
    return { ...loaded, source: withoutContexts(new TextDecoder().decode(loaded.source)) };
  },
});

setTimeout(() => {
  if (!isFound) throw new Error('The bundle has no list of contexts');
}, 5_000).unref();
