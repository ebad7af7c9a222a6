import { describe, expect, it } from '@jest/globals';
import { computingMs } from '../../../test/support/computing-time.js';
import { readFormula } from './math.js';

describe('A formula', () => {
  it.each([
    ['E = mc^2', 'E = mc²'],
    ['a_1 + b_{i,j} - c^{-1}', 'a₁ + b_(i,j) − c⁻¹'],
    ['x^{n+1}_0 + e^{i\\pi}', 'xⁿ⁺¹₀ + e^(iπ)'],
    ['\\frac{a+b}{2} \\cdot \\frac{1}{n}', '(a+b)/2 · 1/n'],
    ['\\frac{\\partial f}{\\partial x}', '(∂ f)/(∂ x)'],
    ['x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}', 'x = (−b ± √(b² − 4ac))/2a'],
    ['\\sqrt{2} \\sqrt[3]{x+1} \\sqrt[n]{y}', '√2 ∛(x+1) ⁿ√y'],
    ['\\sum_{i=1}^{n} i = \\int_0^\\infty f(x)\\,dx', '∑ᵢ₌₁ⁿ i = ∫₀^∞ f(x) dx'],
    ['\\alpha\\le\\beta \\Rightarrow \\Gamma \\in \\mathbb{R}^n', 'α ≤ β ⇒ Γ ∈ ℝⁿ'],
    ['\\text{speed} = \\frac{\\text{way}}{\\text{time}}', 'speed = way/time'],
    ['\\mathbf{v} \\cdot \\vec{w} = \\hat{x}', 'v · w⃗ = x̂'],
    ['\\left( \\frac{1}{2} \\right]. \\left. x \\right|', '( 1/2 ]. x |'],
    ['\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}', '[a, b; c, d]'],
    ['f(x) = \\begin{cases} 1 & x > 0 \\\\ 0 & \\text{otherwise} \\end{cases}', 'f(x) = { 1 x > 0; 0 otherwise'],
    ['\\begin{aligned} a &= b \\\\ &= c \\end{aligned}', 'a = b\n= c'],
    ['\\lim_{x \\to 0} \\sin x', 'lim_(x → 0) sin x'],
    ['\\binom{n}{k} \\unknown{z} 50\\%', 'C(n, k) unknownz 50%'],
    ['}{ ^ _ \\frac \\begin{', '^(_/)'],
  ])('%j', (source, text) => {
    expect(readFormula(source).replace(/\s+$/, '')).toBe(text);
  });

  it.each([
    '{',
    '}',
    '^',
    '_{',
    '\\frac',
    '\\frac{',
    '\\sqrt[',
    '\\begin{a}',
    '\\end',
    '&',
    '\\\\',
    '\\text{',
    'a_',
    "'",
    '\\not',
  ])('of many %j takes linear time', (piece) => {
    const of = (length: number): string => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
    readFormula(of(10_000));
    const [small, large] = [computingMs(() => readFormula(of(1_250))), computingMs(() => readFormula(of(10_000)))];
    expect(large).toBeLessThan(Math.max(small, 2) * 24);
  });
});
