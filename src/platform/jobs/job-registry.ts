import { WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { Queue } from 'bullmq';
import type { JobDefinition } from './job.js';

/** The metadata key under which `@Processor` stores the name of its queue; the library does not export it. */
const PROCESSOR_METADATA = 'bullmq:processor_metadata';

/** The queue of the ticks of all schedules. No job has this name. */
export const SCHEDULES = 'jobs.schedules';

/** A definition and its queue. The type of the payload is unknown here; its schema checks every payload. */
export class RegisteredJob {
  constructor(
    readonly definition: JobDefinition<unknown>,
    readonly queue: Queue,
  ) {}
}

/** Every job of the application and its processor, found among the providers. */
@Injectable()
export class JobRegistry {
  private readonly jobs = new Map<string, RegisteredJob>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error, which fails the start, if two jobs have one name or a job does not have exactly one processor */
  discover(): void {
    for (const job of this.providers()) {
      if (!(job instanceof RegisteredJob)) continue;
      const { name } = job.definition;
      if (this.jobs.has(name)) throw new Error(`Two jobs have the name ${name}`);
      this.jobs.set(name, job);
    }
    const handled = new Set<string>();
    for (const { constructor } of this.processors()) {
      const { name } = this.reflector.get<{ name: string }>(PROCESSOR_METADATA, constructor);
      if (handled.has(name)) throw new Error(`The job ${name} has two handlers; one is ${constructor.name}`);
      handled.add(name);
    }
    for (const name of this.jobs.keys()) if (!handled.delete(name)) throw new Error(`The job ${name} has no handler`);
    handled.delete(SCHEDULES);
    const [stray] = handled;
    if (stray !== undefined)
      throw new Error(`A processor handles ${stray}, which no module declares with JobsModule.define`);
  }

  all(): RegisteredJob[] {
    return [...this.jobs.values()];
  }

  definition(name: string): JobDefinition<unknown> | undefined {
    return this.jobs.get(name)?.definition;
  }

  processors(): WorkerHost[] {
    return this.providers().filter((provider): provider is WorkerHost => provider instanceof WorkerHost);
  }

  queues(): Queue[] {
    return this.providers().filter((provider): provider is Queue => provider instanceof Queue);
  }

  private providers(): unknown[] {
    return [...new Set(this.discovery.getProviders().map(({ instance }): unknown => instance))];
  }
}
