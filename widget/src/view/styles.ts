/**
 * Custom properties that a page may set: `--agent-chat-accent`, `-accent-text`, `-background`, `-text`, `-muted`, `-bubble`, `-border`,
 * `-problem`, `-radius`, `-font`, `-font-size`, `-width`, `-height`, `-z-index`.
 */
const LIGHT =
  '--bg:#fff;--fg:#1b1f27;--mut:#5a6372;--bub:#f1f3f7;--bor:#d9dee7;--acc:#2f52d9;--act:#fff;--bad:#b3261e;color-scheme:light';
const DARK =
  '--bg:#171a21;--fg:#eceff4;--mut:#a6afbd;--bub:#252a34;--bor:#3a4150;--acc:#9db4ff;--act:#10142a;--bad:#ffb4ab;color-scheme:dark';

export const STYLES = `
:host{${LIGHT};display:block;position:relative;font:var(--agent-chat-font-size,15px)/1.5 var(--agent-chat-font,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif);color:var(--agent-chat-text,var(--fg))}
@media (prefers-color-scheme:dark){:host(:not([theme=light])){${DARK}}}
:host([theme=dark]){${DARK}}
:host{--a:var(--agent-chat-accent,var(--acc));--at:var(--agent-chat-accent-text,var(--act));--b:var(--agent-chat-background,var(--bg));--t:var(--agent-chat-text,var(--fg));--m:var(--agent-chat-muted,var(--mut));--u:var(--agent-chat-bubble,var(--bub));--o:var(--agent-chat-border,var(--bor));--p:var(--agent-chat-problem,var(--bad));--r:var(--agent-chat-radius,16px)}
:host([layout=inline]){block-size:var(--agent-chat-height,100%);min-block-size:20rem}
:host(:not([layout=inline])){position:fixed;inset-block-end:20px;inset-inline-end:20px;z-index:var(--agent-chat-z-index,2147483000)}
*,::before,::after{box-sizing:border-box}
[hidden]{display:none!important}
.hidden{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
button{font:inherit;color:inherit;cursor:pointer;border:0;background:none;margin:0;padding:0}
button[aria-disabled=true]{cursor:default}
:focus-visible{outline:2px solid var(--a);outline-offset:2px}
p{margin:0}
svg{inline-size:20px;block-size:20px;fill:currentColor;display:block}
.launcher{inline-size:60px;block-size:60px;border-radius:50%;background:var(--a);color:var(--at);display:grid;place-items:center;box-shadow:0 6px 24px #0004;transition:transform .15s}
.launcher:hover{transform:scale(1.05)}
.launcher svg{inline-size:28px;block-size:28px}
.panel{display:flex;flex-direction:column;inline-size:100%;block-size:100%;background:var(--b);color:var(--t);border:1px solid var(--o);border-radius:var(--r);overflow:hidden}
:host(:not([layout=inline])) .panel{position:absolute;inset-block-end:76px;inset-inline-end:0;inline-size:var(--agent-chat-width,400px);block-size:var(--agent-chat-height,min(660px,calc(100dvh - 120px)));box-shadow:0 12px 48px #0004;animation:rise .18s ease-out}
@keyframes rise{from{opacity:0;transform:translateY(12px)}}
@media (max-width:480px){:host(:not([layout=inline])) .panel{position:fixed;inset:0;inline-size:100%;block-size:100dvh;border:0;border-radius:0}:host([open]:not([layout=inline])) .launcher{display:none}}
.header{display:flex;align-items:center;gap:4px;padding:10px 10px 10px 18px;padding-inline:18px 10px;border-block-end:1px solid var(--o)}
.heading{flex:1;margin:0;font-size:1.05em;font-weight:650;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.icon-button,.thumb{inline-size:40px;block-size:40px;border-radius:10px;display:grid;place-items:center;color:var(--m);flex:none}
.icon-button:hover,.thumb:hover{background:var(--u);color:var(--t)}
.conversation{position:relative;flex:1;min-block-size:0}
.log{block-size:100%;overflow-y:auto;overscroll-behavior:contain;padding:18px;display:flex;flex-direction:column;gap:14px;outline-offset:-3px}
.older{text-align:center;color:var(--m);font-size:.87em}
.message{display:flex;flex-direction:column;gap:8px;max-inline-size:100%;align-items:flex-start}
.message.user{align-items:flex-end}
.bubble{max-inline-size:88%;padding:10px 14px;border-radius:var(--r);background:var(--u);overflow-wrap:anywhere;min-inline-size:0}
.assistant .bubble{border-end-start-radius:4px}
.user .bubble{background:var(--a);color:var(--at);border-end-end-radius:4px}
.plain{white-space:pre-wrap}
.files{margin:6px 0 0;padding-inline-start:18px}
.bubble.typing{display:flex;gap:5px;padding:16px;min-block-size:41px}
.bubble.typing:empty::before,.bubble.typing>.markdown:empty::before{content:"•••";letter-spacing:2px;color:var(--m)}
.typing i{inline-size:7px;block-size:7px;border-radius:50%;background:var(--m);animation:blink 1.2s infinite}
.typing i:nth-child(2){animation-delay:.2s}.typing i:nth-child(3){animation-delay:.4s}
@keyframes blink{0%,60%,100%{opacity:.3}30%{opacity:1}}
.markdown>*{margin:0 0 .65em}.markdown>:last-child{margin-block-end:0}
.markdown h3,.markdown h4,.markdown h5,.markdown h6{font-size:1.06em;line-height:1.35;margin-block-start:.9em}
.markdown>:first-child{margin-block-start:0}
.markdown ul,.markdown ol{padding-inline-start:1.4em}
.markdown li{margin-block:.2em}
.markdown blockquote{border-inline-start:3px solid var(--o);padding-inline-start:12px;color:var(--m)}
.markdown hr{border:0;border-block-start:1px solid var(--o)}
a{color:inherit;text-underline-offset:2px}
.assistant a,.component a{color:var(--a)}
code,pre{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
:not(pre)>code{background:color-mix(in srgb,var(--t) 9%,transparent);padding:.1em .35em;border-radius:5px}
pre{margin:0;padding:10px 12px;overflow-x:auto;white-space:pre;max-block-size:22rem}
.code{border:1px solid var(--o);border-radius:10px;overflow:hidden;background:var(--b)}
.code-head{display:flex;justify-content:space-between;align-items:center;padding-inline:12px 6px;min-block-size:32px;color:var(--m);font-size:.83em;border-block-end:1px solid var(--o)}
.code-head .button{padding:4px 8px;border:0}
.table{overflow-x:auto}
table{border-collapse:collapse;font-size:.94em}
th,td{border:1px solid var(--o);padding:6px 10px;text-align:start;vertical-align:top}
th{font-weight:650}
.button,.choice,.suggestion{min-block-size:40px;padding:8px 14px;border:1px solid var(--o);border-radius:10px;background:var(--b);color:var(--t);text-align:start}
.button:hover,.choice:hover:not([aria-disabled=true]),.suggestion:hover{border-color:var(--a)}
.primary{background:var(--a);border-color:var(--a);color:var(--at)}
.tools,.components{display:flex;flex-direction:column;gap:8px;inline-size:100%}
.tools:empty,.components:empty,.suggestions:empty,.tray:empty,.approvals:empty{display:none}
.tool{font-size:.88em;color:var(--m);border:1px solid var(--o);border-radius:10px;max-inline-size:88%}
.tool summary{padding:7px 12px;cursor:pointer;border-radius:10px}
.tool[data-status=running] summary::after{content:" …"}
.tool-body{padding:0 12px 10px;display:grid;gap:6px}
.tool pre{max-block-size:12rem;border:1px solid var(--o);border-radius:8px;color:var(--t)}
.component{border:1px solid var(--o);border-radius:14px;padding:14px;display:grid;gap:10px;max-inline-size:88%;overflow-wrap:anywhere;min-inline-size:0}
.question,.card-title{font-weight:600}
.choices{display:flex;flex-wrap:wrap;gap:8px}
.choice{display:grid;border-color:var(--a);color:var(--a);font-weight:550}
.choice small{color:var(--m);font-weight:400}
.choice[aria-disabled=true]{border-color:var(--o);color:var(--m)}
.choice.chosen,.button.chosen{background:var(--a);border-color:var(--a);color:var(--at)}
.choice.chosen small{color:inherit}
.card{gap:6px}
.card-subtitle{color:var(--m);font-size:.93em}
.card-text{white-space:pre-wrap}
dl{display:grid;grid-template-columns:auto 1fr;gap:4px 14px;margin:4px 0}
dt{color:var(--m)}dd{margin:0}
.links{display:flex;flex-wrap:wrap;gap:6px 16px}
.links>*{padding-block:4px}
.list ul{list-style:none;margin:0;padding:0;display:grid;gap:12px}
.list li{display:grid;gap:4px;padding-block-start:12px;border-block-start:1px solid var(--o)}
.list li:first-child{border:0;padding:0}
.image{display:inline-grid;gap:8px;padding:12px;border:1px dashed var(--o);border-radius:10px;justify-items:start;max-inline-size:100%}
.image-alt{color:var(--m)}
.picture{max-inline-size:100%;max-block-size:20rem;border-radius:10px;display:block}
.approval pre{border:1px solid var(--o);border-radius:8px;max-block-size:12rem}
.approvals{display:grid;gap:10px}
.note{font-size:.87em;color:var(--p)}
.link{text-decoration:underline;padding:4px;color:var(--t)}
.reactions{display:flex;margin-block-start:-4px}
.thumb{inline-size:34px;block-size:34px}
.thumb svg{inline-size:16px;block-size:16px}
.thumb[aria-pressed=true]{color:var(--a);background:var(--u)}
.latest{position:absolute;inset-block-end:10px;inset-inline-start:calc(50% - 20px);inline-size:40px;block-size:40px;border-radius:50%;background:var(--b);border:1px solid var(--o);display:grid;place-items:center;box-shadow:0 2px 10px #0003}
.status{display:flex;flex-wrap:wrap;align-items:center;gap:8px;padding:10px 18px;font-size:.92em;color:var(--m);border-block-start:1px solid var(--o)}
.status.problem{color:var(--p)}
.status span{flex:1 1 12rem}
.suggestions{display:flex;flex-wrap:wrap;gap:8px;padding:0 18px 12px}
.suggestion{border-radius:20px;font-size:.93em}
.composer{border-block-start:1px solid var(--o);padding:10px}
.row{display:flex;align-items:flex-end;gap:6px;border:1px solid var(--o);border-radius:14px;padding:4px}
.row:focus-within{border-color:var(--a);box-shadow:0 0 0 1px var(--a)}
.input{flex:1;min-inline-size:0;border:0;outline:0;resize:none;background:none;color:inherit;font:inherit;font-size:max(1em,16px);padding:8px 10px;max-block-size:9.5rem;overflow-y:auto}
.input::placeholder{color:var(--m);opacity:1}
.send{inline-size:40px;block-size:40px;border-radius:10px;background:var(--a);color:var(--at);display:grid;place-items:center;flex:none}
.send[aria-disabled=true]{background:var(--u);color:var(--m)}
:host(:dir(rtl)) .send svg{transform:scaleX(-1)}
.tray{list-style:none;display:flex;flex-wrap:wrap;gap:6px;margin:0 0 8px;padding:0}
.file{display:flex;align-items:center;border:1px solid var(--o);border-radius:10px;padding-inline-start:10px;font-size:.9em;max-inline-size:100%;overflow-wrap:anywhere}
.file.problem{color:var(--p)}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}
@media (forced-colors:active){.bubble,.launcher,.send,.thumb[aria-pressed=true],.choice.chosen{border:1px solid}.chosen{outline:2px solid}}
`;
