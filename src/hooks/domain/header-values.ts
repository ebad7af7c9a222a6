import { HOOK_EVENTS, type HookEvent } from './hook-event.js';
import {
  allHandlers,
  handlersOf,
  type HooksDocument,
  type HttpHandler,
  isHttp,
  type PlacedHandler,
  REDACTED,
} from './hooks-document.js';

type Values = Readonly<Record<string, string>>;

/** By event, the header values of each handler by header name; null for a handler without headers. */
export type HeaderValues = Readonly<Partial<Record<HookEvent, readonly (Values | null)[]>>>;

/** A document with the values of its headers. In a request, `REDACTED` refers to the stored value. */
export interface HooksWithHeaders {
  readonly document: HooksDocument;
  readonly headers: HeaderValues;
}

interface StoredHeader {
  readonly event: HookEvent;
  readonly url: string;
  readonly name: string;
  readonly value: string;
}

export function headersIn(document: HooksDocument): HeaderValues {
  return mapHttp(document, ({ handler }) => handler.headers ?? null);
}

export function hasHeaders(document: HooksDocument): boolean {
  return allHandlers(document).some(
    ({ handler }) => handler.type === 'http' && Object.keys(handler.headers ?? {}).length > 0,
  );
}

/**
 * The header values to store: those that were sent, and for `REDACTED` the stored value of the same URL and name. When several
 * stored values match, those of the same event are preferred, and its n-th handler gets the n-th of them.
 * @param refuseMissing called for a `REDACTED` header without a stored value
 * @throws what `refuseMissing` throws
 */
export function resolveHeaders(
  wanted: HooksWithHeaders,
  stored: HooksWithHeaders,
  refuseMissing: (path: string) => never,
): HeaderValues {
  const known = storedHeaders(stored);
  const uses = new Map<string, number>();
  return mapHttp(wanted.document, (placed) => {
    const sent = wanted.headers[placed.event]?.[placed.index];
    if (!sent) return null;
    const entries = Object.entries(sent).map(([name, value]) => {
      // Also for a value that was sent, so that the count of uses stays right.
      const storedValue = nextStoredValue(placed, name.toLowerCase());
      if (value !== REDACTED) return [name, value] as const;
      return [name, storedValue ?? refuseMissing(`${placed.path}.headers.${name}`)] as const;
    });
    return Object.fromEntries(entries);
  });

  function nextStoredValue({ event, handler: { url } }: PlacedHandler<HttpHandler>, name: string): string | undefined {
    const key = `${event} ${name} ${url}`;
    const use = uses.get(key) ?? 0;
    uses.set(key, use + 1);
    const all = known.filter((header) => header.url === url && header.name === name);
    const ofEvent = all.filter((header) => header.event === event);
    return (ofEvent[use] ?? ofEvent[0] ?? all[0])?.value;
  }
}

function storedHeaders({ document, headers }: HooksWithHeaders): StoredHeader[] {
  return allHandlers(document)
    .filter(isHttp)
    .flatMap(({ event, index, handler: { url } }) =>
      Object.entries(headers[event]?.[index] ?? {}).map(([name, value]) => ({
        event,
        url,
        name: name.toLowerCase(),
        value,
      })),
    );
}

function mapHttp(
  document: HooksDocument,
  valuesOf: (placed: PlacedHandler<HttpHandler>) => Values | null,
): HeaderValues {
  const events = HOOK_EVENTS.map((event) => {
    return [event, handlersOf(document, event).map((placed) => (isHttp(placed) ? valuesOf(placed) : null))] as const;
  });
  return Object.fromEntries(events);
}
