import type { INestApplicationContext } from '@nestjs/common';
import type { RequestHooks } from '../../platform/http/index.js';
import { AuthenticateRequest } from './authenticate-request.js';
import { RefuseSessionPass } from './refuse-session-pass.js';
import { RateLimitHeaders } from './rate-limit-headers.js';

/** The parts of access control that are Fastify hooks, because guards run after the body is read. */
export function accessHooks(app: INestApplicationContext): RequestHooks {
  return {
    onRequest: [app.get(AuthenticateRequest).hook, app.get(RefuseSessionPass).hook],
    onSend: [app.get(RateLimitHeaders).hook],
  };
}
