/**
 * A PDF of some kB whose page draws two forms, each of which draws the same two others, and so on: 2 to the power of
 * `depth` drawings. They hold no text, so that they take no memory; one form drawn twice would then be read once.
 */
export function nestedFormsPdf(depth = 30): Buffer {
  const firstForm = (level: number): number => 5 + 2 * level;
  const drawing = (level: number): string =>
    `/Resources << /XObject << /A ${firstForm(level)} 0 R /B ${firstForm(level) + 1} 0 R >> >>`;
  const stream = '/Length 11 >>\nstream\n/A Do /B Do\nendstream';
  const form = (level: number): string =>
    `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] ${level < depth - 1 ? drawing(level + 1) : ''} ${stream}`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] ${drawing(0)} /Contents 4 0 R >>`,
    `<< ${stream}`,
    ...Array.from({ length: 2 * depth }, (_, index) => form(Math.floor(index / 2))),
  ];
  // Without a table of where they are: a reader looks for them.
  return Buffer.from(
    `%PDF-1.4\n${objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('')}trailer << /Root 1 0 R /Size ${objects.length + 1} >>\n%%EOF`,
  );
}
