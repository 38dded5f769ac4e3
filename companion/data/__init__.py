"""What the models learn from."""

from companion.data.batching import batches, padded, windows
from companion.data.chaos import lorenz, lorenz_path
from companion.data.digits import digits, shifted
from companion.data.language import corpus
from companion.data.lexicon import WORDS
from companion.data.membership import is_sentence, sentence_probability
from companion.data.sampling import SPLITS
from companion.data.series import SeriesSplit, series_windows, split_series
from companion.data.standard_library import standard_library_text
from companion.data.tokenizers import BPETokenizer, CharTokenizer
from companion.data.translation import TranslationPair, translation_pairs, translation_vocabulary
from companion.data.vocabulary import BOS, CLS, EOS, MASK, PAD, SEP, SPECIAL_TOKENS, Vocabulary

__all__ = [
    "BOS",
    "CLS",
    "EOS",
    "MASK",
    "PAD",
    "SEP",
    "SPECIAL_TOKENS",
    "SPLITS",
    "WORDS",
    "BPETokenizer",
    "CharTokenizer",
    "SeriesSplit",
    "TranslationPair",
    "Vocabulary",
    "batches",
    "corpus",
    "digits",
    "is_sentence",
    "lorenz",
    "lorenz_path",
    "padded",
    "sentence_probability",
    "series_windows",
    "shifted",
    "split_series",
    "standard_library_text",
    "translation_pairs",
    "translation_vocabulary",
    "windows",
]
