import { afterAll, beforeAll } from '@jest/globals';
import { type ServiceOptions, type TestService, useService } from '../../support/harness.js';
import { HookServer } from '../../support/hook-server.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { Talk } from '../../support/talk.js';

/** A service whose agents may call this machine. */
export function useHookService(options: ServiceOptions = {}): TestService {
  return useService({ egressAllow: new LoopbackPorts(), ...options });
}

/** A customer's endpoint for all tests of a file; each test uses different paths. */
export function useHookServer(): HookServer {
  let started: HookServer | undefined;
  beforeAll(async () => {
    started = await HookServer.start();
  });
  afterAll(() => started?.close());
  return new Proxy({} as HookServer, {
    get: (_none, name) => {
      if (!started) throw new Error('The server is started before the first test, not before');
      const value: unknown = Reflect.get(started, name);
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
  });
}

export type HooksDocument = Readonly<Record<string, readonly object[]>>;

/** A group of handlers, optionally with a matcher. */
export function group(hooks: readonly object[], matcher?: string): object {
  return matcher === undefined ? { hooks } : { matcher, hooks };
}

export async function setHooks(service: TestService, talk: Talk, hooks: HooksDocument): Promise<void> {
  const { status, text } = await service.http('PUT', `/v1/agents/${talk.agentId}/hooks`, {
    key: talk.key,
    body: { hooks },
  });
  if (status !== 200) throw new Error(`hooks: ${status} ${text}`);
}

/** A conversation with an agent that has these hooks. */
export async function talkWith(
  service: TestService,
  hooks: HooksDocument,
  agent: Readonly<Record<string, unknown>> = {},
): Promise<Talk> {
  const talk = await Talk.start(service, agent);
  await setHooks(service, talk, hooks);
  return talk;
}
