import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { TtlCache } from '../cache/index.js';
import { Clock } from '../clock/index.js';
import { Metrics } from '../metrics/index.js';
import { Health, type Readiness } from './health.js';

/** How long a result is kept, because anyone may request the metrics at any rate. */
const KEPT_MS = 5_000;
const KEY = 'readiness';

/** What `/health/ready` says, as metrics: an operator can alert on them, and see which part of which process it was. */
@Injectable()
export class ReadinessMetrics implements OnApplicationBootstrap {
  private readonly kept: TtlCache<Readiness>;

  constructor(
    private readonly health: Health,
    private readonly metrics: Metrics,
    clock: Clock,
  ) {
    this.kept = new TtlCache({ clock, ttlMs: KEPT_MS, maxEntries: 1 });
  }

  /** Parts and facts are known once all providers exist. */
  onApplicationBootstrap(): void {
    this.metrics.gauge(
      {
        name: 'agent_service_ready',
        help: 'Whether the part works, as /health/ready says it: 1, or 0. The part process is 0 while the process stops.',
        labels: { part: this.health.parts() },
      },
      async ({ part }) => {
        const readiness = await this.kept.get(KEY, () => this.health.readiness());
        return (readiness?.checks[part] ?? 'ok') === 'ok' ? 1 : 0;
      },
    );
    const facts = this.health.facts();
    this.metrics.gauge(
      {
        name: 'agent_service_state',
        help: 'How the process serves, by the facts of /health/ready: 1 for the present value, 0 for the others.',
        labels: {
          fact: facts.map(({ name }) => name),
          value: [...new Set(facts.flatMap(({ values }) => values))],
        },
      },
      async ({ fact, value }) => {
        const known = facts.find(({ name, values }) => name === fact && values.includes(value));
        if (!known) return undefined;
        const readiness = await this.kept.get(KEY, () => this.health.readiness());
        return Number(readiness?.facts[fact] === value);
      },
    );
  }
}
