import { HttpAgent } from '@ag-ui/client';
import { message } from './harness.js';
import type { Talk } from './talk.js';

/** The official client of AG-UI for one message: checks the order of events, and builds its messages from them. */
export class OfficialClient extends HttpAgent {
  constructor(
    baseUrl: string,
    talk: Talk,
    private readonly text: string,
    query = '',
    private readonly more: Readonly<Record<string, unknown>> = {},
  ) {
    super({
      url: `${baseUrl}${talk.path}/runs/stream${query}`,
      threadId: talk.threadId,
      headers: { authorization: `Bearer ${talk.key}` },
    });
  }

  protected override requestInit(): RequestInit {
    return {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(message(this.text, this.more)),
    };
  }
}
