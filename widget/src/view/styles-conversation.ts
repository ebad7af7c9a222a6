export const CONVERSATION_STYLES = `
.conversation{position:relative;flex:1;min-block-size:0}
.log{block-size:100%;overflow-y:auto;overscroll-behavior:contain;padding:20px 18px 14px;outline-offset:-3px;scrollbar-width:thin;scrollbar-color:var(--o) transparent}
.thread{max-inline-size:46rem;margin-inline:auto}
.older,.day{color:var(--m);font-size:.8em;text-align:center}
.older{margin-block-end:16px}
.day{display:flex;align-items:center;gap:12px;margin-block-start:18px}
.day::before,.day::after{content:"";flex:1;border-block-start:1px solid var(--o)}
.older+.day{margin-block-start:0}
.message{display:grid;grid-template-columns:minmax(0,1fr);margin-block-start:6px}
.message.starts{margin-block-start:20px}
.message.greeting{margin-block-start:0}
.message.assistant{grid-template-columns:28px minmax(0,1fr);column-gap:10px}
.avatar{inline-size:28px;block-size:28px;border-radius:50%;overflow:hidden;display:grid;place-items:center;background:var(--a);color:var(--at);font-size:13px;font-weight:650;line-height:1;user-select:none}
.avatar img{inline-size:100%;block-size:100%;object-fit:cover;display:block}
.body{grid-column:-2/-1;display:flex;flex-direction:column;align-items:flex-start;min-inline-size:0;gap:6px}
.user .body{align-items:flex-end}
.parts{display:flex;flex-direction:column;align-items:flex-start;gap:10px;inline-size:100%}
.bubble{max-inline-size:100%;min-inline-size:0;overflow-wrap:anywhere}
.assistant .bubble{padding-block:3px;inline-size:100%}
.user .bubble{max-inline-size:85%;padding:9px 14px;border-radius:var(--r);border-end-end-radius:5px;background:var(--a);color:var(--at)}
.plain{white-space:pre-wrap}
.writing .markdown-body>:is(p,h3,h4,h5,h6):last-child::after,.writing .markdown-body>:is(ul,ol):last-child>li:last-child:not(:has(*>*,ul,ol,pre))::after{content:"";display:inline-block;block-size:1.05em;margin-inline:3px -5px;border-inline-start:2px solid var(--a);vertical-align:text-bottom;animation:caret 1s steps(2,jump-none) infinite}
@keyframes caret{0%{opacity:1}to{opacity:0}}
.typing{display:flex;align-items:center;gap:5px;block-size:28px}
.typing i{inline-size:7px;block-size:7px;border-radius:50%;background:var(--m);animation:blink 1.2s infinite}
.typing i:nth-child(2){animation-delay:.2s}.typing i:nth-child(3){animation-delay:.4s}
@keyframes blink{0%,60%,100%{opacity:.3}30%{opacity:1}}
.attachments{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;justify-content:flex-end;gap:6px;max-inline-size:100%}
.attachments li{min-inline-size:0;max-inline-size:100%}
.attachments li>*{display:flex;align-items:center;gap:8px;padding-block:8px;padding-inline:10px 12px;border:1px solid var(--o);border-radius:12px;background:var(--b);color:var(--t);font-size:.9em;text-decoration:none}
.attachments a:hover{border-color:var(--a)}
.attachments svg{color:var(--m);inline-size:18px;block-size:18px;flex:none}
.attachments span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.note{font-size:.87em;color:var(--p)}
.note.calm,.thanks{font-size:.87em;color:var(--m)}
.link{text-decoration:underline;text-underline-offset:2px;padding:4px;color:var(--link,var(--a));font-size:inherit}
.note .link{color:var(--t);font-weight:550}
.meta{display:flex;align-items:center;gap:6px;min-block-size:20px;font-size:.8em;color:var(--m)}
.assistant .meta{min-block-size:30px;margin-block-start:-2px}
.parts:empty{display:none}
.parts:empty+.note{padding-block-start:3px}
.time{font-variant-numeric:tabular-nums}
.actions{display:flex}
.action{inline-size:30px;block-size:30px;border-radius:8px;display:grid;place-items:center;flex:none;color:var(--m)}
.action:hover{background:var(--u);color:var(--t)}
.action svg{inline-size:16px;block-size:16px}
.thumb[aria-pressed=true]{color:var(--link,var(--a));background:var(--u)}
.message:not(.latest-reply) .actions,.time.quiet{opacity:0;transition:opacity .12s}
.message:is(:hover,:focus-within) :is(.actions,.time.quiet){opacity:1}
@media (hover:none){.message:not(.latest-reply) .actions{opacity:1}}
@media (pointer:coarse){.action{inline-size:38px;block-size:38px}}
.rating{inline-size:100%}
.rating:empty{display:none}
.feedback{display:grid;gap:8px;padding:12px 14px;border:1px solid var(--o);border-radius:14px;max-inline-size:26rem}
.feedback-title{font-weight:600;font-size:.93em}
.feedback-input{font:inherit;font-size:max(1em,16px);color:inherit;background:var(--b);border:1px solid var(--o);border-radius:10px;padding:8px 10px;resize:vertical;min-block-size:4rem;inline-size:100%}
.feedback-input::placeholder{color:var(--m);opacity:1}
.feedback-input:focus-visible{outline-offset:0;border-color:var(--a)}
.feedback-buttons{display:flex;gap:8px}
.starters{display:flex;flex-direction:column;align-items:flex-start;gap:8px;padding-block-start:14px;padding-inline-start:38px}
.starter{min-block-size:40px;padding:8px 15px;border:1px solid var(--o);border-radius:20px;background:var(--b);color:var(--link,var(--a));text-align:start;font-size:.95em;overflow-wrap:anywhere;transition:background-color .12s}
.starter:hover{background:var(--u);border-color:var(--a)}
.latest{position:absolute;inset-block-end:12px;inset-inline:0;margin-inline:auto;inline-size:max-content;min-inline-size:38px;block-size:38px;padding-inline:9px;border-radius:19px;background:var(--b);color:var(--t);border:1px solid var(--o);display:flex;align-items:center;justify-content:center;gap:6px;box-shadow:0 2px 12px #0003}
.latest:hover{border-color:var(--a)}
.latest svg{inline-size:18px;block-size:18px}
.latest-text:empty{display:none}
.latest.has-new{background:var(--a);color:var(--at);border-color:var(--a);padding-inline:12px 16px;font-size:.9em;font-weight:550}
.status{display:flex;flex-wrap:wrap;align-items:center;gap:8px;padding:10px 18px;font-size:.92em;color:var(--m);border-block-start:1px solid var(--o)}
.status.problem{color:var(--p)}
.status span{flex:1 1 12rem}
@media (prefers-reduced-motion:reduce){.writing .markdown-body>*::after,.writing li::after{display:none!important}}
@media (forced-colors:active){.avatar,.typing i{border:1px solid}.latest.has-new{border-width:2px}}
`;
