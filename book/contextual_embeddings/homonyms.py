"""Sentences of the book's language about a word with two senses, by halves of its cue words."""

from dataclasses import dataclass

from companion.data.homonyms import sentence_about
from companion.data.lexicon import HOMONYMS
from companion.data.sampling import seeded
from companion.validation import require_choice, require_not_negative


@dataclass(frozen=True)
class HomonymSentence:
    """The words of a sentence with a homonym, its position from 0, and its sense.

    The sense, 0 or 1, is the place in `HOMONYMS`.
    """

    words: tuple[str, ...]
    position: int
    sense: int

    @property
    def homonym(self) -> str:
        return self.words[self.position]


def cue_halves(homonym: str, seed: int) -> tuple[tuple, tuple]:
    """Two halves of a homonym's cue words: each has four words of sense 0 and four of sense 1.

    What is fitted on sentences of one half is tested on the other, so that it cannot live on
    remembered cue words. The seed decides which words are in which half.

    Raises:
        ValueError: the word is no homonym.
    """
    require_choice("homonym", homonym, HOMONYMS)
    rng = seeded(f"cue halves of {homonym}", seed)
    shuffled = [rng.sample(cues, len(cues)) for cues in HOMONYMS[homonym]]
    return tuple(tuple(cues[:4]) for cues in shuffled), tuple(tuple(cues[4:]) for cues in shuffled)


def homonym_sentences(
    num_sentences: int, seed: int, *, homonym: str | None = None, half: int | None = None
) -> list[HomonymSentence]:
    """Sentences with two cue words of one sense of a homonym, either sense equally often.

    Args:
        num_sentences: how many; a sentence may occur twice.
        seed: decides the halves and what is drawn.
        homonym: one of `HOMONYMS`, or None for any.
        half: 0 or 1 to use only the cue words of that half of `cue_halves(homonym, seed)`, or None
            for all eight.

    Raises:
        ValueError: a negative number, a word that is no homonym, or another half.
        TypeError: a number or seed that is not whole.
    """
    require_not_negative(num_sentences=num_sentences)
    if half not in (None, 0, 1):
        raise ValueError(f"half is {half!r}; choose 0, 1, or None for all cue words")
    if homonym is not None:
        require_choice("homonym", homonym, HOMONYMS)
    chosen = tuple(HOMONYMS) if homonym is None else (homonym,)
    cues = {w: HOMONYMS[w] if half is None else cue_halves(w, seed)[half] for w in chosen}
    rng = seeded(f"homonyms: half {half}", seed)
    sentences = []
    for _ in range(num_sentences):
        word, sense = rng.choice(chosen), rng.randrange(2)
        words = sentence_about(word, cues[word][sense], rng)
        sentences.append(HomonymSentence(words, words.index(word), sense))
    return sentences
