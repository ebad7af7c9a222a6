export { fold } from './fold.js';
export { detectLanguage, isFunctionWord, WORDS_TO_DETECT } from './languages.js';
export { cut, lineOf, mark, quotable } from './quotation.js';
export { stemsOf, writesCompounds } from './stems.js';
export { isBlank, visibleText } from './visible.js';
export { formsOf, MAX_FORM_LENGTH, pairsOf, piecesOf, tokensOf } from './tokens.js';
