// The program of the fake package: requests a model call, lets sdk.mjs make the tool calls of the response, and repeats this until the
// response ends the turn. The argument names its fault. It exchanges lines of JSON with sdk.mjs.
import { createInterface } from 'node:readline';
import { setInterval } from 'node:timers';

/** The limit of the real package. */
const CALLS_AT_A_TIME = 10;
const [fault] = process.argv.slice(2);
const { ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY } = process.env;
const messages = [];
/** By the id of a call: resolves when the call has been made. */
const calls = new Map();

function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** @returns the ids of the calls in the response; none if it ends the turn */
async function ask() {
  const response = await fetch(`${ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': ANTHROPIC_API_KEY },
    body: JSON.stringify({ model: 'any', max_tokens: 1, stream: true, messages }),
  });
  const events = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  const blocks = events.map((line) => JSON.parse(line.slice('data: '.length)).content_block);
  return blocks.filter((block) => block?.type === 'tool_use').map(({ id }) => id);
}

function make(id) {
  send({ call: id });
  return new Promise((resolve) => calls.set(id, resolve));
}

function eat() {
  const eaten = [];
  setInterval(() => eaten.length < 64 && eaten.push(Buffer.alloc(16 * 1024 * 1024, 1)), 10);
}

/** Faults after the prompt. @returns whether the turn continues */
async function begin() {
  if (fault === 'silent') send({ note: 'hangs' });
  if (fault === 'garbage') process.stdout.write('<html>\n');
  if (fault === 'memory') eat();
  if (fault === 'ends_unasked') send({ type: 'result' });
  if (fault === 'asks_twice') await Promise.race([ask(), ask()]);
  return !['silent', 'garbage', 'memory', 'ends_unasked', 'asks_twice'].includes(fault);
}

/** Faults after a response. @returns whether the turn continues */
async function answered(ids) {
  if (fault === 'deaf') send({ note: 'hangs' });
  if (fault === 'ends_early') send({ type: 'result' });
  if (fault === 'unknown_calls') await Promise.all([make('toolu_unknown'), make(`${ids[0]}0`)]);
  if (fault === 'dies_in_call') {
    void make(ids[0]);
    setTimeout(() => process.exit(1), 20);
  }
  return !['deaf', 'ends_early', 'dies_in_call'].includes(fault);
}

async function turn(prompt) {
  messages.push({ role: 'user', content: prompt });
  if (!(await begin())) return;
  for (;;) {
    const ids = await ask();
    if (ids.length === 0) return send(fault === 'never_ends' ? { note: 'hangs' } : { type: 'result' });
    if (!(await answered(ids))) return;
    if (fault === 'unknown_calls') continue;
    while (ids.length > 0) await Promise.all(ids.splice(0, CALLS_AT_A_TIME).map(make));
  }
}

if (fault === 'exits') process.exit(1);
if (fault === 'never_starts') {
  send({ note: 'hangs' });
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}
for await (const line of createInterface({ input: process.stdin })) {
  const { prompt, made } = JSON.parse(line);
  if (prompt !== undefined) void turn(prompt);
  else calls.get(made)?.();
}
