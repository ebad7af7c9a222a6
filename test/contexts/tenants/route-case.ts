import type { World } from './world.js';

/** What one request carries; the route's name has its method and path. */
export interface RouteRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Sent as `multipart/form-data` in place of `body`; a `File` is a file. */
  readonly form?: Readonly<Record<string, string | File>>;
  /** Sent in place of the body, as it is, as `application/json`. */
  readonly unreadable?: string | Buffer<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type RequestOf = (world: World) => RouteRequest;

export interface RouteCase {
  /**
   * Valid requests, made of what an organization has: every place where an id can stand holds one in at
   * least one of them. With ids of another organization they must be answered as with ids that nobody has.
   */
  readonly requests: readonly [RequestOf, ...RequestOf[]];
  /** What a valid request is answered. */
  readonly status: number;
  /** A valid request leaves the world without something that other routes need. */
  readonly spoils?: true;
  /**
   * Where no guard stands before what is stored: `public` asks for no credential, `filtered` names no resource, so
   * that the route itself keeps to the agents of a key's allowlist.
   */
  readonly access?: 'public' | 'filtered';
  /** For people at a browser: its own refusals are pages. */
  readonly refusesWithPage?: true;
  /** Fields that the route does not know are ignored. */
  readonly openBody?: true;
}
