// @ts-check
// Text to tokens as BERT's uncased models read it, equal to the `tokenizers` library: clean, small
// letters without accents, words and marks apart, and each word in the longest pieces that there are.

const SPECIAL = /(\[PAD\]|\[UNK\]|\[CLS\]|\[SEP\]|\[MASK\])/;
const UNWANTED = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu; // but tab and the ends of lines, which are spaces
const IDEOGRAPH =
  /[\u4E00-\u9FFF\u3400-\u4DBF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\uF900-\uFAFF\u{2F800}-\u{2FA1F}]/gu;
const MARK = /([\p{P}$+<=>^`|~])/gu; // the other signs of ASCII are punctuation to Unicode, too
const LONGEST_WORD = 100;

/** The words of a text, every mark and every ideograph by itself. */
function separated(text) {
  const clean = text
    .replace(/[\t\n\r]/g, " ")
    .replace(UNWANTED, "")
    .replace(IDEOGRAPH, " $& ")
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "");
  const small = Array.from(clean, (character) => character.toLowerCase()).join(""); // Σ is σ at a word's end, too
  return small
    .replace(MARK, " $1 ")
    .split(/\p{White_Space}+/u)
    .filter(Boolean);
}

/** The longest piece from the left, then from where it ends; "[UNK]" where there is none. */
function pieces(word, ids) {
  const letters = Array.from(word);
  if (letters.length > LONGEST_WORD) return ["[UNK]"];
  const found = [];
  for (let start = 0; start < letters.length;) {
    let end = letters.length,
      piece;
    do piece = (start ? "##" : "") + letters.slice(start, end).join("");
    while (!ids.has(piece) && --end > start);
    if (end === start) return ["[UNK]"];
    found.push(piece);
    start = end;
  }
  return found;
}

/** The tokens of a text between [CLS] and [SEP]; `ids` is a Map from token to id. */
export const tokenize = (text, ids) => [
  "[CLS]",
  ...text
    .split(SPECIAL)
    .flatMap((part) =>
      SPECIAL.test(part) ? [part] : separated(part).flatMap((word) => pieces(word, ids)),
    ),
  "[SEP]",
];
