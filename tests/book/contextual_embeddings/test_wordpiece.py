"""WordPiece as the page does it, held to the `tokenizers` library on a thousand texts."""

import random

import pytest
from tokenizers import Tokenizer

from companion.pretrained.packages import packaged
from tests.book.reading import globally

pytestmark = pytest.mark.browser

WORDPIECE = globally("wordpiece.js")
# Accents, digits, marks, scripts, emoji, and what is taken out or stands for a space.
LATIN = (
    "the bank was overgrown with reeds naïve Zürich ÅNGSTRÖM İstanbul straße ﬁne résumé coöperate"
)
LATIN += " Ⅷ x² ½ ŒUVRE façade Đặng ǅ unbelievably electroencephalography don't e-mail@host.org"
DIGITS = "3.14 1,000,000 50% €20 2026-11-22 +49 1e-9 C++ a|b ~x `code` ^ <tag> $5 №7 ٣ ३"
SCRIPTS = (
    "日本語 漢字かな交じり文 한국어 Москва Ёлка ΣΊΣΥΦΟΣ λόγος العربية हिन्दी ไทย 𠮷野家 ｶﾞ Ａ１ 豈 ঢাকা"
)
EMOJI = "👍 👍🏽 👨‍👩‍👧 🏳️‍🌈 🇫🇷 ☕️ 5️⃣ (๑•̀ㅂ•́) ♥ ™ … — “quoted” «oui» ¿qué? 、。"
ODD = ["\u00a0", "\u200b", "\t", "\r\n", "\u2028", "\x07", "\ufffd", "\ufeff", "\u00ad", "\ue000"]
ODD += ["[MASK]", "[mask]", "[CLS][SEP]", "x" * 100, "y" * 101, "e\u0301", "\u0301", "\u3000", ""]
FRAGMENTS = [*" ".join((LATIN, DIGITS, SCRIPTS, EMOJI)).split(" "), *ODD]


def texts(number: int) -> list[str]:
    """Fragments drawn at random, most of them with a space between."""
    draw = random.Random(14)
    return [
        "".join(
            draw.choice(FRAGMENTS) + draw.choice(("", " ", " ", " "))
            for _ in range(draw.randint(1, 12))
        )
        for _ in range(number)
    ]


@pytest.mark.weights
def test_a_thousand_texts_have_the_tokens_of_the_library(browser):
    tokenizer = Tokenizer.from_file(str(packaged("all-MiniLM-L6-v2") / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    page = browser.new_page()
    asked = texts(1000)
    found = page.evaluate(
        f"""([texts, vocabulary]) => {{ {WORDPIECE}
        const ids = new Map(vocabulary.map((token, id) => [token, id]));
        return texts.map((text) => tokenize(text, ids)); }}""",
        [asked, [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]],
    )
    page.close()
    expected = [tokenizer.encode(text).tokens for text in asked]
    different = [
        (text, *both)
        for text, *both in zip(asked, found, expected, strict=True)
        if both[0] != both[1]
    ]
    assert different == []
    assert sum("[UNK]" in tokens for tokens in found) < 900  # they are not all unknown
