/** The part of `IncomingMessage` of `node:http` that is used; Express adds `originalUrl`, and parsers of bodies `body`. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly readableEnded: boolean;
  readonly socket: object;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'error' | 'close', listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The part of `ServerResponse` of `node:http`, and of its like of `node:http2`, that is used. */
export interface NodeResponse {
  readonly destroyed: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  /** Missing in the type of HTTP/2's. */
  flushHeaders?(): void;
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  destroy(): unknown;
  on(event: 'close' | 'drain', listener: () => void): unknown;
}

export interface NodeHandlerOptions {
  /** The last proxy sets `X-Forwarded-Proto` and `X-Forwarded-Host`, which then make the URL of the request. */
  readonly trustProxy?: boolean;
}

const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'CONNECT']);
/** No page has this origin. */
const NO_HOST = 'host.invalid';
/** Bytes of a request's body that wait to be read. */
const BUFFERED = 65_536;

/**
 * Adapts the handler to servers on `node:http`, such as Express and Fastify. `visitor` gets the server's own request as its
 * context. The returned function never rejects.
 */
export function toNodeHandler<Incoming extends NodeRequest>(
  handler: (request: Request, context: Incoming) => Promise<Response>,
  options: NodeHandlerOptions = {},
): (request: Incoming, response: NodeResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const closed = new AbortController();
    outgoing.on('close', () => {
      closed.abort();
    });
    const request = requestOf(incoming, options, closed.signal);
    const response = request instanceof Request ? await handler(request, incoming) : bare(request);
    await send(response, incoming, outgoing, closed.signal);
  };
}

function bare(status: number): Response {
  return new Response(null, { status, headers: { 'cache-control': 'no-store' } });
}

/** @returns a status for what is no request */
function requestOf(incoming: NodeRequest, options: NodeHandlerOptions, signal: AbortSignal): Request | 400 | 404 {
  const { method = 'GET', url: given = '', originalUrl = given } = incoming;
  const base = baseOf(incoming, options);
  // Anything else than a path would be taken for a part of the host.
  if (base === null || !originalUrl.startsWith('/')) return 400;
  try {
    const url = new URL(`${base}${originalUrl}`);
    // `URL` resolves dots and turns backslashes; a proxy in front that does not has judged another path.
    if (url.pathname !== originalUrl.split('?', 1)[0]) return 404;
    if (METHODS_WITHOUT_BODY.has(method)) return new Request(url, { method, headers: headersOf(incoming), signal });
    // Required by the standard for streams, and missing in the type of it.
    const streaming = { duplex: 'half' } as const;
    return new Request(url, { method, headers: headersOf(incoming), body: bodyOf(incoming), signal, ...streaming });
  } catch {
    return 400;
  }
}

/** @returns null for a host or a scheme that is none */
function baseOf({ headers, socket }: NodeRequest, { trustProxy }: NodeHandlerOptions): string | null {
  const forwarded = (name: string): string | undefined => (trustProxy ? last(headers[name]) : undefined);
  const scheme = forwarded('x-forwarded-proto') ?? ('encrypted' in socket ? 'https' : 'http');
  const host = forwarded('x-forwarded-host') ?? last(headers[':authority']) ?? last(headers['host']) ?? NO_HOST;
  return /^https?$/.test(scheme) && /^[^/\\?#@\s]+$/.test(host) ? `${scheme}://${host}` : null;
}

function isHttp2({ headers }: NodeRequest): boolean {
  return ':method' in headers;
}

/** Proxies append to a list. */
function last(value: string | readonly string[] | undefined): string | undefined {
  return (typeof value === 'string' ? value : value?.join(','))?.split(',').at(-1)?.trim();
}

function headersOf({ headers }: NodeRequest): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // Those that begin with a colon are of HTTP/2.
    if (value === undefined || name.startsWith(':')) continue;
    for (const each of typeof value === 'string' ? [value] : value) all.append(name, each);
  }
  return all;
}

function bodyOf(incoming: NodeRequest): ReadableStream<Uint8Array<ArrayBuffer>> | string {
  // A parser in front of the handler has read the body.
  if (incoming.readableEnded) return typeof incoming.body === 'object' ? JSON.stringify(incoming.body) : '';
  let isOpen = true;
  const ended = (end: () => void) => () => {
    if (isOpen) end();
    isOpen = false;
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start: (controller) => {
        incoming.on('data', (chunk) => {
          if (isOpen) controller.enqueue(new Uint8Array(chunk));
          if (!isOpen || (controller.desiredSize ?? 0) <= 0) incoming.pause();
        });
        incoming.on(
          'end',
          ended(() => {
            controller.close();
          }),
        );
        incoming.on(
          'error',
          ended(() => {
            controller.error(new Error('The request has failed'));
          }),
        );
        incoming.on(
          'close',
          ended(() => {
            controller.error(new Error('The request was aborted'));
          }),
        );
      },
      pull: () => void incoming.resume(),
      cancel: ended(() => void incoming.pause()),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFERED }),
  );
}

async function send(
  response: Response,
  incoming: NodeRequest,
  outgoing: NodeResponse,
  closed: AbortSignal,
): Promise<void> {
  // The rest of a refused body is not read, so the connection cannot be used again. Those of HTTP/2 have streams instead.
  const isUnread = !isHttp2(incoming) && !METHODS_WITHOUT_BODY.has(incoming.method ?? 'GET') && !incoming.readableEnded;
  const headers = { ...Object.fromEntries(response.headers), ...(isUnread ? { connection: 'close' } : {}) };
  if (outgoing.destroyed) {
    await response.body?.cancel();
    return;
  }
  outgoing.writeHead(response.status, headers);
  outgoing.flushHeaders?.();
  try {
    if (response.body) await copy(response.body, outgoing, closed);
    outgoing.end();
  } catch {
    // The service's response broke off. An orderly end would make a part look like the whole.
    outgoing.destroy();
  }
}

async function copy(body: ReadableStream<Uint8Array>, outgoing: NodeResponse, closed: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  let wake = (): void => undefined;
  closed.addEventListener('abort', () => {
    stop();
    wake();
  });
  outgoing.on('drain', () => {
    wake();
  });
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (outgoing.write(value)) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (closed.aborted) resolve();
    });
  }
}
