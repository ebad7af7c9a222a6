import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { CallFailed, ToolsChanged } from '../domain/integrations.events.js';
import type { Integration } from '../domain/integration.js';
import { CHANGED_LIST_MS } from '../limits.js';
import { KeepToolLists } from './keep-tool-lists.js';
import { ServerConnections } from './server-connections.js';

type Cause = 'said_by_server' | 'call_failed';

/** Asks a server for its tools when they seem to have changed, and no more often than that may be worth. */
@Injectable()
export class CheckWhenServerChanges implements OnApplicationShutdown {
  /** By id: servers that were asked just now, and why they are to be asked again. */
  private readonly asked = new Map<string, { again: Cause | null; readonly forget: () => void }>();

  constructor(
    private readonly lists: KeepToolLists,
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
    // One that nobody uses must not be connected to because of what it said; the next run asks it.
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
