/**
 * Function words of languages. They identify the language of a text, and in a question they say little about its subject.
 */
const WORDS: Readonly<Record<string, string>> = {
  en: 'a an the of to in on at by for from with and or not is are was were be been it its this that these those i me my we our you your they their he she how what which who whom whose when where why can could do does did will would should may must have has had if as about there any many much long',
  de: 'der die das den dem des ein eine einen einem einer eines und oder nicht ist sind war waren sein mit von zu zum zur im in am an auf aus bei fur nach uber unter vor ich mich mir wir uns sie ihr ihre er es man wie was welche welcher welches wer wem wen wann wo wohin warum kann konnen darf muss soll wird werden hat haben gibt auch noch als dass wenn wieviel viele lange mein meine',
  fr: 'le la les l un une des du de d et ou ne pas est sont etait etre avec pour par sur sous dans en au aux ce cette ces je me mon ma mes nous notre vous votre vos il elle ils elles on que qui quoi quel quelle quels quelles comment combien quand ou pourquoi peut puis doit faut a ai avons avez se sa son ses si y',
  es: 'el la los las un una unos unas de del y o no es son era ser con por para en a al lo su sus se me mi mis nos nuestro usted yo que quien cual cuales como cuanto cuantos cuando donde porque puede puedo debe hay si mas este esta estos estas',
  it: 'il lo la i gli le un uno una di del della dei delle e o non e sono era essere con per in nel nella su da dal a al si mi mio mia ci nostro che chi quale quali come quanto quando dove perche puo posso deve ho ha abbiamo se questo questa',
  pt: 'o a os as um uma de do da dos das e ou nao e sao era ser com por para em no na nos nas ao se me meu minha que quem qual quais como quanto quando onde porque pode posso deve ha isso este esta voce',
  nl: 'de het een en of niet is zijn was waren met van voor naar in op aan bij uit te ik mij mijn wij ons je u uw zij hun hij hoe wat welke wie wanneer waar waarom kan kunnen mag moet zal wordt worden heeft hebben er dat dit die deze als ook',
  sv: 'en ett den det de och eller inte ar var vara med av for till fran i pa om som jag min vi var du ni hur vad vilken vem nar varfor kan far maste ska har hade att',
  da: 'en et den det de og eller ikke er var vaere med af for til fra i pa om som jeg min vi vores du hvordan hvad hvilken hvem hvornar hvorfor kan ma skal har havde at',
  no: 'en et den det de og eller ikke er var vaere med av for til fra i pa om som jeg min vi var du hvordan hva hvilken hvem nar hvorfor kan ma skal har hadde at',
  fi: 'ja tai ei on ovat oli olla se ne tama joka jotka mita mika kuka miten milloin missa miksi voi pitaa kun jos mutta myos kuin minun',
  hu: 'a az egy es vagy nem van vannak volt lesz hogy ki mi mit melyik hogyan mikor hol miert lehet kell ha de is meg mennyi',
  ro: 'un o si sau nu este sunt era cu de la din pe pentru in se ce care cine cum cand unde cat poate trebuie daca mai acest aceasta al ale',
  tr: 've veya bir bu su o ile icin de da mi mu ne nasil neden kim hangi kac var yok olarak gibi daha cok degil',
  ru: 'и или не в во на с со к ко по за из от до для о об у при под над это этот эта эти что кто какой какая какие каких как когда где куда почему зачем сколько можно нужно ли мне меня мой мы нас вы вам ваш он она они его ее их я есть быть был если то же бы чтобы так',
  uk: 'і й або не в у на з із до за від для про при це цей ця ці що хто який яка які як коли де чому скільки можна чи мені мій ми ви він вона вони є якщо та щоб',
  bg: 'и или не в във на с със към по за от до при това този тази тези какво кой коя кои как кога къде защо колко може ли ми ние вие той тя те е са ако че да се',
  ja: 'の は が を に へ と も で から まで より や か です ます する した して いる ある この その これ それ 何 どの どう どこ いつ なぜ ください こと よう',
  zh: '的 了 是 在 我 你 您 他 她 我们 你们 他们 有 和 或 与 不 吗 呢 吧 就 也 都 这 那 什么 怎么 如何 哪 哪些 哪个 哪里 谁 几 多少 为什么 可以 能 要 会 请 个 一个 把 被 对 从 到 为 多久',
  ko: '은 는 이 가 을 를 의 에 에서 로 으로 와 과 도 만 그 이것 무엇 어떻게 언제 어디 왜 누구 있나요 하나요 입니까',
};

const SETS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(WORDS).map(([language, words]) => [language, new Set(words.split(' '))]),
);
const UNSPACED = ['ja', 'zh', 'ko'];
const ALL: ReadonlySet<string> = new Set([...SETS.values()].flatMap((words) => [...words]));

/** @param languages whose words count, by default all. Function words of Chinese, Japanese and Korean always count, because they are no words of other languages. */
export function isFunctionWord(folded: string, languages: readonly string[] = []): boolean {
  if (!ALL.has(folded)) return false;
  return (
    languages.length === 0 || [...languages, ...UNSPACED].some((language) => SETS.get(language)?.has(folded) === true)
  );
}

/** Texts with fewer are forms or tables. */
const MIN_FUNCTION_WORDS = 5;
/** Words of a document from which its language is detected. */
export const WORDS_TO_DETECT = 600;

/** The language of the words, by its function words; null if it cannot be detected. Chinese, Japanese and Thai need no detection. */
export function detectLanguage(words: Iterable<string>): string | null {
  const found = new Map<string, number>();
  for (const word of words) {
    if (!ALL.has(word)) continue;
    for (const [language, set] of SETS) if (set.has(word)) found.set(language, (found.get(language) ?? 0) + 1);
  }
  const [best] = [...found].sort(([, left], [, right]) => right - left);
  return best && best[1] >= MIN_FUNCTION_WORDS ? best[0] : null;
}
