import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { about, namesOf, Sections } from './support.js';

const service = useService();
let agent: Sections;

beforeEach(async () => {
  agent = await Sections.start(service);
});

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

describe('concurrent writes', () => {
  it('20 PUTs end in exactly one of the lists', async () => {
    await agent.filled('shared', 'old');
    // The lists share names, so that a mixture shows in content and order.
    const lists = times(20, (n) => [
      ...times(n % 5, (index) => ({ name: `extra ${index}`, content: `list ${n}` })),
      { name: 'shared', content: `list ${n}` },
      { name: `own ${n}`, content: `list ${n}` },
    ]);
    const answers = await Promise.all(lists.map((list) => agent.put(list)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const stored = await agent.list();
    expect(lists).toContainEqual(stored.map(({ name, content }) => ({ name, content })));
    expect(stored.map(({ position }) => position)).toEqual(stored.map((_, index) => index));
    expect(await agent.version()).toBe(2 + 20);
    expect(answers.map(({ body }) => body.sections)).toContainEqual(stored);
  });

  it('20 POSTs are all stored, each at a different position', async () => {
    const answers = await Promise.all(times(20, (n) => agent.post(about(`section ${n}`))));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    const stored = await agent.list();
    expect(stored.map(({ id, position }) => [id, position])).toEqual(
      answers.map(({ body }) => [body.id, body.position]).sort(([, left], [, right]) => Number(left) - Number(right)),
    );
    expect(stored.map(({ position }) => position)).toEqual(times(20, (n) => n));
  });

  it('changes of different sections and of the agent itself all take effect, each as a version', async () => {
    const names = times(10, (n) => `section ${n}`);
    const sections = await agent.filled(...names);
    const { key } = agent;
    const answers = await Promise.all([
      ...sections.map(({ id }, n) => agent.patch(id, { content: `Changed ${n}.` })),
      service.http('PATCH', `/v1/agents/${agent.agentId}`, { key, body: { name: 'Grace' } }),
      service.http('PATCH', `/v1/agents/${agent.agentId}`, { key, body: { systemPrompt: 'Be kind.' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await agent.list()).map(({ content }) => content)).toEqual(times(10, (n) => `Changed ${n}.`));
    expect(await agent.version()).toBe(2 + 12);
  });

  it('of 10 deletions of one section, one finds it', async () => {
    const [tone] = await agent.filled('tone', 'limits');
    const answers = await Promise.all(times(10, () => agent.delete(tone?.id ?? '')));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...times(9, () => 404)]);
    expect(namesOf(await agent.list())).toEqual(['limits']);
  });

  it('of an agent that is being deleted succeed, or answer that it does not exist', async () => {
    const { key } = agent;
    const [, ...answers] = await Promise.all([
      service.http('DELETE', `/v1/agents/${agent.agentId}`, { key }),
      ...times(10, (n) => agent.put<{ error?: string }>([about(`list ${n}`)])),
    ]);
    for (const { status, body } of answers) {
      expect([200, 404]).toContain(status);
      expect(body.error).toBe(status === 404 ? 'agent_not_found' : undefined);
    }
  });
});
