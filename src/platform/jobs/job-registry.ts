import { WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { Queue } from 'bullmq';
import type { JobDefinition } from './job.js';

/** Where `@Processor` keeps the name of its queue; the library does not export the key. */
const PROCESSOR_METADATA = 'bullmq:processor_metadata';

/** The queue of all schedules' ticks, which is no job's. */
export const SCHEDULES = 'jobs.schedules';

/** A definition, without regard to its payload, which its schema checks wherever it enters, and its queue. */
export class RegisteredJob {
  constructor(
    readonly definition: JobDefinition<unknown>,
    readonly queue: Queue,
  ) {}
}

/** Knows every job of the application and the processor of each, found among the providers. */
@Injectable()
export class JobRegistry {
  private readonly jobs = new Map<string, RegisteredJob>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error, which stops the start, when a name is taken twice or a job has not exactly one processor. */
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
      throw new Error(`A processor takes ${stray}, which no module declares with JobsModule.define`);
  }

  all(): RegisteredJob[] {
    return [...this.jobs.values()];
  }

  definition(name: string): JobDefinition<unknown> | undefined {
    return this.jobs.get(name)?.definition;
  }

  /** Those of the jobs and of the schedules; so with their queues. */
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
