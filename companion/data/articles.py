"""The English indefinite article."""

# Words of the lexicon whose first letter misleads: the article follows the sound.
AN_BEFORE = ("heir",)
A_BEFORE = ("ewe", "uniform")


def with_article(phrase: str) -> str:
    """`phrase` with "a" or "an" before it: "a dog", "an empress", "an heir", "a ewe"."""
    first = phrase.split()[0]
    vowel = first in AN_BEFORE or (first[0] in "aeiou" and first not in A_BEFORE)
    return f"{'an' if vowel else 'a'} {phrase}"
