import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { about, namesOf, outcome, type SectionBody, Sections } from './support.js';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);

const service = useService();
let agent: Sections;

beforeEach(async () => {
  agent = await Sections.start(service);
});

describe('GET /v1/agents/{agentId}/sections', () => {
  it("returns no sections for a new agent, with the agent's version as ETag", async () => {
    const read = await agent.get();
    expect(outcome(read)).toEqual([200, { sections: [] }]);
    expect(read.headers.get('etag')).toBe('"1"');
  });

  it('returns the sections in prompt order, to a key without capabilities for agents', async () => {
    const written = await agent.filled('tone', 'limits');
    const read = await agent.get(await agent.organization.keyWith(['chat']));
    expect(outcome(read)).toEqual([
      200,
      {
        sections: [
          { id: ID, ...about('tone'), position: 0, createdAt: TIME, updatedAt: TIME },
          { id: ID, ...about('limits'), position: 1, createdAt: TIME, updatedAt: TIME },
        ],
      },
    ]);
    expect(read.body.sections).toEqual(written);
    expect(read.headers.get('etag')).toBe('"2"');
  });

  it('lists sections with tied positions oldest first, and numbers all sections', async () => {
    await agent.filled('tone');
    await agent.insert('first', 7);
    await agent.insert('second', 7);
    const read = await agent.list();
    expect(read.map(({ name, position }) => [name, position])).toEqual([
      ['tone', 0],
      ['first', 1],
      ['second', 2],
    ]);
  });

  it("never shows another agent's sections", async () => {
    const other = await Sections.start(service);
    await other.filled('theirs');
    expect(await agent.list()).toEqual([]);
  });
});

describe('PUT /v1/agents/{agentId}/sections', () => {
  it('keeps the id of a known name and replaces its content', async () => {
    const [tone, limits] = await agent.filled('tone', 'limits');
    const written = await agent.put([{ name: 'tone', content: 'Be brief.' }, about('limits')]);
    expect(outcome(written)).toEqual([200, { sections: [{ ...tone, content: 'Be brief.', updatedAt: TIME }, limits] }]);
    expect(await agent.list()).toEqual(written.body.sections);
    expect(written.headers.get('etag')).toBe('"3"');
  });

  it('keeps a section unchanged whose content and position stay, when others change', async () => {
    const [tone, limits, goals] = await agent.filled('tone', 'limits', 'goals');
    const later = await agent.put([about('tone'), about('goals'), { name: 'limits', content: 'None.' }]);
    expect(later.body.sections[0]).toEqual(tone);
    expect(later.body.sections[1]).toMatchObject({ id: goals?.id, position: 1, createdAt: goals?.createdAt });
    expect(later.body.sections[2]).toMatchObject({ id: limits?.id, content: 'None.', position: 2 });
    expect(await agent.list()).toEqual(later.body.sections);
  });

  it('creates a section for a new name and deletes those that are not listed', async () => {
    const [tone] = await agent.filled('tone', 'limits');
    const { body } = await agent.put([about('goals'), about('tone')]);
    expect(body.sections.map(({ name, position }) => [name, position])).toEqual([
      ['goals', 0],
      ['tone', 1],
    ]);
    expect(body.sections[1]?.id).toBe(tone?.id);
    expect(await agent.list()).toEqual(body.sections);
  });

  it('deletes all with an empty list', async () => {
    await agent.filled('tone', 'limits');
    expect(outcome(await agent.put([]))).toEqual([200, { sections: [] }]);
    expect(await agent.list()).toEqual([]);
  });

  it('makes the order of the list that of the prompt, and keeps the ids', async () => {
    const before = await agent.filled('a', 'b', 'c', 'd');
    const { body } = await agent.put(['d', 'b', 'a', 'c'].map(about));
    const id = (name: string): string | undefined => before.find((section) => section.name === name)?.id;
    expect(body.sections.map((section) => [section.id, section.position])).toEqual([
      [id('d'), 0],
      [id('b'), 1],
      [id('a'), 2],
      [id('c'), 3],
    ]);
    expect(await agent.list()).toEqual(body.sections);
  });

  it('that changes nothing writes nothing and creates no version of the agent', async () => {
    const before = await agent.filled('tone', 'limits');
    const same = await agent.put(['tone', 'limits'].map(about));
    expect(outcome(same)).toEqual([200, { sections: before }]);
    expect(same.headers.get('etag')).toBe('"2"');
    expect(await agent.version()).toBe(2);
  });

  it('that changes something creates one version, however many sections it changes', async () => {
    await agent.filled('a', 'b', 'c', 'd');
    await agent.put([about('d'), { name: 'a', content: 'Else.' }, about('new')]);
    expect(await agent.version()).toBe(3);
  });

  it('renames a section by deleting it: the new name has a new id', async () => {
    const [tone] = await agent.filled('tone');
    const { body } = await agent.put([{ name: 'voice', content: tone?.content }]);
    expect(body.sections).toHaveLength(1);
    expect(body.sections[0]?.id).not.toBe(tone?.id);
  });

  it('distinguishes names that differ only in case, space or composition', async () => {
    const names = ['tone', 'Tone', ' tone', 'tone ', 'e\u0301', '\u00e9', '__proto__', 'constructor'];
    expect(namesOf(await agent.filled(...names))).toEqual(names);
    expect(namesOf(await agent.list())).toEqual(names);
  });

  it('stores text as it was sent', async () => {
    const content = ' \t"quoted" \\n \\u0041 {a,b} $1 \u0001\u2028 👩‍👩‍👧 \r\n ';
    await agent.put([{ name: '{"a"}', content }]);
    expect(await agent.list()).toMatchObject([{ name: '{"a"}', content }]);
  });

  it('has sections of later POSTs after it, also when others were stored outside of the service', async () => {
    await agent.insert('elsewhere', 40);
    await agent.post(about('last'));
    expect(namesOf(await agent.list())).toEqual(['elsewhere', 'last']);
    await agent.put(['last', 'elsewhere'].map(about));
    await agent.post(about('later'));
    expect(namesOf(await agent.list())).toEqual(['last', 'elsewhere', 'later']);
  });
});

describe('POST /v1/agents/{agentId}/sections', () => {
  it('appends a section and returns it with 201', async () => {
    await agent.filled('tone');
    const added = await agent.post(about('limits'));
    expect(outcome(added)).toEqual([
      201,
      { id: ID, ...about('limits'), position: 1, createdAt: TIME, updatedAt: TIME },
    ]);
    expect(added.headers.get('etag')).toBe('"3"');
    expect((await agent.list())[1]).toEqual(added.body);
    expect(await agent.version()).toBe(3);
  });

  it('may exceed the number of sections that one PUT may have', async () => {
    await agent.filled(...Array.from({ length: 100 }, (_, index) => `section ${index}`));
    expect((await agent.post(about('one more'))).body.position).toBe(100);
  });
});

describe('PATCH /v1/agents/{agentId}/sections/{sectionId}', () => {
  let tone: SectionBody;
  let limits: SectionBody;

  beforeEach(async () => {
    [tone, limits] = (await agent.filled('tone', 'limits')) as [SectionBody, SectionBody];
  });

  it('renames a section, which keeps its id and its place', async () => {
    const renamed = await agent.patch(tone.id, { name: 'voice' });
    expect(outcome(renamed)).toEqual([200, { ...tone, name: 'voice', updatedAt: TIME }]);
    expect(renamed.headers.get('etag')).toBe('"3"');
    expect(await agent.list()).toEqual([renamed.body, limits]);
    expect(await agent.version()).toBe(3);
  });

  it('replaces the content of a section and keeps its name', async () => {
    const rewritten = await agent.patch(limits.id, { content: 'None.' });
    expect(outcome(rewritten)).toEqual([200, { ...limits, content: 'None.', updatedAt: TIME }]);
    expect(await agent.list()).toEqual([tone, rewritten.body]);
  });

  it('accepts any spelling of the id', async () => {
    expect((await agent.patch(tone.id.toUpperCase(), { content: 'Brief.' })).body.id).toBe(tone.id);
  });

  it('without effect creates no version and does not write the section', async () => {
    const { name, content } = tone;
    expect(outcome(await agent.patch(tone.id, { name, content }))).toEqual([200, tone]);
    expect(await agent.version()).toBe(2);
  });
});

describe('DELETE /v1/agents/{agentId}/sections/{sectionId}', () => {
  it('removes a section and closes the gap; the others keep their order and are not written', async () => {
    const [a, b, c, d] = await agent.filled('a', 'b', 'c', 'd');
    const answer = await agent.delete(b?.id ?? '');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(answer.headers.get('etag')).toBe('"3"');
    expect(await agent.list()).toEqual([a, { ...c, position: 1 }, { ...d, position: 2 }]);
    expect(await agent.version()).toBe(3);
    const stored = await service.database.query('select position from sections where agent_id = $1 order by 1', [
      agent.agentId,
    ]);
    expect(stored).toEqual([{ position: 0 }, { position: 1 }, { position: 2 }]);
  });

  it('makes the name available', async () => {
    const [tone] = await agent.filled('tone');
    await agent.delete(tone?.id ?? '');
    expect((await agent.post(about('tone'))).status).toBe(201);
  });
});

describe('deleting an agent', () => {
  it('deletes its sections', async () => {
    await agent.filled('tone');
    await service.http('DELETE', `/v1/agents/${agent.agentId}`, { key: agent.key });
    expect(await service.database.query('select id from sections where agent_id = $1', [agent.agentId])).toEqual([]);
  });
});
