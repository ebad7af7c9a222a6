import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import robotsParser from 'robots-parser';
import { MAX_WILDCARD_RULES } from '../limits.js';
import { PathRules } from './path-rules.js';
import { readRobotsFile } from './robots-file.js';

const TOKEN = 'agent-service';
const ORIGIN = 'https://example.com';
/** The package's type declaration does not match its export. */
const otherParser = robotsParser as unknown as (
  url: string,
  text: string,
) => { isAllowed(url: string, agent: string): boolean };

function allows(file: string | Buffer, path: string, token = TOKEN): boolean {
  const { rules } = readRobotsFile(Buffer.from(file as string), token);
  return new PathRules(rules).allows(new URL(path, ORIGIN));
}

/** A file with one group, for all crawlers. */
const forAll = (...lines: string[]): string => ['User-agent: *', ...lines].join('\n');

describe('rules of a robots.txt file', () => {
  it.each<[path: string, pattern: string, matches: boolean]>([
    // RFC 9309, 2.2.2: percent-encoding.
    ['/foo/bar?baz=quz', '/foo/bar?baz=quz', true],
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https://foo.bar', true],
    ['/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar', true],
    ['/foo/bar?baz=https%3a%2f%2ffoo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar', true],
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar', false],
    ['/foo/bar/%E3%83%84', '/foo/bar/ツ', true],
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84', true],
    ['/foo/bar/ツ', '/foo/bar/%e3%83%84', true],
    ['/foo/bar/baz', '/foo/bar/%62%61%7A', true],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz', true],
    // 2.2.3: special characters.
    ['/path/file-with-a-*.html', '/path/file-with-a-%2A.html', true],
    ['/path/file-with-a-x.html', '/path/file-with-a-%2A.html', false],
    ['/path/foo-$', '/path/foo-%24', true],
    ['/path/foo-', '/path/foo-%24', false],
    // From the documentation of well-known crawlers.
    ['/fish', '/fish', true],
    ['/fish.html', '/fish', true],
    ['/fishheads/yummy.html', '/fish', true],
    ['/fish.php?id=anything', '/fish', true],
    ['/Fish.asp', '/fish', false],
    ['/catfish', '/fish', false],
    ['/desert/fish', '/fish', false],
    ['/fish', '/fish*', true],
    ['/fishheads', '/fish*', true],
    ['/fish/', '/fish/', true],
    ['/fish', '/fish/', false],
    ['/animals/fish/', '/fish/', false],
    ['/index.php', '/*.php', true],
    ['/filename.php?parameters', '/*.php', true],
    ['/folder/any.php.file.html', '/*.php', true],
    ['/', '/*.php', false],
    ['/windows.PHP', '/*.php', false],
    ['/filename.php', '/*.php$', true],
    ['/filename.php?parameters', '/*.php$', false],
    ['/filename.php/', '/*.php$', false],
    ['/filename.php5', '/*.php$', false],
    ['/fish.php', '/fish*.php', true],
    ['/fishheads/catfish.php?parameters', '/fish*.php', true],
    ['/Fish.PHP', '/fish*.php', false],
    ['/', '/$', true],
    ['/page', '/$', false],
    ['/a/b/c', '*/c$', true],
    ['/aXbXc', '/a*b*c*', true],
    ['/abab', '/*ab$', true],
    ['/ab$cd', '/ab$cd', true],
    ['/x', '*', true],
    ['/x', '$', false],
    ['/x', 'x', false],
    ['/a%zz', '/a%zz', true],
    ['/a b|c"', '/a%20b%7Cc%22', true],
  ])('%s against %s', (path, pattern, isMatch) => {
    expect(allows(forAll(`Disallow: ${pattern}`), path)).toBe(!isMatch);
    expect(allows(forAll(`Disallow: /`, `Allow: ${pattern}`), path)).toBe(isMatch);
  });

  it.each<[what: string, path: string, lines: string[], allowed: boolean]>([
    [
      'the longest decides',
      '/example/page/disallowed.gif',
      ['Allow: /example/page/', 'Disallow: /example/page/disallowed.gif'],
      false,
    ],
    ['the longest decides, in any order', '/folder/page', ['Disallow: /folder', 'Allow: /folder/'], true],
    ['of two as long the one that allows', '/folder/page', ['Allow: /folder', 'Disallow: /folder'], true],
    ['a wildcard counts as one', '/page.htm', ['Allow: /page', 'Disallow: /*.htm'], false],
    ['of two as long, one with a wildcard', '/page.php5', ['Allow: /page', 'Disallow: /*.ph'], true],
    ['a rule of the end', '/', ['Allow: /$', 'Disallow: /'], true],
    ['a rule of the end, elsewhere', '/page', ['Allow: /$', 'Disallow: /'], false],
    ['no rule matches', '/other', ['Disallow: /page'], true],
    ['an empty rule forbids nothing', '/page', ['Disallow:'], true],
    ['the file itself is always allowed', '/robots.txt', ['Disallow: /'], true],
    ['names in any case', '/page', ['DISALLOW : /page'], false],
    ['a remark at the end', '/page', ['Disallow: /page # but why'], false],
    ['without a colon it is no rule', '/page', ['Disallow /page'], true],
  ])('%s', (_what, path, lines, allowed) => {
    expect(allows(forAll(...lines), path)).toBe(allowed);
  });

  it('agree with another parser, where that one follows the standard', () => {
    const piece = fc.constantFrom('a', 'b', '/', '*', '.', 'ab', '-');
    const pattern = fc
      .tuple(fc.array(piece, { maxLength: 6 }), fc.boolean())
      .map(([pieces, end]) => `/${pieces.join('')}${end ? '$' : ''}`);
    const rule = fc.tuple(fc.boolean(), pattern).map(([allow, text]) => `${allow ? 'Allow' : 'Disallow'}: ${text}`);
    const path = fc
      .array(fc.constantFrom('a', 'b', '/a', '.', 'ab', '-'), { maxLength: 8 })
      .map((pieces) => `/x${pieces.join('')}`);
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), path, (rules, at) => {
        const file = forAll(...rules.map((text) => text.replace(': /', ': /x')));
        expect(allows(file, at)).toBe(otherParser(`${ORIGIN}/robots.txt`, file).isAllowed(`${ORIGIN}${at}`, TOKEN));
      }),
      { numRuns: 500, seed: 9309 },
    );
  });

  it('beyond the limit of compared rules forbid more rather than less', () => {
    const many = Array.from({ length: MAX_WILDCARD_RULES }, (_, index) => `Disallow: /never-${index}/*.html`);
    const file = forAll(...many, 'Disallow: /private/*.html', 'Allow: /private/*');
    expect(allows(file, '/private/page.pdf')).toBe(false);
    expect(allows(file, '/public')).toBe(true);
  });
});

describe('groups of a robots.txt file', () => {
  const disallowed = (lines: readonly string[], token = TOKEN): boolean => !allows(lines.join('\n'), '/page', token);

  it('count for the crawlers that they name, in any case and with a version', () => {
    for (const name of ['agent-service', 'Agent-Service', 'AGENT-SERVICE/2.0', 'agent-service (any)', '*', '* # all']) {
      expect([name, disallowed([`User-Agent: ${name}`, 'Disallow: /'])]).toEqual([name, true]);
    }
    for (const name of [
      'agent',
      'agent-services',
      'agent-service-images',
      'my-agent-service',
      'other',
      '',
      'agent service',
    ]) {
      expect([name, disallowed([`User-agent: ${name}`, 'Disallow: /'])]).toEqual([name, false]);
    }
  });

  it('for all crawlers do not apply to a crawler with a group of its name', () => {
    expect(disallowed(['User-agent: *', 'Disallow: /', '', 'User-agent: agent-service', 'Disallow:'])).toBe(false);
    expect(
      disallowed([
        'User-agent: agent-service',
        '',
        'User-agent: other',
        'Allow: /page',
        'User-agent: *',
        'Disallow: /',
      ]),
    ).toBe(false);
  });

  it('of one crawler are merged, and one group may name several crawlers', () => {
    const file = [
      'User-agent: agent-service',
      'Disallow: /a',
      'User-agent: other',
      'Disallow: /b',
      'User-agent: agent-service',
      'User-agent: third',
      'Disallow: /c',
    ];
    const paths = ['/a', '/b', '/c'].map((path) => allows(file.join('\n'), path));
    expect(paths).toEqual([false, true, false]);
  });

  it('are not split by empty lines or unknown lines', () => {
    for (const line of [
      '',
      'Sitemap: https://example.com/sitemap.xml',
      'Crawl-delay: 5',
      'Host: example.com',
      'nonsense',
    ]) {
      expect([line, disallowed(['User-agent: agent-service', line, 'User-agent: other', 'Disallow: /'])]).toEqual([
        line,
        true,
      ]);
    }
  });

  it('begin with a crawler: rules before it are ignored', () => {
    expect(disallowed(['Disallow: /', 'User-agent: agent-service', 'Allow: /x'])).toBe(false);
  });

  it.each([
    ['CRLF', '\r\n'],
    ['CR', '\r'],
    ['LF', '\n'],
  ])('end their lines with %s', (_what, end) => {
    const file = ['# remark', 'User-agent: agent-service', 'Disallow: /page', ''].join(end);
    expect(allows(file, '/page')).toBe(false);
  });

  it('are read in unusual encodings', () => {
    const text = 'User-agent: *\nDisallow: /grün';
    for (const file of [
      `\ufeff${text}`,
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    ]) {
      expect(allows(file, '/grün')).toBe(false);
    }
    const latin1 = Buffer.from(text, 'latin1');
    expect([allows(latin1, '/gr%FCn'), allows(latin1, '/grün')]).toEqual([false, true]);
    expect(allows(Buffer.from([0xff, 0xfe, 0x00]), '/')).toBe(true);
    expect(allows('<!doctype html><title>Not found</title>', '/')).toBe(true);
  });
});

describe('further lines of a robots.txt file', () => {
  it.each([
    ['2', 2_000],
    ['0.5', 500],
    ['10 seconds', 10_000],
    ['.25', 250],
    ['31', 30_000],
    ['99999999999999', 30_000],
    ['0', 0],
    ['-5', 0],
    ['NaN', 0],
    ['Infinity', 0],
    ['', 0],
    ['1e9', 1_000],
  ])('crawl-delay: %s', (value, ms) => {
    expect(readRobotsFile(Buffer.from(forAll(`Crawl-delay: ${value}`)), TOKEN).crawlDelayMs).toBe(ms);
  });

  it('the crawl delay is that of the group that applies', () => {
    const file = 'User-agent: *\nCrawl-delay: 9\nDisallow: /x\nUser-agent: agent-service\nCrawl-delay: 3\nDisallow: /y';
    expect(readRobotsFile(Buffer.from(file), TOKEN).crawlDelayMs).toBe(3_000);
    expect(readRobotsFile(Buffer.from(file), 'other').crawlDelayMs).toBe(9_000);
  });

  it('sitemaps are read of the whole file, absolute, each once, up to the limit', () => {
    const file = [
      'Sitemap: https://a.example/1.xml',
      'User-agent: other',
      'sitemap:http://b.example/ü.xml',
      'Sitemap: /relative.xml',
      'Sitemap: https://a.example/1.xml',
      'Sitemap: ftp://a.example/2.xml',
      'Sitemap: http://',
      'Disallow: /',
    ];
    expect(readRobotsFile(Buffer.from(file.join('\n')), TOKEN).sitemaps).toEqual([
      'https://a.example/1.xml',
      'http://b.example/ü.xml',
    ]);
    const many = Array.from({ length: 200 }, (_, index) => `Sitemap: https://a.example/${index}.xml`);
    expect(readRobotsFile(Buffer.from(many.join('\n')), TOKEN).sitemaps).toHaveLength(50);
  });
});
