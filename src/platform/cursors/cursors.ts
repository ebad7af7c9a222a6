import { createHmac } from 'node:crypto';
import { Global, Injectable, Module } from '@nestjs/common';
import { z } from 'zod';
import { ValidationFailed } from '../errors/index.js';
import { MasterKeys } from '../vault/index.js';

/** Long enough that guessing is hopeless, and short enough for a query. */
const SIGNATURE_BYTES = 16;

/** The list of a cursor. A cursor is not valid for another list or another organization. */
export interface CursorScope {
  readonly list: string;
  readonly organizationId: string;
  /** The field of the response with the cursor, for the error message; `nextCursor` by default. */
  readonly field?: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const positionSchema = z.array(z.string()).min(1);

/** Opaque positions in lists, signed: the service accepts only those that it has issued. */
@Injectable()
export class Cursors {
  constructor(private readonly masterKeys: MasterKeys) {}

  issue(scope: CursorScope, position: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
    const [key] = this.masterKeys.derive('cursors');
    return `${payload}.${sign(key, scope, payload).toString('base64url')}`;
  }

  /**
   * @param found one item more than `limit` if there is a further page
   * @param positionOf an item after which the next page begins
   */
  page<Item>(
    scope: CursorScope,
    found: readonly Item[],
    limit: number,
    positionOf: (last: Item) => readonly string[],
  ): Page<Item> {
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return {
      items,
      nextCursor: found.length > limit && last !== undefined ? this.issue(scope, positionOf(last)) : null,
    };
  }

  /** @returns an empty list without a cursor. @throws ValidationFailed when the cursor was not issued for this list and organization */
  read(scope: CursorScope, cursor: string | undefined): string[] {
    if (cursor === undefined) return [];
    const [payload = '', signature = ''] = cursor.split('.');
    const given = Buffer.from(signature, 'base64url');
    // The decoder ignores characters outside of base64, so one position would have many cursors.
    if (cursor !== `${payload}.${given.toString('base64url')}`) throw unknownCursor(scope);
    if (!this.masterKeys.verifies('cursors', given, (key) => sign(key, scope, payload))) throw unknownCursor(scope);
    return positionSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  }
}

@Global()
@Module({ providers: [Cursors], exports: [Cursors] })
export class CursorsModule {}

function sign(key: Buffer, { list, organizationId }: CursorScope, payload: string): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([list, organizationId, payload]))
    .digest()
    .subarray(0, SIGNATURE_BYTES);
}

function unknownCursor({ field = 'nextCursor' }: CursorScope): ValidationFailed {
  return new ValidationFailed(`querystring/cursor must be a ${field} that this list has answered`);
}
