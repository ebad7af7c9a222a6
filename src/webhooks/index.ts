import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { RecordRunEvents } from './application/record-run-events.js';
import { webhooksSchema } from './persistence/webhooks.schema.js';
import { WebhooksModule } from './webhooks.module.js';

export const webhooksContext = {
  name: 'webhooks',
  modules: [WebhooksModule],
  schema: webhooksSchema,
  runs: { observers: [RecordRunEvents] },
} satisfies Context<RunExtensions>;

export { webhooksSchema };
