import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { about, Sections } from './support.js';

interface Change {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

interface VersionsBody {
  readonly versions: readonly { readonly version: number; readonly changes: readonly Change[] }[];
}

const service = useService();
let agent: Sections;

beforeEach(async () => {
  agent = await Sections.start(service);
});

/** Newest first. */
async function history(): Promise<readonly (readonly Change[])[]> {
  const { key, agentId } = agent;
  const { body } = await service.http<VersionsBody>('GET', `/v1/agents/${agentId}/versions`, { key });
  return body.versions.map(({ changes }) => changes);
}

async function restore(version: number): Promise<void> {
  const { key, agentId } = agent;
  const answer = await service.http('POST', `/v1/agents/${agentId}/versions/${version}/restore`, { key });
  if (answer.status !== 200) throw new Error(`restore: ${answer.status} ${answer.text}`);
}

describe("an agent's history", () => {
  it('has one version for each write of its sections that took effect, with only the changed sections', async () => {
    const [tone] = await agent.filled('tone', 'limits');
    await agent.put([about('tone'), { name: 'limits', content: 'None.' }]);
    await agent.post(about('goals'));
    await agent.patch(tone?.id ?? '', { name: 'voice' });
    await agent.delete(tone?.id ?? '');
    const whole = (name: string, position: number): object => ({ ...about(name), position });
    expect(await history()).toEqual([
      [{ field: 'sections.voice', before: { ...whole('tone', 0), name: 'voice' }, after: null }],
      [{ field: 'sections.tone', before: { name: 'tone' }, after: { name: 'voice' } }],
      [{ field: 'sections.goals', before: null, after: whole('goals', 2) }],
      [{ field: 'sections.limits', before: { content: 'About limits.' }, after: { content: 'None.' } }],
      [
        { field: 'sections.tone', before: null, after: whole('tone', 0) },
        { field: 'sections.limits', before: null, after: whole('limits', 1) },
      ],
      [],
    ]);
  });

  it('has no version for a write without effect', async () => {
    const [tone] = await agent.filled('tone');
    await agent.filled('tone');
    await agent.patch(tone?.id ?? '', about('tone'));
    expect(await history()).toHaveLength(2);
  });
});

describe('restoring a version of an agent', () => {
  it('restores its sections with their ids and their order', async () => {
    await agent.filled('a', 'b', 'c');
    const before = await agent.list();
    await agent.put(['c', 'new', 'a'].map((name) => ({ name, content: `Now ${name}.` })));
    await restore(2);
    const restored = await agent.list();
    const said = (sections: typeof before): object[] =>
      sections.map(({ id, name, content, position }) => ({ id, name, content, position }));
    expect(said(restored)).toEqual(said(before));
    expect(await agent.version()).toBe(4);
  });

  it('to a version without sections removes them all', async () => {
    await agent.filled('a', 'b');
    await restore(1);
    expect(await agent.list()).toEqual([]);
  });

  it('keeps the sections when only the agent differs', async () => {
    const before = await agent.filled('a', 'b');
    await service.http('PATCH', `/v1/agents/${agent.agentId}`, { key: agent.key, body: { name: 'Grace' } });
    await restore(2);
    expect(await agent.list()).toEqual(before);
  });
});
