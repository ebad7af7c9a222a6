/** Letters of the second and third are all as wide, which the third does not say of itself. */
const FONTS = {
  text: '/BaseFont /Helvetica /Encoding /WinAnsiEncoding',
  code: '/BaseFont /Courier /Encoding /WinAnsiEncoding',
  ownCode: `/BaseFont /Own /FirstChar 32 /LastChar 126 /Widths [${'600 '.repeat(94)} 300] /FontDescriptor << /Type /FontDescriptor /FontName /Own /Flags 32 >>`,
};
export type PdfFont = keyof typeof FONTS;

export interface PdfLine {
  readonly text: string;
  readonly size?: number;
  /** Of its base line, from the bottom. */
  readonly y: number;
  /** From the left; 50 where not said. */
  readonly x?: number;
  readonly font?: PdfFont;
}

const escaped = (text: string): string => text.replace(/[\\()]/g, '\\$&');

/** A PDF with these lines on its pages. */
export function pdfOf(
  pages: readonly (readonly PdfLine[])[],
  { title = '', stream = '', encrypted = false } = {},
): Buffer {
  const objects: string[] = [];
  const add = (content: string): number => objects.push(content);
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`);
  const fonts = Object.entries(FONTS).map(([name, font]) => `/${name} << /Type /Font /Subtype /Type1 ${font} >>`);
  add(`<< ${fonts.join(' ')} >>`);
  for (const [index, lines] of pages.entries()) {
    const content =
      stream +
      lines
        .map(
          ({ text, size = 10, x = 50, y, font = 'text' }) =>
            `BT /${font} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${escaped(text)}) Tj ET`,
        )
        .join('\n');
    add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font 3 0 R >> /Contents ${5 + index * 2} 0 R >>`,
    );
    add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
  }
  const info = add(`<< /Title (${escaped(title)}) >>`);
  const hash = `<${'ab'.repeat(32)}>`;
  const encryption = encrypted
    ? ` /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O ${hash} /U ${hash} >> /ID [${hash} ${hash}]`
    : '';
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((content, index) => {
    const offset = pdf.length;
    pdf += `${index + 1} 0 obj\n${content}\nendobj\n`;
    return offset;
  });
  const xref = pdf.length;
  pdf += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')}`;
  pdf += `trailer << /Size ${objects.length + 1} /Root 1 0 R /Info ${info} 0 R${encryption} >>\nstartxref\n${xref}\n%%EOF`;
  return Buffer.from(pdf, 'latin1');
}
