import type { FirstKey } from './access/index.js';
import { PROVIDERS } from './models/index.js';
import type { Settings } from './platform/config/index.js';

/** The text for the operator once the service listens. Only this text contains the first key: the service stores its digest. */
export function welcome(listening: string, settings: Settings, first: FirstKey | null): string {
  const url = settings.publicUrl ?? listening;
  const lines = [`Listening on ${url} (documentation: ${url}/docs)`];
  if (settings.demo) {
    lines.push(`Demo: the sandbox model writes every reply, and no provider is called. Chat at ${url}/demo`);
  }
  if (first !== null) {
    lines.push(
      '',
      `First start: made the organization "Default" (${first.organizationId}) with this API key. It is shown this once; keep it:`,
      '',
      `  ${first.key}`,
      '',
      'Try it:',
      '',
      `  curl -s ${url}/v1/agents -H 'authorization: Bearer ${first.key}' \\`,
      `    -H 'content-type: application/json' \\`,
      `    -d '{"name": "First agent", "provider": {"type": "${PROVIDERS[0].type}"}}'`,
    );
  }
  return `\n${lines.join('\n')}\n\n`;
}
