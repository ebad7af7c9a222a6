import { marked, type Token, type Tokens } from 'marked';

/** The blocks of a text as `marked` reads it, in the short form of `shortBlocks`. */
export function markedBlocks(text: string): string[] {
  const tokens = marked.lexer(text, { gfm: true, breaks: true });
  return blocksOf(tokens).map(shortBlock);
}

function blocksOf(tokens: readonly Token[]): Token[] {
  return tokens.filter(({ type }) => type !== 'space' && type !== 'def');
}

function shortBlock(token: Token): string {
  switch (token.type) {
    case 'heading':
      return `h${(token as Tokens.Heading).depth} ${inline(token.tokens)}`;
    case 'code': {
      const { lang = '', text } = token as Tokens.Code;
      return `code(${lang.split(/\s/, 1)[0] ?? ''}) ${text}`;
    }
    case 'blockquote':
      return `quote[${blocksOf(token.tokens ?? [])
        .map(shortBlock)
        .join('; ')}]`;
    case 'list': {
      const { start, loose, items } = token as Tokens.List;
      return `${loose ? 'loose' : 'list'}(${start === '' ? '-' : start})[${items.map(shortItem).join(' | ')}]`;
    }
    case 'table': {
      const { header, rows, align } = token as Tokens.Table;
      const marks = align.map((each) => (each === null ? '' : { left: 'start', center: 'center', right: 'end' }[each]));
      const cells = (row: readonly Tokens.TableCell[]): string => row.map(({ tokens }) => inline(tokens)).join(',');
      return `table(${marks.join(',')})[${[header, ...rows].map(cells).join(' | ')}]`;
    }
    case 'hr':
      return 'rule';
    case 'paragraph':
    case 'text':
      return inline(token.tokens ?? [token]);
    default:
      return token.raw;
  }
}

function shortItem({ task, checked, tokens }: Tokens.ListItem): string {
  const mark = task ? (checked === true ? '☑ ' : '☐ ') : '';
  return (
    mark +
    blocksOf(tokens)
      .filter(({ type }) => type !== 'checkbox')
      .map(shortBlock)
      .join('; ')
  );
}

function inline(tokens: readonly Token[] = []): string {
  return tokens.map(shortInline).join('');
}

function shortInline(token: Token): string {
  switch (token.type) {
    case 'strong':
      return `<strong ${inline(token.tokens)}>`;
    case 'em':
      return `<emphasis ${inline(token.tokens)}>`;
    case 'del':
      return `<deleted ${inline(token.tokens)}>`;
    case 'codespan':
      return `<code ${(token as Tokens.Codespan).text}>`;
    case 'br':
      return '⏎';
    case 'link':
      return `<link ${(token as Tokens.Link).href} ${inline(token.tokens)}>`;
    case 'image':
      return `<image ${(token as Tokens.Image).href} ${(token as Tokens.Image).text}>`;
    case 'checkbox':
      return '';
    case 'text':
      return token.tokens ? inline(token.tokens) : (token as Tokens.Text).text;
    case 'escape':
      return (token as Tokens.Escape).text;
    default:
      return token.raw;
  }
}
