"""The pairs, checked by rules and lists that are written here once more, from the outside."""

import re
from collections import Counter, defaultdict

import pytest

from companion.data import BOS, EOS, translation_pairs, translation_vocabulary
from companion.data.bilingual import Clause, NounPhrase, Predicate, say
from companion.data.french import CREATURES, OBJECTS
from companion.data.sampling import SPLITS

KINDS = ("plain", "ambiguous", "long")
PAIRS = {kind: translation_pairs(4000, 0, kind=kind) for kind in KINDS}
EVERY_PAIR = [pair for pairs in PAIRS.values() for pair in pairs]

# English word(s), French singular and plural; the ambiguous nouns have no plural.
MASCULINE = """cat cats chat chats, dog dogs chien chiens, horse horses cheval chevaux,
bird birds oiseau oiseaux, owl owls hibou hiboux, king kings roi rois, man men homme hommes,
book books livre livres, garden gardens jardin jardins, knife knives couteau couteaux,
hat hats chapeau chapeaux, bridge bridges pont ponts, tree trees arbre arbres"""
FEMININE = """cow cows vache vaches, mouse mice souris souris, bee bees abeille abeilles,
queen queens reine reines, woman women femme femmes, apple apples pomme pommes,
house houses maison maisons, car cars voiture voitures, letter letters lettre lettres,
key keys clé clés, star stars étoile étoiles"""
AMBIGUOUS = {  # English: the most probable translation, then the two others
    "bike": ("le vélo", "la bicyclette", "la bécane"),
    "painting": ("le tableau", "la peinture", "la toile"),
    "castle": ("le château", "la forteresse", "la citadelle"),
    "basket": ("le panier", "la corbeille", "la hotte"),
    "stone": ("la pierre", "le rocher", "le caillou"),
    "road": ("le chemin", "la route", "la voie"),
    "hill": ("la colline", "le coteau", "le tertre"),
    "prison": ("la prison", "le cachot", "le bagne"),
}
ADJECTIVES = """small petit petite petits petites, big grand grande grands grandes,
pretty joli jolie jolis jolies, old vieux vieil vieille vieux vieilles,
beautiful beau bel belle beaux belles, black noir noire noirs noires,
white blanc blanche blancs blanches, green vert verte verts vertes,
strange étrange étrange étranges étranges, heavy lourd lourde lourds lourdes"""
VERBS = """sees see voit voient, finds find trouve trouvent, draws draw dessine dessinent,
wants want veut veulent, watches watch regarde regardent, looks look cherche cherchent,
for for cherche cherchent, hears hear entend entendent, forgets forget oublie oublient"""
OTHERS = """the le la l' les du des, a un une de d', an un une de d', this ce cet cette, these ces,
my mon ma mes, his son sa ses, her son sa ses la l', him le l', them les, two deux, he il, she elle,
that qui, and et, not pas, is est, are sont, near près de d' du des, behind derrière, under sous,
with avec"""
MOTIONS = "arrived arrive arrivé, fell fall tombé, left leave parti, came come venu"


def rows(text):
    return [row.split() for row in text.replace("\n", " ").split(",")]


GENDER, PLURAL, MEANS = {}, {}, defaultdict(set)
for text, feminine in ((MASCULINE, False), (FEMININE, True)):
    for one, many, un, plusieurs in rows(text):
        GENDER[un] = GENDER[plusieurs] = feminine
        PLURAL[plusieurs] = True
        PLURAL.setdefault(un, un == plusieurs)
        MEANS[one].add(un)
        MEANS[many].add(plusieurs)
for noun, translations in AMBIGUOUS.items():
    for article, name in map(str.split, translations):
        GENDER[name], PLURAL[name] = article == "la", False
        MEANS[noun].add(name)
for first, *others in rows(ADJECTIVES) + rows(OTHERS):
    MEANS[first] |= set(others)
for third, base, singular, plural in rows(VERBS):
    MEANS[third].add(singular)
    MEANS[base] |= {singular, plural}
for past, base, participle in rows(MOTIONS):
    forms = {participle + end for end in ("", "e", "s", "es")} | {"est", "sont"}
    MEANS[past], MEANS[base] = forms, forms

ENGLISH_NOUNS = {word for text in (MASCULINE, FEMININE) for row in rows(text) for word in row[:2]}
ENGLISH_NOUNS |= set(AMBIGUOUS)
SINGULAR_OF = {row[1]: row[0] for text in (MASCULINE, FEMININE) for row in rows(text)}
ENGLISH_ADJECTIVES = {row[0] for row in rows(ADJECTIVES)}
VERB_OF = {form: row[1] for row in rows(VERBS) for form in row[:2] if row[0] != "for"}
VOWEL = re.compile(r"[aeiouéèêâ]|homme")


def noun_phrase(noun, determiner="the", **form):
    return NounPhrase(noun, determiner, **form)


@pytest.mark.parametrize(
    "subject, predicate, english, french, alignment",
    [
        (
            "he",
            Predicate("see", "her", negated=True),
            "he does not see her",
            "il ne la voit pas",
            [(0,), None, (4,), (3,), (2,)],
        ),
        (
            "she",
            Predicate("hear", "him", negated=True),
            "she does not hear him",
            "elle ne l' entend pas",
            [(0,), None, (4,), (3,), (2,)],
        ),
        (
            (noun_phrase("man", "a", before="old", after="strange"),),
            Predicate("look for", noun_phrase("key", "his"), negated=True),
            "an old strange man does not look for his key",
            "un vieil homme étrange ne cherche pas sa clé",
            [(0,), (1,), (3,), (2,), None, (6, 7), (5,), (8,), (9,)],
        ),
        (
            (noun_phrase("cow"), noun_phrase("bee", "my")),
            Predicate("leave", place=("near", noun_phrase("tree"))),
            "the cow and my bee left near the tree",
            "la vache et mon abeille sont parties près de l' arbre",
            [(0,), (1,), (2,), (3,), (4,), (5,), (5,), (6,), (6,), (7,), (8,)],
        ),
        (
            (noun_phrase("cow"), noun_phrase("owl", "this")),
            Predicate("leave", negated=True, place=("near", noun_phrase("bridge"))),
            "the cow and this owl did not leave near the bridge",
            "la vache et ce hibou ne sont pas partis près du pont",
            [(0,), (1,), (2,), (3,), (4,), None, (7,), (6,), (7,), (8,), (8, 9), (10,)],
        ),
        (
            (
                noun_phrase(
                    "horse", plural=True, relative=Predicate("want", noun_phrase("star", "a"))
                ),
            ),
            Predicate("be", "beautiful", negated=True),
            "the horses that want a star are not beautiful",
            "les chevaux qui veulent une étoile ne sont pas beaux",
            [(0,), (1,), (2,), (3,), (4,), (5,), None, (6,), (7,), (8,)],
        ),
        (
            "she",
            Predicate("draw", noun_phrase("bird", "a"), negated=True),
            "she does not draw a bird",
            "elle ne dessine pas d' oiseau",
            [(0,), None, (3,), (2,), (4,), (5,)],
        ),
        (
            "she",
            Predicate("find", noun_phrase("bird", "this", before="beautiful")),
            "she finds this beautiful bird",
            "elle trouve ce bel oiseau",
            [(0,), (1,), (2,), (3,), (4,)],
        ),
        (
            "he",
            Predicate("arrive", place=("near", noun_phrase("star", plural=True, before="old"))),
            "he arrived near the old stars",
            "il est arrivé près des vieilles étoiles",
            [(0,), (1,), (1,), (2,), (2, 3), (4,), (5,)],
        ),
    ],
)
def test_sentences_worked_out_by_hand(subject, predicate, english, french, alignment):
    said = say([Clause(subject, predicate)], CREATURES | OBJECTS)
    assert said == (tuple(english.split()), tuple(french.split()), tuple(alignment))


@pytest.mark.parametrize("kind", KINDS)
def test_every_french_word_stands_for_the_words_that_it_is_aligned_with(kind):
    for pair in PAIRS[kind]:
        assert len(pair.alignment) == len(pair.target)
        for word, places in zip(pair.target, pair.alignment, strict=True):
            if places is None:
                assert word in ("ne", "n'"), pair
            else:
                for place in places:
                    assert word in MEANS[pair.source[place]], (word, pair.source[place], pair)
        spoken_for = {place for places in pair.alignment if places for place in places}
        silent = {word for i, word in enumerate(pair.source) if i not in spoken_for}
        assert silent <= {"does", "do", "did"}, pair


def test_elisions():
    before = defaultdict(set)
    for pair in EVERY_PAIR:
        for word, following in zip(pair.target, pair.target[1:], strict=False):
            before[word].add(bool(VOWEL.match(following)))
    for word in ("l'", "n'", "d'", "cet", "vieil", "bel"):
        assert before[word] == {True}, word
    for word in ("le", "la", "ne", "de", "ce", "ma", "sa"):
        assert before[word] == {False}, word


def test_beau_before_a_noun_that_begins_with_a_vowel_is_bel():
    after = {"beau": set(), "bel": set()}
    for pair in EVERY_PAIR:
        for word, following in zip(pair.target, pair.target[1:], strict=False):
            if word in after and following in GENDER:
                after[word].add(following)
    assert after["bel"] == {"homme", "oiseau", "arbre"}
    assert len(after["beau"]) > 5 and not after["beau"] & after["bel"]


def test_the_words_of_a_noun_phrase_agree():
    marks = {  # (feminine, plural) -> determiners
        (False, False): {"le", "un", "ce", "cet", "mon", "son", "du"},
        (True, False): {"la", "une", "cette", "ma", "sa"},
    }
    endings = {}
    for _, *forms in rows(ADJECTIVES):
        forms = forms if len(forms) == 4 else [forms[0], *forms[2:]]
        for form, key in zip(forms, [(0, 0), (1, 0), (0, 1), (1, 1)], strict=True):
            endings.setdefault(form, set()).add(key)
    endings["vieil"] = endings["bel"] = {(0, 0)}
    for pair in EVERY_PAIR:
        for i, noun in enumerate(pair.target):
            if noun not in GENDER:
                continue
            feminine, plural = GENDER[noun], PLURAL[noun]
            if noun == "souris":
                plural = pair.source[pair.alignment[i][0]] == "mice"
            around = [
                pair.target[j]
                for j in (i - 1, i + 1)
                if j < len(pair.target)
                and pair.target[j] in endings
                and (j < i or pair.alignment[j][0] < pair.alignment[i][0])
            ]
            for adjective in around:
                assert (feminine, plural) in endings[adjective], (noun, adjective, pair)
            determiner = pair.target[i - (2 if pair.target[i - 1] in endings else 1)]
            if plural:
                assert determiner in {"les", "ces", "mes", "ses", "deux", "des"}, pair
            elif determiner in ("mon", "son") and feminine:
                assert VOWEL.match(pair.target[i]) and pair.target[i - 1] == determiner, pair
            elif determiner not in ("l'", "de", "d'"):
                assert determiner in marks[feminine, plural], pair


def test_participles_and_predicate_adjectives_agree_with_a_pronoun():
    seen = Counter()
    for pair in PAIRS["plain"]:
        match = re.match(r"(il|elle) (?:n' )?est (?:pas )?(\S+)", " ".join(pair.target))
        if match:
            pronoun, form = match.groups()
            feminine = form[-1] == "e" and form != "étrange"
            assert form == "étrange" or feminine == (pronoun == "elle"), pair
            seen[pronoun] += 1
    assert min(seen.values()) > 100 and len(seen) == 2


def described(pair):
    """The pairs (noun, adjective before it) and (verb, noun of its object) of the source."""
    words = pair.source
    for i, word in enumerate(words):
        if word in ENGLISH_NOUNS:
            noun, j = SINGULAR_OF.get(word, word), i - 1
            while words[j] in ENGLISH_ADJECTIVES:
                yield noun, words[j]
                j -= 1
            before = words[j - 1] if words[j - 1] != "for" else words[j - 2]
            if j and before in VERB_OF:
                yield VERB_OF[before], noun


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_held_out_never_occurs_in_another_split(kind):
    splits = {s: translation_pairs(1500, 0, split=s, kind=kind) for s in SPLITS}
    trained = {pair.source for pair in splits["train"]}
    seen = {split: {d for pair in splits[split] for d in described(pair)} for split in SPLITS}
    seen["train"] |= {d for pair in PAIRS["plain"] for d in described(pair)}
    own = {split: seen[split] - seen["train"] for split in ("validation", "test")}
    assert not own["validation"] & own["test"]
    for split in own:
        assert not trained & {pair.source for pair in splits[split]}
        shares = [any(d in own[split] for d in described(pair)) for pair in splits[split]]
        # The others have theirs in "is" and an adjective, which `described` does not read.
        assert sum(shares) > 0.6 * len(shares)
        predicates = [pair for pair, has in zip(splits[split], shares, strict=True) if not has]
        assert all({"is", "are"} & set(pair.source) for pair in predicates)


def test_a_plain_sentence_has_one_translation():
    for kind in ("plain", "long"):
        assert all(pair.translations == ((pair.target, 1.0),) for pair in PAIRS[kind])


def test_ambiguous_sentences_have_three_and_are_drawn_with_their_shares():
    drawn, nouns = Counter(), Counter()
    for pair in PAIRS["ambiguous"]:
        texts = [words for words, _ in pair.translations]
        assert [share for _, share in pair.translations] == [0.4, 0.3, 0.3]
        drawn[texts.index(pair.target)] += 1
        (noun,) = set(AMBIGUOUS) & set(pair.source)
        nouns[noun] += 1
        for text, translation in zip(texts, AMBIGUOUS[noun], strict=True):
            assert translation.split()[1] in text
    assert len(nouns) == 8 and min(nouns.values()) > 200
    for place, share in enumerate((0.4, 0.3, 0.3)):
        assert drawn[place] / drawn.total() == pytest.approx(share, abs=0.03)


def greedy(translations):
    """The words that are most probable one at a time, given those before."""
    prefix = ()
    while True:
        following = Counter()
        for words, probability in translations:
            if words[: len(prefix)] == prefix:
                following[words[len(prefix)] if len(words) > len(prefix) else EOS] += probability
        word = max(following, key=following.get)
        if word == EOS:
            return prefix
        prefix = (*prefix, word)


def test_greedy_decoding_of_an_ambiguous_sentence_misses_the_most_probable_one():
    for pair in PAIRS["ambiguous"]:
        best = max(pair.translations, key=lambda translation: translation[1])[0]
        found = greedy(pair.translations)
        assert found != best and found in [words for words, _ in pair.translations]
    assert all(greedy(pair.translations) == pair.target for pair in PAIRS["plain"])


def test_long_sentences_are_two_plain_ones():
    means = {kind: sum(len(p.source) for p in PAIRS[kind]) / len(PAIRS[kind]) for kind in KINDS}
    assert means["long"] > 1.9 * means["plain"]
    assert all("and" in pair.source and "et" in pair.target for pair in PAIRS["long"])


def test_the_vocabulary_has_the_words_of_both_languages_and_no_others():
    vocabulary = translation_vocabulary()
    assert (vocabulary.id(BOS), vocabulary.id(EOS)) == (4, 5)
    seen = {
        word
        for pair in EVERY_PAIR
        for words in (pair.source, *(words for words, _ in pair.translations))
        for word in words
    }
    assert seen == set(vocabulary.words[6:])


def test_a_seed_fixes_the_pairs_on_every_machine():
    assert [(" ".join(pair.source), " ".join(pair.target)) for pair in translation_pairs(2, 0)] == [
        ("these old dogs are pretty", "ces vieux chiens sont jolis"),
        (
            "the cat that sees the pretty bird finds these strange kings",
            "le chat qui voit le joli oiseau trouve ces rois étranges",
        ),
    ]
    assert translation_pairs(40, 3) == translation_pairs(40, 3) != translation_pairs(40, 4)


def test_wrong_choices_are_named():
    with pytest.raises(ValueError, match="kind must be one of 'plain', 'ambiguous', 'long'"):
        translation_pairs(3, 0, kind="hard")
    with pytest.raises(ValueError, match="split must be one of 'train', 'validation', 'test'"):
        translation_pairs(3, 0, split="dev")
    with pytest.raises(TypeError, match=r"num_sentences must be an int, got 2\.0"):
        translation_pairs(2.0, 0)
    with pytest.raises(TypeError, match="seed is None"):
        translation_pairs(2, None)
