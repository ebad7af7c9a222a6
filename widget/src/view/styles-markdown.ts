/** Texts, code, tables and images of replies. */
export const MARKDOWN_STYLES = `
.markdown{line-height:1.55}
.markdown-body>*,.markdown li>*,.markdown blockquote>*{margin-block:.7em}
.markdown-body>:first-child,.markdown blockquote>:first-child,.markdown li>p:first-child,.note-text>:first-child{margin-block-start:0}
.markdown-body>:last-child,.markdown blockquote>:last-child,.markdown li>:last-child{margin-block-end:0}
.markdown p,.markdown-body li,.note-text li,.markdown h3,.markdown h4,.markdown h5,.markdown h6,.markdown th>span,.markdown td>span{unicode-bidi:plaintext}
.markdown h3,.markdown h4,.markdown h5,.markdown h6{font-size:1em;line-height:1.35;font-weight:650;margin-block:1.1em .45em}
.markdown h3{font-size:1.2em}.markdown h4{font-size:1.1em}.markdown h6{color:var(--m)}
.markdown ul,.markdown ol{padding-inline-start:1.6em}
.markdown li{margin-block:.25em}
.markdown .loose>li{margin-block:.7em}
.markdown li>p,.markdown li>ul,.markdown li>ol{margin-block:.25em}
.markdown .loose>li>p{margin-block:.7em}
.markdown .task{list-style:none;position:relative}
.task>input{position:absolute;inset-block-start:.25em;inset-inline-start:-1.6em;inline-size:1.05em;block-size:1.05em;margin:0;accent-color:var(--a)}
.task>input+p{margin-block-start:0}
.markdown blockquote{margin-inline:0;border-inline-start:3px solid var(--o);padding-inline-start:12px;color:var(--m)}
.markdown hr{border:0;border-block-start:1px solid var(--o);margin-block:1.2em}
a{color:inherit;text-underline-offset:2px;unicode-bidi:isolate}
.assistant a,.component a{color:var(--link,var(--a))}
.link-host{display:inline-block;max-inline-size:100%;unicode-bidi:isolate;color:var(--m);font-size:.9em;overflow-wrap:anywhere}
code,pre{font:.9em/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;tab-size:4}
:not(pre)>code{background:color-mix(in srgb,var(--t) 9%,transparent);padding:.1em .35em;border-radius:5px}
pre{margin:0;padding:10px 12px;overflow:auto;white-space:pre;overflow-wrap:normal;max-block-size:22rem;outline-offset:-2px}
.code{border:1px solid var(--o);border-radius:10px;overflow:hidden;background:var(--b);color:var(--t)}
.code-head{display:flex;justify-content:space-between;align-items:center;padding-inline:12px 4px;min-block-size:34px;color:var(--m);background:color-mix(in srgb,var(--t) 4%,transparent);font-size:.83em;border-block-end:1px solid var(--o)}
.code-head .button{min-block-size:28px;padding:2px 8px;border:0;background:none;color:inherit}
.code-head .button:hover{color:var(--t);text-decoration:underline}
.table{--shade:color-mix(in srgb,var(--t) 28%,transparent);overflow-x:auto;border:1px solid var(--o);border-radius:10px;color:var(--t);background:linear-gradient(90deg,var(--b) 40%,transparent) 0 0/40px 100% no-repeat local,linear-gradient(270deg,var(--b) 40%,transparent) 100% 0/40px 100% no-repeat local,linear-gradient(90deg,var(--shade),transparent) 0 0/14px 100% no-repeat,linear-gradient(270deg,var(--shade),transparent) 100% 0/14px 100% no-repeat,var(--b)}
table{border-collapse:collapse;font-size:.94em;min-inline-size:100%}
th,td{padding:7px 10px;text-align:start;vertical-align:top;min-inline-size:6.5rem;overflow-wrap:normal;word-break:normal;border-block-start:1px solid var(--o)}
.short{min-inline-size:0;white-space:nowrap}
th{font-weight:650;border:0;background:color-mix(in srgb,var(--t) 5%,transparent)}
.math{font-family:"Cambria Math","STIX Two Math",math,serif;font-size:1.05em;white-space:pre-line}
.formula{text-align:center;padding-inline:8px}
.notes{margin-block-start:1em;padding-block-start:.6em;border-block-start:1px solid var(--o);font-size:.9em}
.notes ol{margin:0}
.notes li:focus{background:color-mix(in srgb,var(--a) 12%,transparent);border-radius:5px}
.note-text,.note-text>p:last-child{display:inline}
.note-back{margin-inline-start:.4em}
.markdown sup{line-height:0}
.image{display:inline-grid;gap:8px;padding:12px;border:1px dashed var(--o);border-radius:10px;justify-items:start;max-inline-size:100%}
.markdown .image{display:inline-flex;flex-wrap:wrap;align-items:center;gap:2px 8px;padding:2px 4px 2px 8px;vertical-align:middle;font-weight:400;color:var(--t)}
.markdown h3 .image{font-size:calc(1em/1.2)}.markdown h4 .image{font-size:calc(1em/1.1)}
.markdown .image .button{min-block-size:28px;padding:2px 8px}
.image-alt:empty{display:none}
.image-alt{color:var(--m)}
.enlarge{display:inline-block;max-inline-size:100%;border-radius:10px;cursor:zoom-in}
.picture{max-inline-size:100%;max-block-size:20rem;border-radius:10px;display:block}
.large{pointer-events:auto;position:fixed;inset:0;margin:auto;padding:0;border:0;background:none;max-inline-size:none;max-block-size:none;overflow:hidden;cursor:zoom-out;animation:appear .15s ease-out}
.large::backdrop{background:#000c}
.large-picture{display:block;max-inline-size:calc(100vw - 32px);max-block-size:calc(100dvh - 32px);border-radius:10px}
.large .icon-button{position:absolute;inset-block-start:8px;inset-inline-end:8px;background:var(--b);color:var(--t);border:1px solid var(--o)}
@keyframes appear{from{opacity:0}}
`;
