export const DEMO_STYLE = `
:root { color-scheme: light dark; --ink: #1b1f27; --soft: #5a6372; --paper: #f6f7fb; --line: #dfe3ec; --accent: #2f52d9; font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceff4; --soft: #a6afbd; --paper: #0f1218; --line: #2b3140; --accent: #9db4ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
main { max-width: 1120px; margin: 0 auto; padding: clamp(20px, 4vw, 56px) clamp(16px, 4vw, 40px); display: grid; gap: clamp(24px, 4vw, 56px); grid-template-columns: minmax(0, 1fr) minmax(0, 430px); align-items: start; }
h1 { font-size: clamp(1.7rem, 3.4vw, 2.5rem); line-height: 1.15; letter-spacing: -.02em; margin: 0 0 16px; }
h2 { font-size: 1rem; margin: 32px 0 10px; }
p { margin: 0 0 12px; color: var(--soft); max-width: 58ch; }
.label { display: inline-block; margin-bottom: 18px; padding: 4px 12px; border: 1px solid var(--line); border-radius: 99px; font-size: .85rem; color: var(--soft); }
.tries { display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 0; list-style: none; }
button { font: inherit; font-size: .95rem; min-height: 42px; padding: 8px 16px; border: 1px solid var(--line); border-radius: 12px; background: transparent; color: inherit; cursor: pointer; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
pre { margin: 0 0 14px; padding: 16px; border: 1px solid var(--line); border-radius: 14px; overflow-x: auto; font: .85rem/1.6 ui-monospace, Menlo, Consolas, monospace; }
agent-chat { height: min(680px, calc(100dvh - 112px)); position: sticky; top: 40px; }
a { color: var(--accent); }
@media (max-width: 860px) { main { grid-template-columns: minmax(0, 1fr); } agent-chat { position: static; height: 620px; } }
`;

export const DEMO_SCRIPT = `
const chat = document.querySelector('agent-chat');
for (const button of document.querySelectorAll('[data-say]')) {
  button.addEventListener('click', () => { chat.chat?.send(button.dataset.say); });
}
document.querySelector('#theme').addEventListener('click', () => {
  const dark = chat.getAttribute('theme') === 'dark';
  chat.setAttribute('theme', dark ? 'light' : 'dark');
});
document.querySelector('#direction').addEventListener('click', () => {
  chat.dir = chat.dir === 'rtl' ? 'ltr' : 'rtl';
});
`;

const TRIES = [
  ['Say hello', 'Hello!'],
  ['A formatted reply', 'Write something formatted'],
  ['Choices', 'Show me choices'],
  ['A yes or no', 'Show me a question'],
  ['A card', 'Show me a card'],
  ['A list', 'Show me a list'],
  ['A tool', 'Please use mcp__everything__get-sum {"a": 2, "b": 40}'],
  ['A tool that asks first', 'Please use mcp__everything__toggle-simulated-logging'],
  ['Remember something', 'Please use memory_save {"text": "I ride in the mountains"}'],
] as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const tries = TRIES.map(
  ([label, say]) => `<li><button type="button" data-say="${escaped(say)}">${escaped(label)}</button></li>`,
).join('\n');

const SNIPPET = escaped(`<script type="module" src="/widget.js"></script>
<agent-chat session-endpoint="/your/session"></agent-chat>`);

export const DEMO_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent chat demo</title>
<style>${DEMO_STYLE}</style>
<script type="module" src="/widget.js"></script>
</head>
<body>
<main>
<div>
<span class="label">Demo: every reply comes from the sandbox model</span>
<h1>Your agent, on your site</h1>
<p>The chat on this page is the widget that this service serves. It talks to the service with a pass of fifteen minutes that this page’s own server has minted for you: no API key is in this page.</p>
<h2>Things to try</h2>
<ul class="tries">
${tries}
</ul>
<h2>How it looks</h2>
<ul class="tries">
<li><button type="button" id="theme">Light or dark</button></li>
<li><button type="button" id="direction">Right to left</button></li>
</ul>
<h2>How it gets there</h2>
<pre tabindex="0" aria-label="The markup of the widget"><code>${SNIPPET}</code></pre>
<p>Everything else is in the <a href="/docs">documentation of the interface</a>.</p>
</div>
<agent-chat layout="inline" session-endpoint="/demo/session" reaction-endpoint="/demo/reaction" heading="Demo guide" greeting="Hello! I am the sandbox model. Ask me anything, or try one of the buttons."></agent-chat>
</main>
<script>${DEMO_SCRIPT}</script>
</body>
</html>
`;
