import { PROVIDERS } from '../../models/index.js';

export const CHAT_STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 44rem; padding: 1rem; display: grid; gap: 1rem; }
h1 { font-size: 1.2rem; margin: 0; }
.note { font-size: .9rem; opacity: .75; margin: 0; }
form { display: flex; gap: .5rem; }
input { flex: 1; padding: .6rem .8rem; font: inherit; border: 1px solid #8886; border-radius: .6rem; }
button { padding: .6rem 1rem; font: inherit; border: 0; border-radius: .6rem; background: #2456d6; color: #fff; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
#log { display: grid; gap: .6rem; }
.bubble { padding: .6rem .9rem; border-radius: .9rem; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 85%; }
.user { background: #2456d6; color: #fff; justify-self: end; }
.assistant { background: #8882; }
.tool, .error { font-size: .9rem; padding: .2rem .9rem; opacity: .8; }
.error { color: #c22; }
`;

export const CHAT_SCRIPT = `
const $ = (id) => document.getElementById(id);
const state = { key: new URLSearchParams(location.hash.slice(1)).get('key') ?? '', thread: null };
history.replaceState(null, '', location.pathname);
$('key').value = state.key;

const add = (kind, text) => {
  const bubble = document.createElement('div');
  bubble.className = kind === 'user' || kind === 'assistant' ? 'bubble ' + kind : kind;
  bubble.textContent = text;
  $('log').append(bubble);
  bubble.scrollIntoView({ block: 'end' });
  return bubble;
};

const call = async (method, path, body) => {
  const response = await fetch(path, {
    method,
    headers: { authorization: 'Bearer ' + state.key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ message: response.statusText }));
  throw new Error(problem.message);
};

const newThread = async () => {
  const { assistants } = await (await call('GET', '/v1/assistants')).json();
  const agent = assistants[0] ?? (await (await call('POST', '/v1/agents', {
    name: 'Demo agent',
    systemPrompt: 'You are a friendly guide to this service.',
    provider: { type: '${PROVIDERS[0].type}' },
  })).json());
  const thread = await (await call('POST', '/v1/threads', { assistant_id: agent.id })).json();
  $('agent').textContent = 'Talking to "' + agent.name + '"';
  return thread.id;
};

const handlers = {
  TEXT_MESSAGE_CONTENT: (event, run) => {
    run.bubble ??= add('assistant', '');
    run.bubble.textContent += event.delta;
  },
  TOOL_CALL_START: (event) => add('tool', 'calls ' + event.toolCallName),
  RUN_ERROR: (event) => add('error', event.message),
};

const send = async (text) => {
  state.thread ??= await newThread();
  add('user', text);
  const response = await call('POST', '/v1/threads/' + state.thread + '/runs/stream', { message: { role: 'user', content: text } });
  const run = {};
  let pending = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += value;
    const blocks = pending.split('\\n\\n');
    pending = blocks.pop();
    for (const block of blocks) {
      const data = block.split('\\n').find((line) => line.startsWith('data: '));
      if (!data) continue;
      const event = JSON.parse(data.slice(6));
      handlers[event.type]?.(event, run);
    }
  }
};

$('chat').addEventListener('submit', async (submitted) => {
  submitted.preventDefault();
  const text = $('text').value;
  if (!text) return;
  state.key = $('key').value.trim();
  $('text').value = '';
  $('send').disabled = true;
  try {
    await send(text);
  } catch (problem) {
    add('error', problem.message);
  } finally {
    $('send').disabled = false;
    $('text').focus();
  }
});
`;

export const CHAT_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Chat demo</title>
<style>${CHAT_STYLE}</style>
</head>
<body>
<h1>Chat demo</h1>
<p class="note">Every reply comes from the sandbox model: no provider is asked. Try "hello", or any question.</p>
<form><input id="key" type="password" placeholder="API key (ak_...)" aria-label="API key" autocomplete="off"></form>
<p class="note" id="agent"></p>
<div id="log" aria-live="polite"></div>
<form id="chat">
<input id="text" placeholder="Say something" aria-label="Message" autocomplete="off" autofocus>
<button id="send">Send</button>
</form>
<script>${CHAT_SCRIPT}</script>
</body>
</html>
`;
