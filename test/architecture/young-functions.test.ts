import { globSync, readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { keepFunctionsYoung } from '../../tools/young-functions.mjs';
import { oldGenerationGrowth } from '../support/old-generation.js';

/** After 100,000 short-lived objects with a method each. */
function oldMiB(bundled: (code: string) => string): number {
  return oldGenerationGrowth(
    bundled('function send(content) { const query = {}; query.callback = () => content; return query; }'),
    'for (let number = 0; number < 100_000; number += 1) send(new Array(20).fill(number));',
  );
}

it('V8 creates a function that is assigned to a property in the old generation, but not the operand of a comma', () => {
  // A collection of the whole heap, which a busy machine may bring about, makes the growth smaller.
  const growth = [1, 2, 3].map(() => oldMiB((code) => code));
  expect(Math.max(...growth)).toBeGreaterThan(5);
  expect(oldMiB(keepFunctionsYoung)).toBeLessThan(1);
});

it.each([
  ['f = () => { a.b = async (x) => x; }', 'f = () => { a.b = (0,async (x) => x); }'],
  ['function f() { a[b] = function* () {}; }', 'function f() { a[b] = (0,function* () {}); }'],
  [
    'class A { m() { this.x = y => { this.z = (() => 1); }; } }',
    'class A { m() { this.x = (0,y => { this.z = ((0,() => 1)); }); } }',
  ],
  // The code of a module runs once.
  ['A.prototype.m = function () {};', 'A.prototype.m = function () {};'],
  [
    'function f() { a = () => 1; a.b ??= () => 1; a.b = g(() => 1); }',
    'function f() { a = () => 1; a.b ??= () => 1; a.b = g(() => 1); }',
  ],
])('%s', (code, changed) => {
  expect(keepFunctionsYoung(code)).toBe(changed);
});

it('the bundle has no driver whose functions get old', () => {
  const texts = globSync('dist/bundle/*.js').map((file) => readFileSync(file, 'utf8'));
  const assignments = texts.flatMap((text) => text.match(/\bquery\.callback=(?:\(0,)?\([\w,]*\)=>/g) ?? []);
  expect(new Set(assignments.map((text) => text.startsWith('query.callback=(0,')))).toEqual(new Set([true]));
});
