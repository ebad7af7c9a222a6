import { describe, expect, it } from '@jest/globals';
import { encode } from '../../../../../test/support/documents.js';
import { decode } from './charset.js';

const RUSSIAN =
  'Условия доставки: заказ приходит в течение трёх рабочих дней, если товар есть на складе. Возврат возможен.';
const TEXTS: readonly (readonly [encoding: string, text: string])[] = [
  ['windows-1251', RUSSIAN],
  ['koi8-r', RUSSIAN],
  ['iso-8859-5', RUSSIAN],
  ['shift_jis', '配送についてのご案内です。ご注文の商品は三日以内にお届けします。返品は三十日以内に受け付けます。'],
  ['euc-jp', '配送についてのご案内です。ご注文の商品は三日以内にお届けします。返品は三十日以内に受け付けます。'],
  ['gbk', '关于配送的说明：您订购的商品将在三个工作日内送达。三十天之内可以退货，请保留发票。'],
  ['big5', '關於配送的說明：您訂購的商品將在三個工作日內送達。三十天之內可以退貨，請保留發票。'],
  ['euc-kr', '배송 안내입니다. 주문하신 상품은 영업일 기준 삼일 이내에 도착합니다. 반품은 삼십일 이내에 가능합니다.'],
  [
    'iso-8859-1',
    'Für Rückgaben gilt: Schöne Grüße aus Köln, die Ware muss unbeschädigt sein. Größe und Übergröße prüfen.',
  ],
];

describe('the text of bytes', () => {
  it.each(TEXTS)('in %s is decoded by detection, by the declared charset and by the meta tag', (encoding, text) => {
    const bytes = encode(text, encoding);
    expect(bytes.toString('latin1')).not.toContain('?');
    expect(decode(bytes, null, false)).toBe(text);
    expect(decode(bytes, `text/plain; charset="${encoding}"`, false)).toBe(text);
    const page = Buffer.concat([
      Buffer.from(`<html><head><meta http-equiv="Content-Type" content="text/html; charset=${encoding}"></head><p>`),
      bytes,
    ]);
    expect(decode(page, null, true)).toContain(text);
  });

  it.each(['utf-16le', 'utf-16be'])('in %s is detected by its byte order mark and by its zeros', (encoding) => {
    const bytes = Buffer.from('Price list: 12 Größen', 'utf16le');
    if (encoding === 'utf-16be') bytes.swap16();
    const mark = Buffer.from(encoding === 'utf-16le' ? 'fffe' : 'feff', 'hex');
    expect(decode(Buffer.concat([mark, bytes]), 'text/plain; charset=iso-8859-1', false)).toBe('Price list: 12 Größen');
    expect(decode(bytes, null, false)).toBe('Price list: 12 Größen');
  });

  it('in UTF-8 is detected, whatever charset is declared', () => {
    for (const declared of [null, 'text/html; charset=iso-8859-1', 'text/html; charset=no-such-thing']) {
      expect(decode(Buffer.from(`\ufeff${RUSSIAN}`), declared, true)).toBe(RUSSIAN);
      expect(decode(Buffer.from(RUSSIAN), declared, true)).toBe(RUSSIAN);
    }
  });

  it('may be plain ASCII with an empty charset', () => {
    expect(decode(Buffer.from('plain'), 'text/plain; charset=', false)).toBe('plain');
    expect(decode(Buffer.alloc(0), null, true)).toBe('');
  });
});
