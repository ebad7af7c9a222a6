// The built service with one more tool, `pay`: it notes each call in the file PAYMENTS and never comes back.
import { appendFileSync } from 'node:fs';
import { startExtended } from './extended-service.mjs';

class PayTool {
  offer() {
    const definition = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
    const call = (input) => {
      appendFileSync(process.env.PAYMENTS, `${JSON.stringify(input)}\n`);
      return new Promise(() => undefined);
    };
    return Promise.resolve([{ definition, step: 'tool', effect: 'changes_resources', call }]);
  }
}

await startExtended({ toolSources: [PayTool] });
