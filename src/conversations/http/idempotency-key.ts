import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../access/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import type { IdempotentRequest } from '../domain/idempotency.js';

const KEY = /^[\x21-\x7e]{1,255}$/;

export const ApiIdempotencyKey = (): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Names the request (1 to 255 visible ASCII characters). A repeat within 24 hours gets the result of the first ' +
      'one, joining it while it is under way, and does nothing again; the same key with another body is refused (422).',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });

/** Handler parameter. Keys of different operations are independent. */
export const Idempotency = createParamDecorator(
  (operation: string, context: ExecutionContext): IdempotentRequest | undefined => {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = request.headers['idempotency-key'];
    if (key === undefined) return undefined;
    if (typeof key !== 'string' || !KEY.test(key)) {
      throw new ValidationFailed('headers/idempotency-key must be 1 to 255 visible ASCII characters');
    }
    return { operation: operationOf(request, operation), key, fingerprint: fingerprintOf(request.url, request.body) };
  },
);

/** Keys belong to an organization; those of visitors belong to their session. */
function operationOf(request: FastifyRequest, operation: string): string {
  const principal = principalOf(request);
  return principal?.kind === 'session_pass' ? `${operation}:${principal.sessionId}` : operation;
}

function fingerprintOf(url: string, body: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([url.split('?')[0], body]))
    .digest('base64url');
}
