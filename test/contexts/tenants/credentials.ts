import { CAPABILITIES, type Capability } from '../../../src/access/index.js';
import { PassTokens } from '../../../src/sessions/application/pass-tokens.js';
import type { TestService } from '../../support/harness.js';
import { mintSession, partsOf } from '../../support/web-sessions.js';
import type { SkippingClock, World } from './world.js';

/** Invalid credentials, by what is wrong with them. */
export interface Refused {
  readonly kind: string;
  /** Undefined sends none. */
  readonly key: string | undefined;
  readonly code: string;
}

/** Keys of one organization with restricted access. */
export interface LimitedKeys {
  /** Every capability except this one. */
  readonly lacking: Readonly<Record<Capability, string>>;
  /** Every capability, only for the second agent. */
  readonly excluding: string;
  /** Only for the second agent, and without the capability. */
  readonly excludingAndLacking: Readonly<Record<Capability, string>>;
}

/** One credential of every kind that is answered with 401. Add every new kind of credential here. */
export async function refusedCredentials(service: TestService, clock: SkippingClock, world: World): Promise<Refused[]> {
  const { organization, key } = world;
  const revoked = await organization.keyWith(CAPABILITIES);
  const works = async (candidate: string): Promise<void> => {
    const { status } = await service.http('GET', '/v1/assistants', { key: candidate });
    if (status !== 200) throw new Error(`A valid key was answered with ${status}`);
  };
  await works(revoked.key);
  await service.cli('key', 'revoke', revoked.id);
  const expiresAt = new Date(clock.now().getTime() + 60_000).toISOString();
  const body = { name: 'short', capabilities: CAPABILITIES, expiresAt };
  const expiring = await service.http<{ key: string }>('POST', '/v1/api-keys', { key, body });
  await works(expiring.body.key);
  clock.skip(60_000);
  const code = 'api_key_invalid';
  const ofRevoked = await organization.keyWith(CAPABILITIES);
  const ended = await mintSession(service, ofRevoked.key, { assistant_id: world.agentId, thread_id: world.threadId });
  await service.cli('key', 'revoke', ofRevoked.id);
  const old = new Date(clock.now().getTime() - 1_000);
  const {
    sid: id,
    org: organizationId,
    agent: agentId,
    thread: threadId,
  } = partsOf(world.pass).payload as Record<string, string>;
  const aged = await service.app
    .get(PassTokens, { strict: false })
    .sign({ id, organizationId, agentId, threadId } as never, old);
  const [head = '', claims = '', signature = ''] = world.pass.split('.');
  return [
    { kind: 'none', key: undefined, code: 'api_key_missing' },
    { kind: 'malformed', key: 'ak_nonsense', code },
    { kind: 'with a wrong checksum', key: `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, code },
    { kind: 'revoked', key: revoked.key, code },
    { kind: 'expired', key: expiring.body.key, code },
    { kind: 'a pass that has expired', key: aged, code: 'pass_expired' },
    { kind: 'a pass whose key was revoked', key: ended.pass.token, code: 'pass_invalid' },
    { kind: 'a pass that was changed', key: `${head}.${claims}.${signature.slice(0, -4)}AAAA`, code: 'pass_invalid' },
  ];
}

export async function limitedKeys({ organization, otherAgentId }: World): Promise<LimitedKeys> {
  const without = async (missing: Capability, agents?: readonly string[]): Promise<[Capability, string]> => {
    const rest = CAPABILITIES.filter((capability) => capability !== missing);
    return [missing, (await organization.keyWith(rest, agents)).key];
  };
  const each = async (agents?: readonly string[]): Promise<Record<Capability, string>> =>
    Object.fromEntries(await Promise.all(CAPABILITIES.map((missing) => without(missing, agents)))) as Record<
      Capability,
      string
    >;
  return {
    lacking: await each(),
    excluding: (await organization.keyWith(CAPABILITIES, [otherAgentId])).key,
    excludingAndLacking: await each([otherAgentId]),
  };
}
