import { FULL_SCREEN } from './viewport.js';

/**
 * Custom properties that a page may set: `--agent-chat-accent`, `-accent-text`, `-background`, `-text`, `-muted`, `-bubble`, `-border`,
 * `-problem`, `-radius`, `-font`, `-font-size`, `-width`, `-height`, `-offset-block`, `-offset-inline`, `-z-index`.
 */
const LIGHT =
  '--bg:#fff;--fg:#1b1f27;--mut:#5a6372;--bub:#f1f3f7;--bor:#d9dee7;--acc:#2f52d9;--act:#fff;--bad:#b3261e;color-scheme:light';
const DARK =
  '--bg:#171a21;--fg:#eceff4;--mut:#a6afbd;--bub:#252a34;--bor:#3a4150;--acc:#9db4ff;--act:#10142a;--bad:#ffb4ab;color-scheme:dark';

/** The element in the corner of the page. @param more further conditions */
const floating = (more = ''): string => `:host(:not([layout=inline])${more})`;
const FLOATING = floating();

const STYLES = `
:host{${LIGHT};display:block;position:relative;font:var(--agent-chat-font-size,15px)/1.5 var(--agent-chat-font,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif);text-align:start;letter-spacing:normal;word-spacing:normal;text-transform:none;text-indent:0;white-space:normal;-webkit-text-size-adjust:100%}
@media (prefers-color-scheme:dark){:host(:not([theme=light])){${DARK}}}
:host([theme=dark]){${DARK}}
:host{--a:var(--agent-chat-accent,var(--acc));--at:var(--agent-chat-accent-text,var(--act));--b:var(--agent-chat-background,var(--bg));--t:var(--agent-chat-text,var(--fg));--m:var(--agent-chat-muted,var(--mut));--u:var(--agent-chat-bubble,var(--bub));--o:var(--agent-chat-border,var(--bor));--p:var(--agent-chat-problem,var(--bad));--r:var(--agent-chat-radius,16px);--link:var(--a);--edge:var(--m);--ring:var(--a)}
:host([layout=inline]){block-size:var(--agent-chat-height,100%);min-block-size:20rem}
${FLOATING}{position:fixed;inset-block-end:calc(var(--agent-chat-offset-block,20px) + env(safe-area-inset-bottom));inset-inline-end:calc(var(--agent-chat-offset-inline,20px) + env(safe-area-inset-right));z-index:var(--agent-chat-z-index,2147483000);pointer-events:none}
${floating('[position=start]')}{inset-inline:calc(var(--agent-chat-offset-inline,20px) + env(safe-area-inset-left)) auto}
*,::before,::after{box-sizing:border-box}
[hidden]{display:none!important}
.hidden{position:absolute;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.probe{position:absolute;visibility:hidden;color:var(--t);background-color:var(--b);border-style:solid;border-width:0;border-color:var(--m) var(--u) var(--o) var(--a);outline-color:var(--at);text-decoration-color:var(--p)}
button{font:inherit;color:inherit;cursor:pointer;border:0;background:none;margin:0;padding:0;touch-action:manipulation}
button[aria-disabled=true]{cursor:default}
:focus-visible{outline:2px solid var(--ring);outline-offset:2px}
p,h2,h3{margin:0}
svg{inline-size:20px;block-size:20px;fill:currentColor;display:block}
.frame,.shell{block-size:100%}
${FLOATING} .shell{display:flex;flex-direction:column;align-items:flex-end;gap:16px}
${floating('[position=start]')} .shell{align-items:flex-start}
.shell>*{pointer-events:auto;color:var(--t)}
.launcher{position:relative;min-inline-size:60px;block-size:60px;border-radius:30px;background:var(--a);color:var(--at);display:flex;align-items:center;justify-content:center;gap:10px;box-shadow:0 1px 3px #0003,0 8px 28px #0000003d;transition:transform .15s,box-shadow .15s;flex:none;max-inline-size:calc(100vw - 40px)}
.launcher:hover{transform:translateY(-2px);box-shadow:0 2px 4px #0003,0 12px 32px #0000004d}
.launcher:active{transform:scale(.96)}
.launcher.labelled{padding-inline:20px 24px;font-weight:600}
.launcher-label{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.launcher:not(.labelled) .launcher-label{display:none}
.launcher svg{inline-size:28px;block-size:28px}
.launcher img{inline-size:36px;block-size:36px;object-fit:cover;border-radius:50%;display:block}
.launcher-icon,.launcher-close{transition:transform .2s,opacity .2s}
.launcher-close{position:absolute;opacity:0;transform:rotate(-60deg) scale(.6)}
[aria-expanded=true]>.launcher-icon{opacity:0;transform:rotate(60deg) scale(.6)}
[aria-expanded=true]>.launcher-close{opacity:1;transform:none}
.badge{position:absolute;inset-block-start:-4px;inset-inline-end:-4px;min-inline-size:22px;block-size:22px;padding-inline:6px;border-radius:11px;background:var(--t);color:var(--b);border:2px solid var(--b);font-size:12px;line-height:18px;font-weight:700;text-align:center}
.teaser{display:flex;align-items:flex-start;max-inline-size:min(300px,calc(100vw - 40px));background:var(--b);border:1px solid var(--o);border-radius:var(--r);border-end-end-radius:4px;box-shadow:0 8px 28px #0003;animation:rise .25s ease-out}
${floating('[position=start]')} .teaser{border-radius:var(--r);border-end-start-radius:4px}
.teaser-text{padding-block:12px;padding-inline:16px 2px;text-align:start;overflow-wrap:anywhere;border-radius:inherit}
.teaser-close{inline-size:44px;block-size:44px;display:grid;place-items:center;flex:none;color:var(--m);border-radius:12px}
.teaser-close svg{inline-size:16px;block-size:16px}
.panel{position:relative;display:flex;flex-direction:column;inline-size:100%;block-size:100%;background:var(--b);color:var(--t);border:1px solid var(--o);border-radius:var(--r);overflow:hidden;overscroll-behavior:contain}
${FLOATING} .panel{inline-size:min(var(--agent-chat-width,400px),calc(100vw - 40px));block-size:var(--agent-chat-height,min(680px,calc(100dvh - 116px)));box-shadow:0 2px 6px #0000001a,0 20px 60px #00000038;transform-origin:100% 100%}
.panel:not(.still){animation:rise .2s cubic-bezier(.2,.8,.3,1)}
:host([layout=inline]) .panel{animation:none}
@keyframes rise{from{opacity:0;transform:translateY(14px) scale(.98)}}
.button,.choice,.suggestion{min-block-size:44px;padding:8px 16px;border:1px solid var(--o);border-radius:min(var(--r),12px);background:var(--b);color:var(--t);text-align:start}
.button:hover,.choice:hover:not([aria-disabled=true]),.suggestion:hover{border-color:var(--link);background:var(--u)}
.button.primary{background:var(--a);border-color:var(--a);color:var(--at)}
.button.primary:hover{filter:brightness(1.08)}
.panel.empty{align-items:center;justify-content:center;gap:12px;padding:24px;text-align:center}
.panel.empty .spinner{inline-size:24px;block-size:24px;border:3px solid var(--o);border-block-start-color:var(--ring);border-radius:50%;animation:appear .2s .3s backwards,turn 1s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
@keyframes appear{from{opacity:0}}
@media ${FULL_SCREEN}{${FLOATING} .panel:not([hidden]){position:fixed;inset-block-start:var(--top,0px);inset-inline:0;inline-size:100%;block-size:var(--height,100dvh);border:0;border-radius:0;padding:env(safe-area-inset-top) env(safe-area-inset-right) env(safe-area-inset-bottom) env(safe-area-inset-left)}${floating('[open]')} .launcher{display:none}}
@media (prefers-reduced-motion:reduce){*,::before,::after{animation:none!important;transition:none!important}}
@media print{${FLOATING}{display:none!important}}
@media (forced-colors:active){.launcher,.badge{border:1px solid}}
`;

/** A style sheet made by script needs no permission of a Content-Security-Policy. */
export function sheetOf(styles: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(styles);
  return sheet;
}

let sheet: CSSStyleSheet | undefined;

/** Shared by all elements. */
export function stylesheet(): CSSStyleSheet {
  return (sheet ??= sheetOf(STYLES));
}
