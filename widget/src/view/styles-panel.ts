import { COMPONENT_STYLES } from './styles-components.js';
import { COMPOSER_STYLES } from './styles-composer.js';
import { CONVERSATION_STYLES } from './styles-conversation.js';
import { MARKDOWN_STYLES } from './styles-markdown.js';
import { FULL_SCREEN } from './viewport.js';

/** What the panel needs beside the styles of the element, which are loaded before it. */
export const PANEL_STYLES = `
.panel[data-drop]::after{content:attr(data-drop);position:absolute;inset:8px;display:grid;place-items:center;border:2px dashed var(--ring);border-radius:calc(var(--r) - 6px);background:color-mix(in srgb,var(--b) 92%,transparent);font-weight:600;z-index:4;pointer-events:none}
.header{display:flex;align-items:center;gap:4px;min-block-size:64px;padding:10px 8px;padding-inline:16px 8px;border-block-end:1px solid var(--o);flex:none}
.header-avatar{inline-size:38px;block-size:38px;border-radius:50%;background:var(--a);color:var(--at);display:grid;place-items:center;font-weight:650;flex:none;margin-inline-end:8px;overflow:hidden}
.header-avatar img{inline-size:100%;block-size:100%;object-fit:cover}
.who{flex:1;min-inline-size:0}
.heading,.subtitle{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.heading{font-size:1.07em;font-weight:650;line-height:1.3}
.subtitle{color:var(--m);font-size:.87em;line-height:1.35}
.icon-button,.thumb{inline-size:44px;block-size:44px;border-radius:12px;display:grid;place-items:center;color:var(--m);flex:none}
.icon-button:hover,.thumb:hover,.menu-item:hover,.history-item:hover{background:var(--u);color:var(--t)}
.back svg:dir(rtl){transform:scaleX(-1)}
.menu{position:relative}
.menu-list{position:absolute;z-index:3;inset-block-start:calc(100% + 4px);inset-inline-end:0;inline-size:max-content;max-inline-size:min(320px,75vw);padding:6px;background:var(--b);border:1px solid var(--o);border-radius:min(var(--r),14px);box-shadow:0 10px 36px #0000003d;animation:rise .12s ease-out}
.menu-item{display:flex;align-items:center;gap:12px;inline-size:100%;min-block-size:44px;padding:8px 12px;border-radius:min(var(--r),9px);text-align:start}
.menu-item svg{color:var(--m);flex:none}
.menu-item:focus-visible{outline-offset:-2px}
.cover{position:absolute;inset:0;z-index:3;display:grid;place-items:center;padding:20px;background:#0006;animation:appear .15s}
.dialog{inline-size:100%;max-inline-size:340px;padding:22px;background:var(--b);border:1px solid var(--o);border-radius:var(--r);box-shadow:0 16px 48px #0005;overflow-wrap:anywhere}
.dialog-title{font-size:1.1em;font-weight:650;line-height:1.35}
.dialog-text{margin-block:6px 20px;color:var(--m)}
.dialog-buttons{display:flex;flex-wrap:wrap;justify-content:flex-end;gap:8px}
.history{position:absolute;inset:0;z-index:3;display:flex;flex-direction:column;background:var(--b);animation:appear .15s}
.history .header{padding-inline:8px}
.history-body{flex:1;overflow-y:auto;overscroll-behavior:contain;padding:8px}
.history-note{padding:20px 12px;color:var(--m);text-align:center}
.history-note+.button{display:block;margin:0 auto}
.history-list{list-style:none;margin:0;padding:0}
.history-item{display:block;inline-size:100%;padding:12px;border-radius:min(var(--r),12px);text-align:start}
.history-item[aria-current]{background:var(--u)}
.history-title{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-weight:550}
.history-detail{color:var(--m);font-size:.87em}
.history-detail:empty{display:none}
.history-item:focus-visible{outline-offset:-2px}
.greeting .plain{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:12;overflow:hidden}
${CONVERSATION_STYLES}${MARKDOWN_STYLES}${COMPONENT_STYLES}${COMPOSER_STYLES}
@media ${FULL_SCREEN}{.composer button{min-inline-size:44px;min-block-size:44px}}
@media (max-height:480px){.header{min-block-size:52px;padding-block:4px}}
@media (max-height:320px){.header{min-block-size:44px;padding-block:0}.header-avatar{inline-size:28px;block-size:28px}.subtitle{display:none}}
@media (forced-colors:active){.bubble,.send,.thumb[aria-pressed=true],.choice.chosen,.header-avatar{border:1px solid}.chosen{outline:2px solid}.history-item[aria-current]{border:1px solid}}
`;
