/** A shop's page, for the pictures of the guide. The widget stands below it. */
export const SHOP_STYLE = `
:root { color-scheme: light dark; --ink: #22302b; --soft: #5c6b65; --paper: #f7f5f0; --card: #fff; --line: #e2ddd2; --brand: #0b6b50; font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8efec; --soft: #a3b1ab; --paper: #10161a; --card: #182025; --line: #2a343a; --brand: #5fd0a8; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header { display: flex; gap: 28px; align-items: center; padding: 18px clamp(16px, 5vw, 64px); border-bottom: 1px solid var(--line); background: var(--card); }
header strong { font-size: 1.15rem; letter-spacing: -.02em; color: var(--brand); }
nav { display: flex; gap: 22px; color: var(--soft); font-size: .95rem; }
main { padding: clamp(28px, 5vw, 64px); max-width: 1180px; }
h1 { font-size: clamp(2rem, 4.4vw, 3.2rem); line-height: 1.08; letter-spacing: -.03em; margin: 0 0 14px; max-width: 15ch; }
p { color: var(--soft); max-width: 46ch; margin: 0 0 28px; }
ul { list-style: none; display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 18px; padding: 0; margin: 0; max-width: 760px; }
li { background: var(--card); border: 1px solid var(--line); border-radius: 16px; padding: 18px; }
li i { display: block; height: 92px; border-radius: 10px; margin-bottom: 14px; background: linear-gradient(135deg, color-mix(in srgb, var(--brand) 34%, var(--card)), color-mix(in srgb, var(--brand) 8%, var(--card))); }
li b { display: block; }
li span { color: var(--soft); font-size: .93rem; }
agent-chat { --agent-chat-accent: #0b6b50; }
@media (max-width: 480px) { nav { display: none; } }
`;

export const SHOP_CONTENT = `<header><strong>Fernweg</strong><nav><span>Bicycles</span><span>Bags</span><span>Workshop</span><span>Journal</span></nav></header>
<main><h1>Made for the long way round.</h1><p>Touring bicycles, bags and the small things that keep both going. Built in our workshop, sent to your door.</p>
<ul><li><i></i><b>Climber 500</b><span>Steel, 24 gears · 1,200 €</span></li><li><i></i><b>City 200</b><span>Belt drive · 890 €</span></li><li><i></i><b>Folding 16</b><span>For trains · 740 €</span></li></ul></main>`;
