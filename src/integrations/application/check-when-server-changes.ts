import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { CallFailed, ToolsChanged } from '../domain/integrations.events.js';
import type { Integration } from '../domain/integration.js';
import { CHANGED_LIST_MS } from '../limits.js';
import { RefreshToolLists } from './refresh-tool-lists.js';
import { ServerConnections } from './server-connections.js';

type Cause = 'said_by_server' | 'call_failed';

/** Checks a server when its tools may have changed, at most once per `CHANGED_LIST_MS`. */
@Injectable()
export class CheckWhenServerChanges implements OnApplicationShutdown {
  /** By id: integrations that were checked recently, and the cause for another check after the wait. */
  private readonly asked = new Map<string, { again: Cause | null; readonly forget: () => void }>();

  constructor(
    private readonly lists: RefreshToolLists,
    private readonly connections: ServerConnections,
    private readonly clock: Clock,
    events: EventBus,
  ) {
    events.subscribe(ToolsChanged, ({ integration }) => this.changed(integration, 'said_by_server'));
    events.subscribe(CallFailed, ({ integration }) => this.changed(integration, 'call_failed'));
  }

  onApplicationShutdown(): void {
    for (const { forget } of this.asked.values()) forget();
    this.asked.clear();
  }

  private changed(integration: Integration, cause: Cause): void {
    const asked = this.asked.get(integration.id);
    if (!asked) this.ask(integration, cause);
    else if (asked.again !== 'call_failed') asked.again = cause;
  }

  private ask(integration: Integration, cause: Cause): void {
    // A server's notification must not open a connection that no call uses. The next run checks the server.
    if (cause === 'said_by_server' && !this.connections.areOpenFor(integration)) return;
    void this.lists.check(integration);
    const forget = this.clock.after(CHANGED_LIST_MS, () => {
      const asked = this.asked.get(integration.id);
      this.asked.delete(integration.id);
      if (asked?.again) this.ask(integration, asked.again);
    });
    this.asked.set(integration.id, { again: null, forget });
  }
}
