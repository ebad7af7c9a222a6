import { table } from './table.ts';
import type { WebhooksResult } from './webhooks.ts';

export function webhooksText(results: readonly WebhooksResult[]): string {
  return table(
    ['Deliveries to one endpoint', 'Deliveries', 'A second', 'CPU ms each', "PostgreSQL's", 'Sockets'],
    results.map((row) => [
      ...[row.on, row.deliveries, row.perSecond, row.processorMs, row.databaseMs ?? 'inside', row.connections],
    ]),
  );
}
