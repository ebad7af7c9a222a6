import type { INestApplicationContext } from '@nestjs/common';
import type { RequestHooks } from '../../platform/http/index.js';
import { AuthenticateRequest } from './authenticate-request.js';
import { RefusePass } from './refuse-pass.js';
import { TellBudget } from './tell-budget.js';

/** What access does with a request outside of its guards. */
export function accessHooks(app: INestApplicationContext): RequestHooks {
  return {
    onRequest: [app.get(AuthenticateRequest).hook, app.get(RefusePass).hook],
    onSend: [app.get(TellBudget).hook],
  };
}
