import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { RecordUsage } from './application/record-usage.js';
import { RefuseExhausted } from './application/refuse-exhausted.js';
import { CreditsModule } from './credits.module.js';
import { creditsSchema } from './persistence/credits.schema.js';

export const creditsContext = {
  name: 'credits',
  modules: [CreditsModule],
  schema: creditsSchema,
  runs: { admissions: [RefuseExhausted], observers: [RecordUsage] },
} satisfies Context<RunExtensions>;

export { creditsSchema };
export { PeriodExhausted } from './domain/credits.events.js';
