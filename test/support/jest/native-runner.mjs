// Runs a test file in the realm of Node itself, in which modules are loaded once for all files of a worker; jest's own
// way loads and compiles the whole service anew for each. What a file changes for those after it is put back.
import { createRequire } from 'node:module';
import circus from 'jest-circus/runner';
import { jest, useGlobals } from './globals.mjs';
import { takeLoggedErrors } from './logged-errors.ts';
import { loadNatively } from './native-modules.mjs';

const require = createRequire(import.meta.url);
const circusState = createRequire(require.resolve('jest-circus/runner')).resolve('./jestAdapterInit');
/** The names under which it keeps more of it. */
const STATE = /^(JEST_STATE_SYMBOL|EVENT_HANDLERS|TEST_TIMEOUT_SYMBOL|RETRY_TIMES)/;

/** What jest calls for each test file, as its setting `testRunner` has it. */
export default async function runNatively(globalConfig, config, environment, runtime, testPath, send) {
  const nativeRuntime = Object.create(runtime, {
    requireInternalModule: { value: require },
    unstable_shouldLoadAsEsm: { value: () => true },
    unstable_importModule: { value: loadNatively },
    setGlobalsForRuntime: { value: useGlobals },
  });
  const realm = Object.create(environment, { global: { value: globalThis } });
  const restore = saveRealm();
  globalThis.console = environment.global.console;
  // Jest's function maps only code that jest has compiled; Node's own maps these sources.
  Error.prepareStackTrace = undefined;
  try {
    const result = await circus.default(
      globalConfig,
      { ...config, injectGlobals: false },
      realm,
      nativeRuntime,
      testPath,
      send,
    );
    return withLoggedErrors(result);
  } finally {
    takeLoggedErrors();
    jest.restoreAllMocks();
    restore();
    removeTests();
  }
}

/** An answer 500 tells its cause nowhere else, and a failure under load may not come a second time. */
function withLoggedErrors(result) {
  const lines = takeLoggedErrors();
  if (result.numFailingTests === 0 || lines.length === 0) return result;
  const told = `  ● the last errors in the log of the service\n\n${lines.map((line) => `    ${line}`).join('\n')}\n`;
  return { ...result, failureMessage: `${result.failureMessage ?? ''}${told}` };
}

function saveRealm() {
  const { console } = globalThis;
  const variables = { ...process.env };
  return () => {
    globalThis.console = console;
    for (const name of Object.keys(process.env)) if (!(name in variables)) Reflect.deleteProperty(process.env, name);
    Object.assign(process.env, variables);
  };
}

/** The next file must begin without tests. */
function removeTests() {
  Reflect.deleteProperty(require.cache, circusState);
  for (const name of Object.getOwnPropertySymbols(globalThis)) {
    if (STATE.test(name.description)) Reflect.deleteProperty(globalThis, name);
  }
}
