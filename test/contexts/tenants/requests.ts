import { renewBudget } from '../../support/budgets.js';
import type { RunningService, TestService } from '../../support/harness.js';
import { partsOf } from '../../support/web-sessions.js';
import type { RouteRequest } from './route-case.js';
import type { SkippingClock } from './world.js';

/** Longer than any window of a limit. */
const WINDOW_MS = 61_000;
/** Well below the number of credentials of one address that may fail in a window. */
const MAX_FAILURES = 50;

export interface WireAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Sends requests, and ends a window before a limit would refuse them. */
export class Visitor {
  private failures = 0;

  constructor(
    private readonly service: TestService,
    private readonly clock: SkippingClock,
  ) {}

  async ask(route: string, request: RouteRequest, key: string | undefined): Promise<WireAnswer> {
    const answer = this.seen(await send(this.service, route, request, key));
    // The budget of a session is small, and the moved clock does not end a window in Redis.
    if (key !== undefined && isFull(answer) && isPass(key))
      await renewBudget(this.service.app, `session:${String(partsOf(key).payload['sid'])}`);
    return answer;
  }

  /** Counts a response to a request that was sent in another way. */
  seen(answer: WireAnswer): WireAnswer {
    this.failures += answer.status === 401 ? 1 : 0;
    if (this.failures >= MAX_FAILURES || isFull(answer)) {
      this.clock.skip(WINDOW_MS);
      this.failures = 0;
    }
    return answer;
  }
}

function isFull({ headers }: WireAnswer): boolean {
  return Number(headers.get('ratelimit-remaining') ?? Infinity) < 2;
}

function isPass(key: string): boolean {
  return key.split('.').length === 3;
}

/** Sends the request of a route and reads the response, or the stream, to its end. */
export async function send(
  service: RunningService,
  route: string,
  request: RouteRequest,
  key?: string,
): Promise<WireAnswer> {
  const response = await open(service, route, request, key);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** As `send`, but reads only the start of a stream, because the stream of an active run may never end. */
export async function sendAndLeave(
  service: TestService,
  route: string,
  request: RouteRequest,
  key: string,
): Promise<WireAnswer> {
  const response = await open(service, route, request, key);
  const { status, headers } = response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return { status, text: isStream ? await beginningOf(response) : await response.text(), headers };
}

function open(service: RunningService, route: string, request: RouteRequest, key?: string): Promise<Response> {
  const [method = '', pattern = ''] = route.split(' ');
  return fetch(`${service.baseUrl}${pathOf(pattern, request)}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...bodyOf(request),
  });
}

async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

export function pathOf(pattern: string, { params = {}, query }: RouteRequest): string {
  const path = pattern.replace(/:(\w+)/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
  return query === undefined ? path : `${path}?${new URLSearchParams(query).toString()}`;
}

function bodyOf({ body, form, unreadable }: RouteRequest): { body?: string | Buffer<ArrayBuffer> | FormData } {
  if (unreadable !== undefined) return { body: unreadable };
  if (body !== undefined) return { body: JSON.stringify(body) };
  if (form === undefined) return {};
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) data.set(name, value);
  return { body: data };
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TIMESTAMP = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;
const SECONDS = /"(created|timestamp)":\d+/g;
/** Values that differ in every response. */
const OWN_HEADERS = new Set(['date', 'x-request-id', 'ratelimit-remaining', 'ratelimit-reset', 'content-length']);

/** A response without values that differ in every response: ids as their order of appearance, no times, no request id. */
export function comparable({ status, text, headers }: WireAnswer): object {
  const seen = new Map<string, string>();
  const name = (id: string): string => {
    const known = seen.get(id.toLowerCase()) ?? `<id ${seen.size + 1}>`;
    seen.set(id.toLowerCase(), known);
    return known;
  };
  return {
    status,
    body: text.replace(UUID, name).replace(TIMESTAMP, '<time>').replace(SECONDS, '"$1":0'),
    headers: Object.fromEntries(
      [...headers]
        .filter(([header]) => !OWN_HEADERS.has(header))
        .map(([header, value]) => [header, value.replace(UUID, name)]),
    ),
  };
}

/** The ids in any part of a request. */
export function idsIn(request: RouteRequest): ReadonlySet<string> {
  return new Set(
    JSON.stringify(request)
      .match(UUID)
      ?.map((id) => id.toLowerCase()) ?? [],
  );
}
