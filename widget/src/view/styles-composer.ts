export const COMPOSER_STYLES = `
.files{margin:6px 0 0;padding-inline-start:18px}
.suggestions{display:flex;flex-wrap:wrap;gap:8px;padding:0 18px 12px}
.suggestion{border-radius:20px;font-size:.93em}
.composer{padding:4px 12px 12px;margin:0}
.row{display:flex;align-items:flex-end;gap:4px;border:1px solid var(--o);border-radius:24px;padding:4px;background:var(--b);transition:border-color .12s,box-shadow .12s}
.row:hover{border-color:color-mix(in srgb,var(--o),var(--m) 40%)}
.row:focus-within{border-color:var(--link,var(--a));box-shadow:0 0 0 1px var(--link,var(--a))}
.input{flex:1;min-inline-size:0;border:0;outline:0;resize:none;background:none;color:inherit;font:inherit;font-size:max(1em,16px);line-height:1.45;margin:0;padding:8px 6px 8px 12px;padding-inline:12px 6px;min-block-size:40px;max-block-size:min(9.5rem,40dvh);overflow-y:auto;overflow-wrap:anywhere;field-sizing:content;scrollbar-width:thin}
.row>span:not([hidden])+.input{padding-inline-start:4px}
.input::placeholder{color:var(--m);opacity:1;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.attach,.send{inline-size:40px;block-size:40px;border-radius:50%;display:grid;place-items:center;flex:none;transition:background-color .12s,color .12s}
.attach{color:var(--m)}
.attach:hover{background:var(--u);color:var(--t)}
.send{background:var(--a);color:var(--at)}
.send:not([aria-disabled=true]):hover{background:color-mix(in srgb,var(--a),var(--t) 14%)}
.send[aria-disabled=true]{background:var(--u);color:var(--m)}
.send.stop{background:var(--t);color:var(--b)}
.send.stop[aria-disabled=true]{background:var(--u);color:var(--m)}
.send.stop[aria-disabled=true] svg{animation:stopping 1.2s ease-in-out infinite}
.send[aria-busy=true] svg{animation:stopping 1.2s ease-in-out infinite}
@keyframes stopping{50%{opacity:.35}}
:host(:dir(rtl)) .send:not(.stop) svg{transform:scaleX(-1)}
.tray{list-style:none;display:flex;flex-wrap:wrap;gap:8px;margin:0 0 8px;padding:2px;max-block-size:min(13rem,32dvh);overflow-y:auto;overscroll-behavior:contain;scrollbar-width:thin}
.tray:empty{display:none}
.file{display:flex;align-items:center;gap:10px;inline-size:min(100%,15.5rem);flex:1 1 13rem;border:1px solid var(--o);border-radius:12px;padding:6px;padding-inline-end:2px;background:var(--b);font-size:.9em;line-height:1.3;animation:attached .16s ease-out}
@keyframes attached{from{opacity:0;transform:translateY(6px)}}
.file-picture{inline-size:40px;block-size:40px;border-radius:8px;overflow:hidden;display:grid;place-items:center;flex:none;background:var(--u);color:var(--m)}
.file-picture canvas{inline-size:100%;block-size:100%;display:block}
.file-about{flex:1;min-inline-size:0;display:flex;flex-direction:column;gap:3px}
.file-name{display:flex;min-inline-size:0;font-weight:550;white-space:pre}
.file-start{overflow:hidden;text-overflow:ellipsis;min-inline-size:0}
.file-detail{color:var(--m);font-size:.92em;overflow-wrap:anywhere}
.file-progress{block-size:4px;border-radius:2px;background:var(--u);overflow:hidden}
.file-sent{display:block;block-size:100%;inline-size:0;border-radius:2px;background:var(--link,var(--a));transition:inline-size .2s}
.file-button{inline-size:32px;block-size:40px;border-radius:8px;display:grid;place-items:center;flex:none;color:var(--m)}
.file-button svg{inline-size:16px;block-size:16px}
.file-button:hover{background:var(--u);color:var(--t)}
.file-button+.file-button{margin-inline-start:-8px}
.file[data-state=failed],.file[data-state=refused]{border-color:var(--p);flex-basis:100%;inline-size:100%}
.file[data-state=failed] .file-detail,.file[data-state=refused] .file-detail,.file[data-state=failed] .file-picture,.file[data-state=refused] .file-picture{color:var(--p)}
@media (forced-colors:active){.attach,.file-progress,.row{border:1px solid}.file-sent{background:Highlight}.send[aria-disabled=true]{color:GrayText;border-color:GrayText}}
`;
