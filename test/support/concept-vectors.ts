/**
 * A model for tests of search by meaning: a vector has the concepts of a text by a small thesaurus of four languages, and a small part for its
 * words. It was written without the documents and the questions. Each line is a concept; its words match as prefixes, Chinese words anywhere.
 */
const THESAURUS = `
doctor physician medic clinic | arzt ärzt praxis | врач доктор клиник | 医生 医师 诊所 门诊 看病
ill sick disease flu cold fever | krank erkältung | болезн болен больн | 生病 病假 发烧 感冒
pay bill invoice cost price fee charge refund reimburse expense | zahl rechnung kosten preis gebühr miete beitrag | опла плат счёт счет рассчита цен стоимост деньг | 付款 支付 费用 多少钱 报销 收费 医保
travel trip tour journey hotel flight | reise | поездк путешеств | 出差 旅行
restaurant meal food eat lunch dinner canteen | essen mahlzeit | еда обед | 吃饭 餐
computer laptop notebook device pc | rechner | компьютер ноутбук устройств | 电脑 设备
steal stole stolen theft thief burglar lost lose | dieb gestohlen einbruch eingebrochen verlor | украд кража потеря | 偷 丢失
quit resign leave leaving notice terminate job employ | kündig ausziehen auszug beenden | увол расторг | 辞职 离职
return back exchange wrong size | rückgabe zurück umtausch | возврат вернуть отдать обмен размер | 退 退货 换货
repair fix broken defect fault damage warranty guarantee | reparatur kaputt schaden mangel garantie defekt | ремонт слома гаранти неисправ брак | 维修 坏 保修
gift present voucher friend birthday | geschenk gutschein freund | подар друг сертификат | 礼物 朋友
noise loud quiet night party music rest | ruhe laut nacht nachts lärm feier musik | шум тих ночь ноч громк | 噪音 安静 晚上
guest visitor friend sublet subtenant roommate flatmate | untermiet mitbewohner einzieh gast besuch freund | гост сосед | 访客 探视
child children kid son daughter baby parent family | kind eltern baby familie | ребён ребен дет родител | 孩子 儿童 宝宝 婴儿 家长
web site page internet online network wifi router | netz seite | сайт интернет страниц сет | 网 上网 网站
insurance insured policy claim | versicher police | страхов | 保险
vaccine vaccinate injection shot jab | impf spritze | прививк укол | 疫苗 接种 打针
medicine drug pharmacy prescription pill | medikament apotheke rezept | лекарств аптек рецепт | 药 药房 处方
complain complaint suggestion rude attitude unhappy | beschwerde unzufrieden | жалоб недовол | 投诉 建议 态度 不满
password login account credential | passwort kennwort konto | парол вход аккаунт | 密码 账号
deliver delivery ship parcel courier | liefer versand paket | достав посылк курьер | 送货 快递 配送
appointment book booking reserve register | termin anmeld | запис приём прием | 预约 挂号
hours open close opening time | öffnungszeit geöffnet | часы работ открыт режим | 时间 营业 几点
pet dog cat animal | haustier hund katze tier | животн собак кошк | 宠物 狗 猫
heat heating warm cold | heizung heiz warm | отоплен тепл | 暖气
holiday vacation day off | urlaub ferien | отпуск | 假期 休假
salary wage pay bonus | gehalt lohn | зарплат | 工资
home remote office work | arbeit büro | работ офис | 办公 工作
update firmware upgrade version software | aktualisier | обновлен | 更新
reset restart reboot factory | neustart zurücksetz | сброс перезагруз | 重启
test blood examination result report | untersuchung befund | анализ обследован | 检查 化验 报告
emergency urgent accident | notfall unfall | срочн экстренн | 急诊 紧急
block filter bad harmful restrict | sperr filter | блокиров фильтр | 屏蔽
`;

interface Concept {
  readonly beginnings: readonly string[];
  readonly parts: readonly string[];
}

const CHINESE = /\p{Script=Han}/u;
const CONCEPTS: readonly Concept[] = THESAURUS.trim()
  .split('\n')
  .map((line) => {
    const words = line
      .split(/[\s|]+/)
      .filter((word) => word !== '')
      .map((word) => word.normalize('NFC'));
    return {
      beginnings: words.filter((word) => !CHINESE.test(word)),
      parts: words.filter((word) => CHINESE.test(word)),
    };
  });
/** What the words themselves say, beside the concepts. */
const WORD_DIMENSIONS = 192;
const WORD_WEIGHT = 0.25;
export const CONCEPT_DIMENSIONS = CONCEPTS.length + WORD_DIMENSIONS;

/** Of length 1. The same for the same text, always. */
export function conceptVector(given: string): number[] {
  const text = given.toLowerCase().normalize('NFC');
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
  const vector = new Array<number>(CONCEPT_DIMENSIONS).fill(0);
  for (const [place, { beginnings, parts }] of CONCEPTS.entries()) {
    const times =
      words.filter((word) => beginnings.some((beginning) => word.startsWith(beginning))).length +
      parts.filter((part) => text.includes(part)).length;
    vector[place] = Math.sqrt(times);
  }
  for (const word of words) {
    const place = CONCEPTS.length + (Math.abs(hashOf(word)) % WORD_DIMENSIONS);
    vector[place] = (vector[place] ?? 0) + WORD_WEIGHT;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((number) => Number((number / length).toFixed(7)));
}

function hashOf(word: string): number {
  let hash = 0;
  for (let at = 0; at < word.length; at += 1) hash = (Math.imul(hash, 31) + word.charCodeAt(at)) | 0;
  return hash;
}
