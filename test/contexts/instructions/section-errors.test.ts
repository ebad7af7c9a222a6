import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { useService } from '../../support/harness.js';
import { about, type ErrorBody, outcome, type SectionBody, Sections, type Sender } from './support.js';

const MESSAGE = expect.any(String);
const AGENT_NOT_FOUND = [404, { statusCode: 404, error: 'agent_not_found', message: MESSAGE }];
const SECTION_NOT_FOUND = [404, { statusCode: 404, error: 'section_not_found', message: MESSAGE }];
const NAME_TAKEN = [409, { statusCode: 409, error: 'section_name_taken', message: MESSAGE }];

const service = useService();
let agent: Sections;
let tone: SectionBody;
let limits: SectionBody;

beforeEach(async () => {
  agent = await Sections.start(service);
  [tone, limits] = (await agent.filled('tone', 'limits')) as [SectionBody, SectionBody];
});

function forbidden(code: string): unknown[] {
  return [403, { statusCode: 403, code, error: 'forbidden', message: MESSAGE }];
}

function invalid(message: string): unknown[] {
  return [400, { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'bad_request', message }];
}

async function expectUnchanged(): Promise<void> {
  expect(await agent.list()).toEqual([tone, limits]);
  expect(await agent.version()).toBe(2);
}

/** One valid request of each kind that writes. */
function writes(target: Sections, section: string, sender: Sender = {}) {
  return Promise.all([
    target.put<ErrorBody>([about('new')], sender),
    target.post<ErrorBody>(about('new'), sender),
    target.patch<ErrorBody>(section, { name: 'new' }, sender),
    target.delete(section, sender),
  ]);
}

async function requests(target: Sections, section: string, sender: Sender = {}) {
  return [await target.get<ErrorBody>(sender), ...(await writes(target, section, sender))];
}

describe('names', () => {
  it('a PUT that lists a name more than once is refused with the names, and nothing changes', async () => {
    const wanted = ['a', 'b', 'a', 'c', 'b', 'a'].map(about);
    expect(outcome(await agent.put(wanted))).toEqual([
      400,
      { statusCode: 400, error: 'duplicate_section_names', message: MESSAGE, names: ['a', 'b'] },
    ]);
    await expectUnchanged();
  });

  it('a PUT on an agent that already has duplicate names is refused with the names, and nothing changes', async () => {
    await agent.insert('tone', 2);
    const before = await agent.list();
    for (const wanted of [[], [about('tone')]]) {
      expect(outcome(await agent.put(wanted))).toEqual([
        409,
        { statusCode: 409, error: 'existing_duplicate_section_names', message: MESSAGE, names: ['tone'] },
      ]);
    }
    expect(await agent.list()).toEqual(before);
  });

  it('the duplicates can be resolved one by one, and then a PUT succeeds', async () => {
    const second = await agent.insert('tone', 2);
    expect((await agent.patch(second, { content: 'Still a duplicate.' })).status).toBe(200);
    expect((await agent.patch(second, { name: 'voice' })).status).toBe(200);
    const third = await agent.insert('limits', 3);
    expect((await agent.delete(third)).status).toBe(204);
    expect((await agent.put([about('tone')])).status).toBe(200);
  });

  it('a POST of a name that another section has is refused', async () => {
    expect(outcome(await agent.post(about('limits')))).toEqual(NAME_TAKEN);
    await expectUnchanged();
  });

  it('a renaming PATCH to a name that another section has is refused', async () => {
    expect(outcome(await agent.patch(tone.id, { name: 'limits', content: 'New.' }))).toEqual(NAME_TAKEN);
    await expectUnchanged();
  });

  it('of 20 concurrent POSTs of one name, one is accepted', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => agent.post(about('new'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(await agent.list()).toHaveLength(3);
  });
});

describe('a body that is not valid answers 400 and names the field', () => {
  const LONG_NAME = 'x'.repeat(201);
  const NAME = 'must be a string of 1 to 200 characters';
  const MOST = 'body/sections must be an array of at most 100 items';
  const CONTENT = 'must be a string of 1 to 100000 characters';

  it.each([
    ['no list', undefined, 'body/sections is required'],
    ['a list that is none', {}, MOST],
    ['101 sections', Array.from({ length: 101 }, (_, n) => about(`s${n}`)), MOST],
    ['no object', ['tone'], 'body/sections/0 must be an object'],
    ['an empty name', [about('a'), { name: '', content: 'x' }], `body/sections/1/name ${NAME}`],
    ['a long name', [{ name: LONG_NAME, content: 'x' }], `body/sections/0/name ${NAME}`],
    ['no content', [{ name: 'a' }], 'body/sections/0/content is required'],
    ['an empty content', [{ name: 'a', content: '' }], `body/sections/0/content ${CONTENT}`],
    ['a long content', [{ name: 'a', content: 'x'.repeat(100_001) }], `body/sections/0/content ${CONTENT}`],
    ['an unknown field', [{ ...about('a'), position: 0 }], 'body/sections/0/position is not allowed'],
    ['text that cannot be stored', [{ name: 'a\0', content: 'x' }], /^body\/sections\/0\/name must not contain/],
  ])('PUT with %s', async (_case, sections, message) => {
    const expected: unknown = typeof message === 'string' ? message : expect.stringMatching(message);
    expect(outcome(await agent.put(sections))).toEqual(invalid(expected as string));
    await expectUnchanged();
  });

  it('PUT with an unknown field beside the list', async () => {
    const { key, path } = agent;
    const answer = await service.http('PUT', path, { key, body: { sections: [], agentId: agent.agentId } });
    expect(outcome(answer)).toEqual(invalid('body/agentId is not allowed'));
    await expectUnchanged();
  });

  it.each([
    ['no name', { content: 'x' }, 'body/name is required'],
    ['an empty name', { name: '', content: 'x' }, `body/name ${NAME}`],
    ['a long name', { name: LONG_NAME, content: 'x' }, `body/name ${NAME}`],
    ['no content', { name: 'a' }, 'body/content is required'],
    ['an empty content', { name: 'a', content: '' }, `body/content ${CONTENT}`],
    ['null', { name: null, content: 'x' }, `body/name ${NAME}`],
    ['an unknown field', { ...about('a'), id: 'x' }, 'body/id is not allowed'],
  ])('POST with %s', async (_case, body, message) => {
    expect(outcome(await agent.post(body))).toEqual(invalid(message));
    await expectUnchanged();
  });

  it.each([
    ['no field', {}, 'body must have name, content or both'],
    ['an unknown field alone', { position: 1 }, 'body/position is not allowed'],
    ['an unknown field beside another', { name: 'a', position: 1 }, 'body/position is not allowed'],
    ['an empty name', { name: '' }, `body/name ${NAME}`],
    ['a long name', { name: LONG_NAME }, `body/name ${NAME}`],
    ['an empty content', { content: '' }, `body/content ${CONTENT}`],
    ['null', { content: null }, `body/content ${CONTENT}`],
    ['no object', [], 'body must be an object'],
  ])('PATCH with %s', async (_case, body, message) => {
    expect(outcome(await agent.patch(tone.id, body))).toEqual(invalid(message));
    await expectUnchanged();
  });

  it('ids that are not UUIDs', async () => {
    expect(outcome(await agent.patch('1', { name: 'a' }))).toEqual(invalid('params/sectionId must be a UUID'));
    expect(outcome(await agent.delete('1'))).toEqual(invalid('params/sectionId must be a UUID'));
    const { status, body } = await service.http('GET', '/v1/agents/1/sections', { key: agent.key });
    expect([status, body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
  });
});

describe('limits', () => {
  it('are counted in code points: the longest name and content of characters outside the basic plane are accepted', async () => {
    const longest = { name: '😀'.repeat(200), content: '😀'.repeat(100_000) };
    expect((await agent.put([longest])).body.sections).toMatchObject([longest]);
    expect((await agent.patch((await agent.list())[0]?.id ?? '', { name: '😀'.repeat(201) })).status).toBe(400);
  });

  it('apply to every section of a PUT, also to one that was stored with a longer text', async () => {
    const content = 'x'.repeat(100_001);
    await service.database.query('update sections set content = $2 where id = $1', [tone.id, content]);
    const answer = await agent.put<ErrorBody>([{ name: 'tone', content }]);
    expect([answer.status, answer.body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
    expect((await agent.list())[0]?.content).toBe(content);
  });

  it('allow 100 sections of 100,000 characters in one PUT', async () => {
    const sections = Array.from({ length: 100 }, (_, n) => ({
      name: `section ${n}`,
      content: `${n}:`.padEnd(100_000, 'x'),
    }));
    const written = await agent.put(sections);
    expect(written.status).toBe(200);
    expect((await agent.list()).map(({ name, content }) => ({ name, content }))).toEqual(sections);
  });

  it('cause 413 for a body of more than 10 MiB, and nothing changes', async () => {
    const { key, path } = agent;
    const body = JSON.stringify({ sections: [about('new')] }).padEnd(10 * 1024 * 1024 + 1, ' ');
    const answer = await service.http('PUT', path, { key, body });
    expect(outcome(answer)).toEqual([
      413,
      { statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE', error: 'payload_too_large', message: MESSAGE },
    ]);
    await expectUnchanged();
  });
});

describe('an agent that does not exist', () => {
  it('causes agent_not_found on every route', async () => {
    const { key } = agent;
    await service.http('DELETE', `/v1/agents/${agent.agentId}`, { key });
    for (const answer of await requests(agent, tone.id)) expect(outcome(answer)).toEqual(AGENT_NOT_FOUND);
  });

  it('is indistinguishable from an agent of another organization, which does not change', async () => {
    const stranger = await Sections.start(service);
    const foreign = await requests(agent, tone.id, stranger.organization);
    for (const answer of foreign) expect(outcome(answer)).toEqual(AGENT_NOT_FOUND);
    const { body } = await service.http('GET', `/v1/agents/${newId()}/sections`, { key: stranger.key });
    expect(foreign.map((answer) => answer.body)).toEqual(foreign.map(() => body));
    await expectUnchanged();
  });

  it('is indistinguishable from an agent of a type without sections', async () => {
    const classic = await Sections.start(service);
    await classic.setType('classic');
    for (const answer of await requests(classic, newId())) expect(outcome(answer)).toEqual(AGENT_NOT_FOUND);
  });

  it('is indistinguishable from a claude-agent-sdk agent, unless the organization has that runtime', async () => {
    const without = await Sections.start(service, {}, '--features', '-claude_agent_sdk');
    await without.setType('claude-agent-sdk');
    for (const answer of await requests(without, newId())) expect(outcome(answer)).toEqual(AGENT_NOT_FOUND);
    const permitted = await Sections.start(service, {}, '--features', 'claude_agent_sdk');
    await permitted.setType('claude-agent-sdk');
    expect((await permitted.put([about('tone')])).status).toBe(200);
    expect(await permitted.list()).toHaveLength(1);
  });
});

describe('a section that does not exist', () => {
  it('causes section_not_found, also when another agent of any organization has it', async () => {
    const key = agent.key;
    const sibling = await service.agent(key);
    const stranger = await Sections.start(service);
    const [theirs] = await stranger.filled('theirs');
    const { body } = await service.http<SectionBody>('POST', `/v1/agents/${sibling}/sections`, {
      key,
      body: about('sibling'),
    });
    for (const id of [newId(), body.id, theirs?.id ?? '']) {
      expect(outcome(await agent.patch(id, { name: 'mine' }))).toEqual(SECTION_NOT_FOUND);
      expect(outcome(await agent.delete(id))).toEqual(SECTION_NOT_FOUND);
    }
    await expectUnchanged();
    expect(await stranger.list()).toEqual([theirs]);
  });
});

describe('access', () => {
  it('needs manageAgents for every write, which is checked before any lookup', async () => {
    const reader = await agent.organization.keyWith(['chat', 'manageApiKeys']);
    for (const answer of await writes(agent, newId(), reader)) {
      expect(outcome(answer)).toEqual(forbidden('forbidden_by_key_role'));
    }
    await expectUnchanged();
  });

  it('needs the agent in an allowlist, for reads too', async () => {
    const other = await service.agent(agent.key);
    const scoped = await agent.organization.keyWith(['manageAgents'], [other]);
    for (const answer of await requests(agent, tone.id, scoped)) {
      expect(outcome(answer)).toEqual(forbidden('forbidden_by_agent_allowlist'));
    }
    await expectUnchanged();
    const holder = await agent.organization.keyWith(['manageAgents'], [agent.agentId]);
    expect((await agent.put([about('tone')], holder)).status).toBe(200);
  });

  it('needs a credential', async () => {
    const answer = await service.http('GET', agent.path);
    expect([answer.status, answer.body['code']]).toEqual([401, 'api_key_missing']);
  });
});

describe('If-Match', () => {
  const STALE = [409, { statusCode: 409, code: 'version_conflict', error: 'conflict', message: MESSAGE }];

  it('with a stale version is refused by every write, also by one without effect', async () => {
    const headers = { 'if-match': '"1"' };
    for (const answer of await writes(agent, tone.id, { headers })) expect(outcome(answer)).toEqual(STALE);
    expect(outcome(await agent.put(['tone', 'limits'].map(about), { headers }))).toEqual(STALE);
    await expectUnchanged();
  });

  it("with the agent's version is accepted, and the response has the next one", async () => {
    const put = await agent.put([about('tone')], { headers: { 'if-match': '"2"' } });
    expect([put.status, put.headers.get('etag')]).toEqual([200, '"3"']);
    const post = await agent.post(about('new'), { headers: { 'if-match': 'W/"3"' } });
    expect([post.status, post.headers.get('etag')]).toEqual([201, '"4"']);
    const patch = await agent.patch(tone.id, { name: 'voice' }, { headers: { 'if-match': '"1", "4"' } });
    expect([patch.status, patch.headers.get('etag')]).toEqual([200, '"5"']);
    expect((await agent.delete(tone.id, { headers: { 'if-match': '*' } })).status).toBe(204);
  });

  it('is stale after a change of the agent itself', async () => {
    const { key } = agent;
    await service.http('PATCH', `/v1/agents/${agent.agentId}`, { key, body: { name: 'Grace' } });
    expect(outcome(await agent.put([], { headers: { 'if-match': '"2"' } }))).toEqual(STALE);
  });

  it('accepts one of 10 concurrent writes', async () => {
    const headers = { 'if-match': '"2"' };
    const lists = Array.from({ length: 10 }, (_, n) => [about(`list ${n}`)]);
    const answers = await Promise.all(lists.map((list) => agent.put(list, { headers })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(await agent.version()).toBe(3);
  });
});
