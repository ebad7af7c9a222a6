import { ACCENTS, DOUBLE, OPERATORS, SUBSCRIPTS, SUPERSCRIPTS, SYMBOLS } from './math-symbols.js';

const MAX_LENGTH = 10_000;
/** Deeper groups are drawn as they are written. */
const MAX_DEPTH = 40;
const SPACES: ReadonlySet<string> = new Set([
  ',',
  ';',
  ':',
  ' ',
  '>',
  'quad',
  'qquad',
  'enspace',
  'thinspace',
  'space',
]);
/** Commands that change only the looks of what follows. */
const LOOKS =
  /^(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|mathrm|mathbf|mathit|mathsf|mathtt|mathcal|mathscr|mathfrak|boldsymbol|bm|operatorname|boxed|!|label|nonumber|notag|hline)$/;
const TEXTS = /^(?:text|textrm|textbf|textit|texttt|textsf|mbox|hbox)$/;
const FRACTIONS = /^[dtc]?frac$/;
const BINOMIALS = /^[dt]?binom$/;
/** Reads as one thing without brackets. */
const SIMPLE = /^(?:[\p{L}\p{M}\p{N}.,′°∞…]+[⁰¹²³⁴-⁹ⁿ₀-₉]*|\([^()]*\))$/u;

/**
 * LaTeX as a text that reads: `\frac{a+1}{2}` becomes `(a+1)/2`. What has no sign in Unicode is written in ASCII (`x^(q)`), an unknown
 * command as its name. A line of a formula of several lines ends with a line break.
 */
export function readFormula(source: string): string {
  if (source.length > MAX_LENGTH) return source;
  return new FormulaReader(source)
    .sequence('', 0)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim();
}

class FormulaReader {
  private readonly tokens: readonly string[];
  private at = 0;

  constructor(source: string) {
    this.tokens = source.match(/\\(?:[A-Za-z]+|[^])|\s+|[^]/gu) ?? [];
  }

  /** Reads until a closing token, which it consumes. */
  sequence(close: string, depth: number): string {
    let text = '';
    while (this.at < this.tokens.length) {
      const token = this.tokens[this.at] ?? '';
      if (token === close) {
        this.at += 1;
        break;
      }
      text += this.term(depth);
    }
    return text;
  }

  private term(depth: number): string {
    const token = this.tokens[this.at] ?? '';
    this.at += 1;
    if (depth > MAX_DEPTH) return token;
    switch (token) {
      case '{':
        return this.sequence('}', depth + 1);
      case '^':
        return script(this.argument(depth), SUPERSCRIPTS, '^');
      case '_':
        return script(this.argument(depth), SUBSCRIPTS, '_');
      case '\\\\':
        return '\n';
      case '&':
      case '~':
      case '}':
        return token === '}' ? '' : ' ';
      case '-':
        return '−';
      case "'":
        return '′';
      default:
        if (token.startsWith('\\')) return this.command(token.slice(1), depth);
        return token.trim() === '' ? ' ' : token;
    }
  }

  /** A group or a single term. */
  private argument(depth: number): string {
    while (this.tokens[this.at]?.trim() === '') this.at += 1;
    return this.at < this.tokens.length ? this.term(depth + 1).trim() : '';
  }

  /** The text in square brackets, if there are some. */
  private option(depth: number): string {
    if (this.tokens[this.at] !== '[') return '';
    this.at += 1;
    return this.sequence(']', depth + 1).trim();
  }

  private command(name: string, depth: number): string {
    const operator = OPERATORS.get(name);
    if (operator !== undefined) return ` ${operator} `;
    const accent = ACCENTS.get(name);
    if (accent !== undefined) return accented(this.argument(depth), accent);
    if (SPACES.has(name)) return ' ';
    if (LOOKS.test(name)) return this.looks(name);
    if (TEXTS.test(name)) return this.plain();
    if (FRACTIONS.test(name)) return `${bracketed(this.argument(depth))}/${bracketed(this.argument(depth))}`;
    if (BINOMIALS.test(name)) return `C(${this.argument(depth)}, ${this.argument(depth)})`;
    switch (name) {
      case 'sqrt':
        return root(this.option(depth), this.argument(depth));
      case 'mathbb':
        return [...this.argument(depth)].map((letter) => DOUBLE.get(letter) ?? letter).join('');
      case 'begin':
        return this.environment(depth);
      case 'end':
        this.plain();
        return '';
      case 'pmod':
        return ` (mod ${this.argument(depth)})`;
      case 'bmod':
        return ' mod ';
      case 'not':
        return `${this.argument(depth)}\u0338`;
      case 'tag':
        return ` (${this.plain()})`;
      case '|':
        return '‖';
      default:
        return SYMBOLS.get(name) ?? name;
    }
  }

  /** The dot after `\left` stands for no bracket. */
  private looks(name: string): string {
    if (/^(?:left|right)$/.test(name) && this.tokens[this.at] === '.') this.at += 1;
    if (name === 'label') this.plain();
    return '';
  }

  /** A group whose text is no formula. */
  private plain(): string {
    if (this.tokens[this.at] !== '{') return '';
    const from = this.at + 1;
    let open = 0;
    for (; this.at < this.tokens.length; this.at += 1) {
      const token = this.tokens[this.at];
      if (token === '{') open += 1;
      else if (token === '}') open -= 1;
      if (open === 0) break;
    }
    this.at += 1;
    return this.tokens
      .slice(from, this.at - 1)
      .join('')
      .replace(/\\([^A-Za-z])/g, '$1');
  }

  private environment(depth: number): string {
    const name = this.plain().replace('*', '');
    if (name === 'array') this.plain();
    const content = this.cells(depth);
    const rows = content.map((row) => row.map((cell) => cell.trim())).filter((row) => row.some((cell) => cell !== ''));
    if (name.endsWith('matrix') || name === 'array') return `[${rows.map((row) => row.join(', ')).join('; ')}]`;
    if (name === 'cases') return `{ ${rows.map((row) => row.join('  ')).join('; ')}`;
    return rows.map((row) => row.join(' ')).join('\n');
  }

  private cells(depth: number): string[][] {
    const rows: string[][] = [['']];
    while (this.at < this.tokens.length) {
      const token = this.tokens[this.at] ?? '';
      if (token === '\\end') {
        this.at += 1;
        this.plain();
        break;
      }
      const row = rows.at(-1) ?? [];
      if (token === '\\\\') rows.push(['']);
      else if (token === '&') row.push('');
      if (token === '\\\\' || token === '&') this.at += 1;
      else row[row.length - 1] = (row.at(-1) ?? '') + this.term(depth + 1);
    }
    return rows;
  }
}

function script(text: string, signs: ReadonlyMap<string, string>, mark: string): string {
  const characters = [...text.replaceAll(' ', '')];
  const mapped = characters.map((character) => signs.get(character));
  if (mapped.every((sign) => sign !== undefined)) return mapped.join('');
  return mark + (characters.length === 1 || /^\w+$/.test(text) ? text : `(${text})`);
}

function bracketed(text: string): string {
  return text === '' || SIMPLE.test(text) ? text : `(${text})`;
}

function root(degree: string, content: string): string {
  const signs: Readonly<Record<string, string>> = { '': '√', '3': '∛', '4': '∜' };
  const sign = signs[degree] ?? `${script(degree, SUPERSCRIPTS, '')}√`;
  return sign + ([...content].length === 1 || /^\d+$/.test(content) ? content : `(${content})`);
}

/** A mark over several letters stands after each of them. */
function accented(text: string, accent: string): string {
  return [...text].map((character) => character + accent).join('');
}
