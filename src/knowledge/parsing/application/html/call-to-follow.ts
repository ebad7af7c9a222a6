import { wordSet } from '../formats/clean-text.js';

/** A text of these words and fillers is a call to follow the link. */
const CALLS = wordSet(
  'here click download downloads more this link find hier klicken herunterladen mehr weiterlesen diese dieser ' +
    'diesem ici cliquez télécharger plus aquí clic descargar más qui здесь тут скачать подробнее ссылка ссылке 여기 ' +
    '다운로드',
);
const FILLERS = wordSet(
  'find see read get it them the a an our us on at in to for and is page site website document file form pdf ' +
    'details info information learn view visit open go now out seite auf sie zum zur erfahren lesen finden link ' +
    'dokument datei cette savoir lire en page haga leer по читать нажмите',
);
/** A short text that starts or ends with these is a call to follow the link, whatever its other words are. */
const FIRST = /^(?:download|click|apply|register|sign up|télécharger|descargar|скачать)\b/i;
const LAST = /\b(?:here|hier|ici|aquí|здесь)$/i;
const UNSPACED = /こちら|ここ|这里|此处|點擊|点击|下载|下載|ダウンロード/;

/** Whether a link's text, such as "click here", does not describe its target. */
export function isCallToFollow(text: string): boolean {
  const plain = text.replace(/[^\p{L}\p{N}\s]+/gu, ' ').trim();
  if (plain.length > 60) return false;
  const words = plain.toLowerCase().split(/\s+/);
  if (words.every((word) => CALLS.has(word) || FILLERS.has(word)) && words.some((word) => CALLS.has(word))) return true;
  return (words.length <= 7 && (FIRST.test(plain) || LAST.test(plain))) || (plain.length <= 12 && UNSPACED.test(plain));
}
