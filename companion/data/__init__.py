"""What the models learn from."""

from book.contextual_embeddings.senses import SENSES
from book.demands import TOPICS, Demand, demands, demonstrations, passes, topic_words
from book.embeddings.byte_pairs import apply_bpe, learn_bpe
from book.embeddings.english_pairs import ENGLISH_PAIRS
from companion.data.batching import batches, padded, windows
from companion.data.chaos import lorenz, lorenz_derivative, lorenz_path
from companion.data.digits import digits, same_different, shifted
from companion.data.homonyms import HomonymSentence, cue_halves, homonym_sentences
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
from companion.data.translation import (
    TranslationPair,
    translation_pairs,
    translation_vocabulary,
)
from companion.data.vocabulary import BOS, CLS, EOS, MASK, PAD, SEP, SPECIAL_TOKENS, Vocabulary

__all__ = [
    "ACTORS",
    "ADJECTIVES",
    "ANIMALS",
    "BOS",
    "CLS",
    "ENGLISH_PAIRS",
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
    "SENSES",
    "SEP",
    "SPECIAL_TOKENS",
    "SPLITS",
    "TEMPLATES",
    "TENSE_PAIRS",
    "THINGS",
    "TOPICS",
    "TRANSITIVE_VERBS",
    "VEHICLES",
    "WORDS",
    "BPETokenizer",
    "CharTokenizer",
    "Demand",
    "HomonymSentence",
    "PronounSentence",
    "SeriesSplit",
    "TransitiveSentence",
    "TranslationPair",
    "Vocabulary",
    "apply_bpe",
    "batches",
    "corpus",
    "cue_halves",
    "demands",
    "demonstrations",
    "digits",
    "homonym_sentences",
    "is_sentence",
    "learn_bpe",
    "lorenz",
    "lorenz_derivative",
    "lorenz_path",
    "padded",
    "passes",
    "pronoun_sentence",
    "pronoun_sentences",
    "same_different",
    "sentence_probability",
    "series_windows",
    "shifted",
    "split_series",
    "standard_library_text",
    "topic_words",
    "translation_pairs",
    "translation_vocabulary",
    "who_did_it_sentences",
    "windows",
]
