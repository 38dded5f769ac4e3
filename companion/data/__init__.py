"""What the models learn from."""

from companion.data.batching import batches, padded, windows
from companion.data.chaos import lorenz, lorenz_path
from companion.data.digits import digits, shifted
from companion.data.language import corpus
from companion.data.lexicon import (
    ADJECTIVES,
    ANIMALS,
    FOODS,
    GENDER_PAIRS,
    HOMONYMS,
    MATES,
    NUMBER_PAIRS,
    PLACES,
    PRONOUN_VERBS,
    TENSE_PAIRS,
    THINGS,
    TRANSITIVE_VERBS,
    VEHICLES,
    WORDS,
)
from companion.data.membership import is_sentence, sentence_probability
from companion.data.pronouns import (
    NOUN_CLASS,
    TEMPLATES,
    PronounSentence,
    pronoun_sentence,
    pronoun_sentences,
)
from companion.data.relations import ACTORS, TransitiveSentence, who_did_it_sentences
from companion.data.sampling import SPLITS
from companion.data.series import SeriesSplit, series_windows, split_series
from companion.data.standard_library import standard_library_text
from companion.data.tokenizers import BPETokenizer, CharTokenizer
from companion.data.translation import TranslationPair, translation_pairs, translation_vocabulary
from companion.data.vocabulary import BOS, CLS, EOS, MASK, PAD, SEP, SPECIAL_TOKENS, Vocabulary

__all__ = [
    "ACTORS",
    "ADJECTIVES",
    "ANIMALS",
    "BOS",
    "CLS",
    "EOS",
    "FOODS",
    "GENDER_PAIRS",
    "HOMONYMS",
    "MASK",
    "MATES",
    "NOUN_CLASS",
    "NUMBER_PAIRS",
    "PAD",
    "PLACES",
    "PRONOUN_VERBS",
    "SEP",
    "SPECIAL_TOKENS",
    "SPLITS",
    "TEMPLATES",
    "TENSE_PAIRS",
    "THINGS",
    "TRANSITIVE_VERBS",
    "VEHICLES",
    "WORDS",
    "BPETokenizer",
    "CharTokenizer",
    "PronounSentence",
    "SeriesSplit",
    "TransitiveSentence",
    "TranslationPair",
    "Vocabulary",
    "batches",
    "corpus",
    "digits",
    "is_sentence",
    "lorenz",
    "lorenz_path",
    "padded",
    "pronoun_sentence",
    "pronoun_sentences",
    "sentence_probability",
    "series_windows",
    "shifted",
    "split_series",
    "standard_library_text",
    "translation_pairs",
    "translation_vocabulary",
    "who_did_it_sentences",
    "windows",
]
