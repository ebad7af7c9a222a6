import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CERTIFICATE } from '../../../test/support/certificate.js';
import { failure, PUBLIC, ScriptedResolver } from '../../../test/support/egress-bench.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import { type Clock, SystemClock } from '../../platform/clock/index.js';
import { type NameResolver, UndiciSafeHttp } from '../../platform/egress/index.js';
import type { HttpHandler, PlacedHandler } from '../domain/hooks-document.js';
import { CallHttpHandler } from './call-http-handler.js';
import { HandlerFailed } from '../domain/hook-output.js';

const NO_SECRETS = { headers: {}, signing: null };
const never = new AbortController().signal;

let server: Server;
let connections: number;
let requests: IncomingMessage[];
let respond: (request: IncomingMessage, response: ServerResponse) => void;
let dialled: string[];
let clients: UndiciSafeHttp[];

beforeEach(async () => {
  [connections, requests, dialled, clients] = [0, [], [], []];
  respond = (_request, response) => response.end('{"additionalContext": "It is Monday."}');
  server = createServer({ ...CERTIFICATE, keepAliveTimeout: 60_000 });
  server.on('connection', () => (connections += 1));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    requests.push(request);
    request.resume().on('end', () => respond(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  server.closeAllConnections();
  server.close();
});

interface Options {
  readonly clock?: Clock;
  readonly resolver?: NameResolver;
  readonly ca?: string;
}

/** Connects every public address to the test server. */
function handlers({
  clock = new SystemClock(),
  resolver = publicResolver(),
  ca = CERTIFICATE.cert,
}: Options = {}): CallHttpHandler {
  const dial = (address: string): ReturnType<typeof connect> => {
    dialled.push(address);
    return connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  };
  const http = new UndiciSafeHttp({ exemptions: new Set(), resolver, dial, clock, tls: { ca } });
  clients.push(http);
  return new CallHttpHandler(http, clock);
}

function publicResolver(): ScriptedResolver {
  return new ScriptedResolver(() => [PUBLIC]);
}

function placed(path = '/', handler: Partial<HttpHandler> = {}): PlacedHandler<HttpHandler> {
  return {
    ...{ event: 'UserPromptSubmit', index: 0, matcher: undefined, path: 'hooks.UserPromptSubmit[0].hooks[0]' },
    handler: { type: 'http', url: `https://hooks.example${path}`, ...handler },
  };
}

/** The client waits for one turn of the event loop before it reuses a connection, because servers close some that they announced to keep. */
const freed = (): Promise<void> => nextTurn();

const OUTPUT = { additionalContext: ['It is Monday.'] };

describe('an endpoint over https', () => {
  it('is called by its name, at the address that the name resolves to', async () => {
    const resolver = publicResolver();
    expect(await handlers({ resolver }).execute(placed('/hook?a=b'), NO_SECRETS, '{}', never)).toEqual(OUTPUT);
    expect(requests.map(({ method, url, headers }) => [method, url, headers.host])).toEqual([
      ['POST', '/hook?a=b', 'hooks.example'],
    ]);
    expect([resolver.names, dialled]).toEqual([['hooks.example'], [PUBLIC]]);
  });

  it('is called again over the open connection', async () => {
    const call = handlers();
    for (let index = 0; index < 5; index += 1) {
      await call.execute(placed(`/${index}`), NO_SECRETS, '{}', never);
      await freed();
    }
    expect([requests.length, connections, dialled.length]).toEqual([5, 1, 1]);
  });

  it('responds to five handlers in parallel, and to the next five over the same connections', async () => {
    const call = handlers();
    const waiting: ServerResponse[] = [];
    // Responds only when all five requests have arrived.
    respond = (_request, response) => {
      waiting.push(response);
      if (waiting.length === 5)
        for (const each of waiting.splice(0)) each.end('{"additionalContext": "It is Monday."}');
    };
    const five = (): Promise<unknown[]> =>
      Promise.all([1, 2, 3, 4, 5].map((path) => call.execute(placed(`/${path}`), NO_SECRETS, '{}', never)));
    expect(await five()).toEqual([OUTPUT, OUTPUT, OUTPUT, OUTPUT, OUTPUT]);
    await freed();
    expect(await five()).toEqual([OUTPUT, OUTPUT, OUTPUT, OUTPUT, OUTPUT]);
    expect([requests.length, connections]).toEqual([10, 5]);
  });

  it('that responded with an error is called again over a working connection', async () => {
    const call = handlers();
    respond = (_request, response) => response.writeHead(500).end('x'.repeat(100_000));
    expect((await failure(call.execute(placed(), NO_SECRETS, '{}', never))).message).toBe(
      'The endpoint responded with the status 500.',
    );
    respond = (_request, response) => response.end('{}');
    expect(await call.execute(placed(), NO_SECRETS, '{}', never)).toEqual({});
  });

  it('with an untrusted certificate, or one for another name, receives no request', async () => {
    const other = placed('/', { url: 'https://other.example/' });
    for (const [call, to] of [
      [handlers({ ca: '' }), placed()],
      [handlers(), other],
    ] as const) {
      const error = await failure(call.execute(to, NO_SECRETS, '{"prompt": "secret"}', never));
      expect(error).toBeInstanceOf(HandlerFailed);
      expect(error.message).toBe('The host of the URL cannot be reached.');
    }
    expect(requests).toEqual([]);
  });
});

describe('a name that resolves to another address at the second lookup', () => {
  it.each([['127.0.0.1'], ['::1'], ['169.254.169.254'], ['10.0.0.1', PUBLIC]])(
    'to %s: nothing reaches the server',
    async (...second) => {
      const resolver = new ScriptedResolver((_name, count) => (count === 1 ? [PUBLIC] : second));
      const call = handlers({ resolver });
      // The connection is closed, so the next call needs a new one.
      respond = (_request, response) => response.writeHead(200, { connection: 'close' }).end('{}');
      expect(await call.execute(placed(), NO_SECRETS, '{}', never)).toEqual({});
      const error = await failure(call.execute(placed(), NO_SECRETS, '{}', never));
      expect(error).toBeInstanceOf(HandlerFailed);
      expect(error.message).toBe('The host of the URL does not resolve to public addresses.');
      expect([resolver.names.length, dialled, connections, requests.length]).toEqual([2, [PUBLIC], 1, 1]);
    },
  );
});

describe('the timeout of a handler', () => {
  it('covers the whole exchange: name lookup, connection, headers and body', async () => {
    const clock = new ManualClock();
    let resolved: (addresses: string[]) => void = () => undefined;
    const resolver = publicResolver();
    resolver.resolvePublic = () => new Promise((resolve) => (resolved = resolve));
    let response: ServerResponse | undefined;
    respond = (_request, given) => (response = given);

    let error: Error | undefined;
    void failure(handlers({ clock, resolver }).execute(placed('/', { timeout: 1 }), NO_SECRETS, '{}', never)).then(
      (given) => (error = given),
    );
    await clock.advance(400);
    resolved([PUBLIC]);
    await until(() => response !== undefined, 'the request to arrive');
    await clock.advance(400);
    response?.writeHead(200).write('{"decision":');
    await clock.advance(199);
    expect(error).toBeUndefined();
    const closed = once(requests[0]?.socket ?? server, 'close');
    await clock.advance(1);
    await until(() => error !== undefined, 'the handler to be given up');
    expect(error).toBeInstanceOf(HandlerFailed);
    expect(error?.message).toBe('The host of the URL did not answer in time.');
    await closed;
    expect(clock.pending()).toBe(0);
  });

  it('ends when the run is cancelled', async () => {
    const run = new AbortController();
    respond = () => run.abort(new Error('The run was cancelled'));
    const error = await failure(handlers().execute(placed(), NO_SECRETS, '{}', run.signal));
    expect(error.message).toBe('The run was cancelled');
  });
});
