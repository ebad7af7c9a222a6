import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { ValidationFailed } from '../errors/index.js';
import { MasterKey } from '../vault/index.js';

/** Enough to make guessing hopeless, short enough for a query. */
const SIGNATURE_BYTES = 16;

/** What a cursor continues: no cursor works on another list, or for another organization. */
export interface CursorScope {
  readonly list: string;
  readonly organizationId: string;
}

const positionSchema = z.array(z.string()).min(1);

/** Opaque positions in lists, signed: the service accepts only those that it has issued. */
@Injectable()
export class Cursors {
  readonly #key: Buffer;

  constructor(masterKey: MasterKey) {
    this.#key = masterKey.derive('cursors');
  }

  issue(scope: CursorScope, position: readonly string[]): string {
    const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
    return `${payload}.${this.sign(scope, payload).toString('base64url')}`;
  }

  /** @throws ValidationFailed when the cursor was not issued for this list and organization */
  read(scope: CursorScope, cursor: string): string[] {
    const [payload = '', signature = ''] = cursor.split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.sign(scope, payload);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw unknownCursor();
    return positionSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  }

  private sign({ list, organizationId }: CursorScope, payload: string): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([list, organizationId, payload]))
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  }
}

function unknownCursor(): ValidationFailed {
  return new ValidationFailed('querystring/cursor must be a nextCursor that this list has answered');
}
