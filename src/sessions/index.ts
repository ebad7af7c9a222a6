import type { Context } from '../platform/context/index.js';
import { sessionsSchema } from './persistence/sessions.schema.js';
import { SessionsModule } from './sessions.module.js';

export const sessionsContext = {
  name: 'sessions',
  modules: [SessionsModule],
  schema: sessionsSchema,
} satisfies Context;

export { sessionsSchema };
