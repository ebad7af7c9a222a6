import type { ChatOptions } from './options.js';
import type { Seams } from './seams.js';

const MODES = ['session', 'proxy', 'direct'];

/**
 * Checks the options of a page at run time, because most pages are not compiled. The message is for the page's developer.
 * @throws TypeError
 */
export function checkOptions(options: ChatOptions, location: Seams['location']): void {
  const given: Partial<Record<string, unknown>> = { ...options };
  switch (options.mode) {
    case 'session':
      if ('apiKey' in given) {
        fail(
          'apiKey must not be given in session mode: an API key never reaches a browser. Let your server mint the session and answer its credentials.',
        );
      }
      if (typeof given['credentials'] !== 'function' && !isText(given['credentials'])) {
        fail('credentials must be a function, or the URL of an endpoint of your server, in session mode.');
      }
      return;
    case 'proxy':
      if ('apiKey' in given) fail('apiKey must not be given in proxy mode: your relay attaches it.');
      requireText(given, 'baseUrl', 'the URL below which your server relays /v1');
      requireText(given, 'assistantId', 'the id of the agent');
      return;
    case 'direct':
      requireText(given, 'apiKey', 'an API key');
      requireText(given, 'assistantId', 'the id of the agent');
      if (!isLocal(location)) {
        fail(
          'direct mode puts an API key into the page and is for development on localhost alone. Use session or proxy mode here.',
        );
      }
      return;
    default:
      fail(`mode must be one of ${MODES.join(', ')}.`);
  }
}

function fail(message: string): never {
  throw new TypeError(`agent-chat: ${message}`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function requireText(given: Partial<Record<string, unknown>>, name: string, what: string): void {
  if (!isText(given[name])) fail(`${name} must be ${what}.`);
}

/** True also outside of a page, in a script of the developer. */
function isLocal(location: Seams['location']): boolean {
  if (!location || location.protocol === 'file:') return true;
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);
}
