import { expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { Knowledge, text } from './support.js';

const service = useService();

const DOCUMENTS = {
  german:
    'Die Krankenversicherung übernimmt die Kosten, wenn der Arzt eine Behandlung verordnet. Kündigungen sind mit einer Frist von drei Monaten möglich. Das ist für die Häuser nicht so. Haustiere sind erlaubt, Krankenhäuser auch.',
  russian:
    'Возврат товара возможен в течение четырнадцати дней. Договор поставки подписывают обе стороны, и условия договора не меняются.',
  chinese: '如果商品有质量问题，您可以在七天内申请退款。客服会在两个工作日内处理您的申请，运费由卖家承担。',
  japanese:
    '返品の期限は商品到着後十四日以内です。送料はお客様の負担となります。パスワードを変更するには設定画面を開いてください。',
  thai: 'ลูกค้าสามารถขอคืนเงินได้ภายในสิบสี่วันหลังจากได้รับสินค้า กรุณาติดต่อฝ่ายบริการลูกค้า',
  korean: '환불은 상품을 받은 후 7일 이내에 신청할 수 있습니다. 배송비는 고객이 부담합니다.',
  english:
    'Employees receive twenty-five days of annual leave. Part number AB-1234.5 replaces the older filter. The naïve café policy was reviewed by committees. Passwords expire.',
  french:
    "L'employeur rembourse les déplacements professionnels. Les factures sont envoyées à la comptabilité avant la fin du mois.",
};

it.each([
  ['german', 'Versicherung'],
  ['german', 'Kündigungsfrist'],
  ['german', 'Kuendigung'],
  ['german', 'Haus'],
  ['german', 'Tier'],
  ['german', 'verordnete Behandlungen'],
  ['german', 'Krankenver'],
  ['russian', 'договоров'],
  ['russian', 'возврата товаров'],
  ['russian', 'подписывать договоры'],
  ['chinese', '退款'],
  ['chinese', '怎么申请退款？'],
  ['chinese', '运费谁承担'],
  ['japanese', '返品期限'],
  ['japanese', '送料は誰が払いますか'],
  ['japanese', 'ﾊﾟｽﾜｰﾄﾞの変更'],
  ['thai', 'คืนเงิน'],
  ['thai', 'ฝ่ายบริการลูกค้า'],
  ['korean', '환불을 신청'],
  ['english', 'employee'],
  ['english', 'anual leave'],
  ['english', 'emplyoees'],
  ['english', 'pasword'],
  ['english', 'ab-1234.5'],
  ['english', '1234.5'],
  ['english', 'naive CAFE'],
  ['english', 'committee reviews'],
  ['french', 'remboursement d’un déplacement'],
  ['french', 'facture'],
])('finds the %s document by "%s"', async (language, query) => {
  const knowledge = await known();
  expect((await knowledge.search(query))[0]).toBe(language);
});

it.each(['xylophone', 'ксилофон', '木琴', '', '   ', '?!', '\u0000'])('finds nothing by %j', async (query) => {
  expect(await (await known()).search(query)).toEqual([]);
});

it('answers any query without an error', async () => {
  const knowledge = await known();
  const hostile = [
    "'\\ & | ! <-> :*",
    "it's 'quoted' \\' word",
    'a'.repeat(8_000),
    '退'.repeat(8_000),
    'a-'.repeat(4_000),
    '\ud800',
    'versicherungs'.repeat(600),
  ];
  for (const query of hostile) expect(Array.isArray(await knowledge.search(query))).toBe(true);
});

it('scores a chunk with all words near 1, and lower if a word is missing', async () => {
  const knowledge = await known();
  const scoreOf = async (query: string): Promise<number> =>
    (await (await knowledge.prepare(query)).top(1))[0]?.score ?? 0;
  const all = await scoreOf('annual leave of employees');
  expect(all).toBeGreaterThan(0.85);
  expect(all).toBeLessThanOrEqual(1);
  const unknown = await scoreOf('annual leave of employees xylophone');
  expect(unknown).toBeLessThan(all);
  expect(unknown).toBeGreaterThan(all * 0.6);
});

it('gives a single chunk the same score as among others', async () => {
  const knowledge = await known();
  for (const query of ['Versicherung', '申请退款', 'employees leave', 'договоров товара']) {
    const prepared = await knowledge.prepare(query);
    const found = await prepared.top(10);
    expect(found.length).toBeGreaterThan(0);
    expect(await prepared.scoresOf(found.map(({ chunkId }) => chunkId))).toEqual(
      new Map(found.map(({ chunkId, score }) => [chunkId, score])),
    );
  }
});

let filled: Promise<Knowledge> | undefined;
function known(): Promise<Knowledge> {
  filled ??= (async () => {
    const knowledge = await Knowledge.start(service);
    for (const [key, content] of Object.entries(DOCUMENTS))
      await knowledge.put(key, text(content), { title: `Document ${key.length}` });
    return knowledge;
  })();
  return filled;
}
