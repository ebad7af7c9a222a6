export const COMPONENT_STYLES = `
.suggestions:empty,.tray:empty,.fallback:empty{display:none}
.tool-part{inline-size:100%;min-inline-size:0}
.tool{font-size:.9em;color:var(--m);border:1px solid transparent;border-radius:12px;margin-inline-start:-9px}
.tool[open]{border-color:var(--o);margin-inline-start:0}
.tool-summary{display:flex;align-items:center;gap:8px;min-block-size:34px;padding:5px 8px;cursor:pointer;border-radius:12px;list-style:none;inline-size:fit-content;max-inline-size:100%}
.tool[open] .tool-summary{inline-size:auto}
.tool-summary::-webkit-details-marker{display:none}
.tool-summary:hover{color:var(--t);background:var(--u)}
.tool-sign{inline-size:18px;block-size:18px;flex:none;display:grid;place-items:center}
.tool-sign svg,.tool-arrow svg{inline-size:16px;block-size:16px}
.tool[data-status=completed] .tool-sign,.tool[data-status=approved] .tool-sign{color:var(--link,var(--a))}
.tool[data-status=failed] .tool-sign{color:var(--p)}
.tool[data-status=running] .tool-sign::before{content:"";inline-size:14px;block-size:14px;border-radius:50%;border:2px solid var(--o);border-block-start-color:var(--link,var(--a));animation:turn .8s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
.tool-label{min-inline-size:0;overflow-wrap:anywhere}
.tool-arrow{flex:none;margin-inline-start:auto;transition:transform .15s}
.tool[open] .tool-arrow{transform:rotate(180deg)}
.tool-body{padding:4px 12px 12px;display:grid;gap:12px;color:var(--t)}
.tool-title{font-size:.87em;font-weight:600;color:var(--m);margin-block-end:4px}
.value{white-space:pre-wrap;overflow-wrap:anywhere}
.arguments{inline-size:100%;border-collapse:collapse;font-size:.95em}
.arguments+.link{padding-inline:0}
.arguments :is(th,td){min-inline-size:0;border:0;border-block-start:1px solid var(--o);padding:7px 0;text-align:start;vertical-align:top;background:none}
.arguments tr:first-child>*{border-block-start:0}
.arguments th{font-weight:400;color:var(--m);inline-size:32%;padding-inline-end:14px;overflow-wrap:anywhere;min-inline-size:6em}
.arguments th[colspan]{font-weight:600;color:var(--t)}
.depth-1>:first-child{padding-inline-start:14px!important}.depth-2>:first-child{padding-inline-start:28px!important}.depth-3>:first-child{padding-inline-start:42px!important}.depth-4>:first-child{padding-inline-start:56px!important}
.component{border:1px solid var(--o);border-radius:14px;padding:14px 16px;display:grid;gap:12px;inline-size:100%;max-inline-size:30rem;overflow-wrap:anywhere;min-inline-size:0;background:var(--b)}
.component>*{min-inline-size:0}
.question,.card-title{font-weight:600;line-height:1.4}
.approval{border-color:var(--a);gap:8px}
.approval .question{display:flex;gap:8px;align-items:flex-start}
.approval .question svg{flex:none;color:var(--link,var(--a))}
.explanation{color:var(--m);font-size:.93em}
.approval-choices,.choices{display:flex;flex-wrap:wrap;gap:8px}
.approval-choices{padding-block-start:6px}
.approval-choices .button{flex:1 1 7rem;text-align:center;font-weight:550}
.approval.decided .button:not(.chosen){background:var(--b);color:var(--m);border-color:var(--o)}
.button.chosen{background:var(--a);border-color:var(--a);color:var(--at)}
.approval .button.chosen::before{content:"✓ "/""}
.button[aria-disabled=true]{opacity:.75}
.choice{display:flex;align-items:center;gap:10px;border-color:var(--o);border-radius:12px;font-weight:550;transition:background-color .12s}
.choices:not(.options)>.choice{flex:1 1 7rem;justify-content:center;text-align:center}
.choice:hover:not([aria-disabled=true]){background:var(--u)}
.options{flex-direction:column}
.options>.choice{inline-size:100%}
.choice-text{display:grid;min-inline-size:0}
.choice small{color:var(--m);font-weight:400;font-size:.87em;line-height:1.35}
.mark{display:none;flex:none}
.mark svg{inline-size:14px;block-size:14px}
.mark.radio{display:grid;place-items:center;inline-size:18px;block-size:18px;border-radius:50%;border:1.5px solid var(--m)}
.mark.radio svg{display:none}
.chosen>.mark,.chosen>.mark svg{display:grid}
.choice[aria-disabled=true]{color:var(--m)}
.answered .choice:not(.chosen){border-color:transparent;background:none}
.choice.chosen,.answered .choice.chosen{background:var(--u);border-color:var(--link,var(--a));color:var(--t)}
.chosen>.mark{color:var(--link,var(--a))}
.chosen>.mark.radio{background:var(--a);border-color:var(--a);color:var(--at)}
.card{gap:0;overflow:hidden}
.card-picture .picture{inline-size:100%;object-fit:cover;max-block-size:15rem}
.card>.card-picture{margin:-14px -16px 14px}
.value+.link{padding-inline:0}
.card>.card-picture>*{inline-size:100%;border-radius:0;border-width:0 0 1px}
.card>.card-picture>.image{padding:14px 16px}
.card-subtitle{color:var(--m);font-size:.93em}
.card-text{white-space:pre-wrap;color:var(--m);font-size:.93em}
.card>.card-text{color:var(--t);margin-block-start:8px}
.fields{margin:12px 0 0;display:grid}
.field{display:flex;flex-wrap:wrap;justify-content:space-between;gap:2px 16px;padding-block:7px;border-block-start:1px solid var(--o);font-size:.95em}
.field dt{color:var(--m)}
.field dd{margin:0;font-weight:550;text-align:end;margin-inline-start:auto}
.links{display:flex;flex-wrap:wrap;gap:8px}
.links>a{display:inline-flex;align-items:center;min-block-size:36px;padding:5px 14px;border:1px solid var(--o);border-radius:10px;text-decoration:none;font-weight:550;font-size:.93em;color:var(--link,var(--a))}
.links>a:hover{border-color:var(--a);background:var(--u)}
.card>.links{margin-block-start:14px}
.list ul{list-style:none;margin:0;padding:0;display:grid}
.list .item{display:grid;gap:4px;padding-block:12px;border-block-start:1px solid var(--o)}
.list .item:first-child{border:0;padding-block-start:0}
.list .item:last-child{padding-block-end:0}
.item .links{padding-block-start:4px}
.item.pictured:has(>.card-picture>.picture){grid-template-columns:72px minmax(0,1fr);column-gap:12px}
.item.pictured:has(>.card-picture>.picture)>*{grid-column:2}
.item.pictured>.card-picture:has(>.picture){grid-column:1;grid-row:1/span 4}
.item .card-picture .picture{block-size:72px;border-radius:10px}
@media (forced-colors:active){.mark.radio{border-color:currentColor}.chosen>.mark.radio svg{color:CanvasText}}
`;
