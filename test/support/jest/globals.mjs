// What `@jest/globals` is to a test: the functions of the test file that runs at the moment. Modules that tests share
// are loaded once and import them before the second file begins, so each call looks them up.
import { ModuleMocker } from 'jest-mock';

let current = {};

/** Tells what they are from now on. */
export function useGlobals(globals) {
  current = globals;
}

function currentOf(path) {
  const value = () => path.reduce((owner, name) => owner[name], current);
  return new Proxy(() => undefined, {
    apply: (_target, _self, parameters) => value()(...parameters),
    get: (_target, name) => (typeof value()[name] === 'function' ? currentOf([...path, name]) : value()[name]),
  });
}

export const afterAll = currentOf(['afterAll']);
export const afterEach = currentOf(['afterEach']);
export const beforeAll = currentOf(['beforeAll']);
export const beforeEach = currentOf(['beforeEach']);
export const describe = currentOf(['describe']);
export const expect = currentOf(['expect']);
export const it = currentOf(['it']);

const mocker = new ModuleMocker(globalThis);

export const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
  setTimeout: (ms) => {
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = ms;
  },
};
