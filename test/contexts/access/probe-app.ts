import { Body, Controller, Get, Global, HttpCode, Module, type OnModuleInit, Post, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ThrottlerStorage } from '@nestjs/throttler';
import {
  Access,
  AccessModule,
  accessContext,
  accessHooks,
  bodyResource,
  Caller,
  pathResource,
  type Principal,
  Resource,
  ResourceLookup,
  ResourceLookups,
  type ResourceOfAgent,
} from '../../../src/access/index.js';
import { Clock, SystemClock } from '../../../src/platform/clock/index.js';
import { readSettings, Settings } from '../../../src/platform/config/index.js';
import { DatabaseModule } from '../../../src/platform/database/index.js';
import { DomainError } from '../../../src/platform/errors/index.js';
import { EventBus, EventsModule } from '../../../src/platform/events/index.js';
import { HttpModule, PublicRoute, StringField } from '../../../src/platform/http/index.js';
import { createHttpApp } from '../../../src/platform/http/create-http-app.js';
import { newId } from '../../../src/platform/ids/index.js';
import { LimitsModule } from '../../../src/platform/limits/index.js';
import { runCommand } from '../../../src/platform/command-line/index.js';
import { createLogger, TelemetryModule } from '../../../src/platform/telemetry/index.js';
import { useUpBudget } from '../../support/budgets.js';
import { accessCommands } from '../../../src/access/operator/access-commands.js';
import { operatorKernel } from '../../support/operator-kernel.js';
import { openTestDatabase, type TestDatabase } from '../../support/test-database.js';

/** Agents and threads of the test, instead of the contexts that own them. */
class DeclaredResources extends ResourceLookup {
  readonly agents = new Map<string, ResourceOfAgent>();
  lookups: string[] = [];
  constructor(readonly kind: string) {
    super();
  }
  add(organizationId: string, agentId: string): string {
    const id = this.kind === 'agent' ? agentId : newId();
    this.agents.set(`${organizationId} ${id}`, { agentId });
    return id;
  }
  override find(organizationId: string, id: string): Promise<ResourceOfAgent | null> {
    this.lookups.push(id);
    return Promise.resolve(this.agents.get(`${organizationId} ${id}`) ?? null);
  }
  override absent(id: string): DomainError {
    return new DomainError('not_found', `There is no ${this.kind} ${id}.`);
  }
}

class MessageBody {
  @StringField({ optional: true })
  readonly assistant_id?: string;
  @StringField()
  readonly text!: string;
}

@Controller('v1/probe')
class ProbeController {
  @Get('open')
  @PublicRoute()
  open(): object {
    return { open: true };
  }

  @Get('undeclared')
  undeclared(): object {
    return { open: true };
  }

  @Get('read')
  @Access({ scope: 'none' })
  read(@Caller() caller: Principal): object {
    return { organizationId: caller.organizationId };
  }

  @Post('organization')
  @Access({ scope: 'manageAgents', level: 'organization' })
  organization(): object {
    return {};
  }

  @Get('agents/:agentId')
  @Access({ scope: 'none', resource: pathResource('agent', 'agentId') })
  agent(@Resource('agent') agent: ResourceOfAgent): object {
    return agent;
  }

  @Post('threads/:threadId/runs')
  @HttpCode(200)
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId'), rateLimit: 'chat', sessionPass: true })
  run(@Body() _body: MessageBody, @Resource('thread') thread: ResourceOfAgent): object {
    return thread;
  }

  @Post('chat')
  @HttpCode(200)
  @Access({ scope: 'chat', resource: bodyResource('agent', 'assistant_id'), rateLimit: 'chat' })
  chat(@Body() _body: MessageBody, @Resource('agent') agent: ResourceOfAgent | undefined): object {
    return { agentId: agent?.agentId ?? null };
  }
}

const clock = new SystemClock();
const settings = readSettings({ LOG_LEVEL: 'silent' }, { role: 'all', demo: false });

@Global()
@Module({
  providers: [
    { provide: Clock, useValue: clock },
    { provide: Settings, useValue: settings },
  ],
  exports: [Clock, Settings],
})
class SurroundingsModule {}

export interface Tenant {
  readonly id: string;
  readonly agentId: string;
  readonly threadId: string;
  /** A new key; by default with every capability and no allowlist. */
  readonly key: (capabilities?: string, agentIds?: string) => Promise<string>;
}

export interface Sent {
  readonly key?: string;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
}

interface ProbeOptions {
  readonly controllers?: readonly Type[];
  readonly authenticate?: boolean;
}

/** The access context over HTTP, on a real database and real limits, guarding the routes of the controllers. */
export class ProbeApp {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly agents: DeclaredResources,
    readonly threads: DeclaredResources,
    private readonly open: TestDatabase,
  ) {}

  /** @param options.authenticate false leaves out the hook that authenticates */
  static async start({ controllers = [], authenticate = true }: ProbeOptions = {}): Promise<ProbeApp> {
    const open = await openTestDatabase([accessContext.schema]);
    const agents = new DeclaredResources('agent');
    const threads = new DeclaredResources('thread');
    const logger = createLogger(settings);
    const app = await createHttpApp({
      rootModule: rootModule(open, [agents, threads], [ProbeController, ...controllers]),
      settings,
      logger,
      hooks: (created) => (authenticate ? accessHooks(created) : {}),
    });
    try {
      await app.init();
      await app.getHttpAdapter().getInstance().ready();
    } catch (error) {
      await open.close();
      throw error;
    }
    return new ProbeApp(app, agents, threads, open);
  }

  close(): Promise<void> {
    return this.app.close();
  }

  /** One operator command. */
  async cli(line: string): Promise<Record<string, string>> {
    const kernel = operatorKernel(this.open, clock, this.app.get(EventBus));
    return (await runCommand(accessCommands, kernel, line.split(' '))) as Record<string, string>;
  }

  /** A fresh organization with one agent and one thread of it. */
  async tenant(): Promise<Tenant> {
    const { id = '' } = await this.cli('org create --name Acme');
    const agentId = this.agents.add(id, newId());
    const key = async (capabilities = 'chat,manageAgents,manageApiKeys', agentIds?: string): Promise<string> => {
      const allowlist = agentIds === undefined ? '' : ` --agents ${agentIds}`;
      return (await this.cli(`key create --org ${id} --capabilities ${capabilities}${allowlist}`)).key ?? '';
    };
    return { id, agentId, threadId: this.threads.add(id, agentId), key };
  }

  /** Uses up the chat budget of an agent, or with null that of requests without an agent. */
  async exhaust(organizationId: string, agentId: string | null): Promise<void> {
    await useUpBudget(
      this.app.get<ThrottlerStorage>(ThrottlerStorage),
      `chat:${organizationId}:${agentId ?? 'none'}`,
      600,
    );
  }

  async send(method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS', url: string, { key, body, headers }: Sent = {}) {
    const response = await this.app.inject({
      method,
      url,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: body }),
    });
    const { statusCode: status, body: text } = response;
    return { status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  }
}

function rootModule(open: TestDatabase, lookups: readonly ResourceLookup[], controllers: Type[]): Type {
  @Module({ controllers })
  class ProbeModule implements OnModuleInit {
    constructor(private readonly registry: ResourceLookups) {}
    onModuleInit(): void {
      for (const lookup of lookups) this.registry.register(lookup);
    }
  }

  @Module({
    imports: [
      SurroundingsModule,
      TelemetryModule.forRoot(settings),
      DatabaseModule.forRoot(open),
      EventsModule,
      LimitsModule.forRoot(settings, clock),
      HttpModule,
      AccessModule,
      ProbeModule,
    ],
  })
  class RootModule {}

  return RootModule;
}
