"""The words of the translation grammar, English with French, and how French words change together.

Every list is ordered, so that a seeded draw from it is the same on every machine.
"""

from typing import NamedTuple


class Noun(NamedTuple):
    """A French noun; `feminine` decides the forms of the words that go with it."""

    singular: str
    feminine: bool
    plural: str | None = None  # where the grammar has no use for it


class Adjective(NamedTuple):
    """The French forms of an adjective."""

    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str
    before_vowel: str = ""  # of the masculine singular, where it differs

    def agreeing(self, feminine: bool, plural: bool) -> str:
        return self[feminine + 2 * plural]

    def before(self, noun: Noun, plural: bool) -> str:
        if self.before_vowel and not noun.feminine and not plural and starts_with_vowel(noun[0]):
            return self.before_vowel
        return self.agreeing(noun.feminine, plural)


class Verb(NamedTuple):
    """A verb with an object: English "sees", "see", French "voit", "voient"."""

    third: str
    base: str
    singular: str
    plural: str


class Motion(NamedTuple):
    """A verb whose French past is made with "être": its participle agrees with the subject."""

    past: str
    base: str
    participle: str


# English -> French.
CREATURES = {
    "cat": Noun("chat", False, "chats"),
    "dog": Noun("chien", False, "chiens"),
    "horse": Noun("cheval", False, "chevaux"),
    "bird": Noun("oiseau", False, "oiseaux"),
    "owl": Noun("hibou", False, "hiboux"),
    "king": Noun("roi", False, "rois"),
    "man": Noun("homme", False, "hommes"),
    "cow": Noun("vache", True, "vaches"),
    "mouse": Noun("souris", True, "souris"),
    "bee": Noun("abeille", True, "abeilles"),
    "queen": Noun("reine", True, "reines"),
    "woman": Noun("femme", True, "femmes"),
}
OBJECTS = {
    "book": Noun("livre", False, "livres"),
    "garden": Noun("jardin", False, "jardins"),
    "knife": Noun("couteau", False, "couteaux"),
    "hat": Noun("chapeau", False, "chapeaux"),
    "bridge": Noun("pont", False, "ponts"),
    "tree": Noun("arbre", False, "arbres"),
    "apple": Noun("pomme", True, "pommes"),
    "house": Noun("maison", True, "maisons"),
    "car": Noun("voiture", True, "voitures"),
    "letter": Noun("lettre", True, "lettres"),
    "key": Noun("clé", True, "clés"),
    "star": Noun("étoile", True, "étoiles"),
}
# One noun of one gender and two of the other, all three right; in the order of SHARES.
SYNONYMS = {
    "bike": (Noun("vélo", False), Noun("bicyclette", True), Noun("bécane", True)),
    "painting": (Noun("tableau", False), Noun("peinture", True), Noun("toile", True)),
    "castle": (Noun("château", False), Noun("forteresse", True), Noun("citadelle", True)),
    "basket": (Noun("panier", False), Noun("corbeille", True), Noun("hotte", True)),
    "stone": (Noun("pierre", True), Noun("rocher", False), Noun("caillou", False)),
    "road": (Noun("chemin", False), Noun("route", True), Noun("voie", True)),
    "hill": (Noun("colline", True), Noun("coteau", False), Noun("tertre", False)),
    "prison": (Noun("prison", True), Noun("cachot", False), Noun("bagne", False)),
}
SHARES = (0.4, 0.3, 0.3)
IRREGULAR = {"man": "men", "woman": "women", "mouse": "mice", "knife": "knives"}
PLURALS = {noun: IRREGULAR.get(noun, f"{noun}s") for noun in (*CREATURES, *OBJECTS)}

BEFORE = {  # adjectives that French, too, puts before the noun
    "small": Adjective("petit", "petite", "petits", "petites"),
    "big": Adjective("grand", "grande", "grands", "grandes"),
    "pretty": Adjective("joli", "jolie", "jolis", "jolies"),
    "old": Adjective("vieux", "vieille", "vieux", "vieilles", "vieil"),
    "beautiful": Adjective("beau", "belle", "beaux", "belles", "bel"),
}
AFTER = {  # and those that it puts after
    "black": Adjective("noir", "noire", "noirs", "noires"),
    "white": Adjective("blanc", "blanche", "blancs", "blanches"),
    "green": Adjective("vert", "verte", "verts", "vertes"),
    "strange": Adjective("étrange", "étrange", "étranges", "étranges"),
    "heavy": Adjective("lourd", "lourde", "lourds", "lourdes"),
}
ADJECTIVES = BEFORE | AFTER
# English -> masculine, feminine; and plural.
SINGULAR_DETERMINERS = {
    "the": ("le", "la"),
    "a": ("un", "une"),
    "this": ("ce", "cette"),
    "my": ("mon", "ma"),
    "his": ("son", "sa"),
    "her": ("son", "sa"),
}
PLURAL_DETERMINERS = {
    "the": "les",
    "these": "ces",
    "my": "mes",
    "his": "ses",
    "her": "ses",
    "two": "deux",
}
VERBS = {
    verb.base: verb
    for verb in (
        Verb("sees", "see", "voit", "voient"),
        Verb("finds", "find", "trouve", "trouvent"),
        Verb("draws", "draw", "dessine", "dessinent"),
        Verb("wants", "want", "veut", "veulent"),
        Verb("watches", "watch", "regarde", "regardent"),
        Verb("looks for", "look for", "cherche", "cherchent"),
        Verb("hears", "hear", "entend", "entendent"),
        Verb("forgets", "forget", "oublie", "oublient"),
    )
}
MOTIONS = {
    motion.base: motion
    for motion in (
        Motion("arrived", "arrive", "arrivé"),
        Motion("fell", "fall", "tombé"),
        Motion("left", "leave", "parti"),
        Motion("came", "come", "venu"),
    )
}
SUBJECTS = {"he": "il", "she": "elle"}
CLITICS = {"him": "le", "her": "la", "them": "les"}  # pronoun objects: they go before the verb
PLACES = {"near": ("près", "de"), "behind": ("derrière",), "under": ("sous",), "with": ("avec",)}

ELISIONS = {  # a word -> what stands for it before a vowel
    "le": "l'",
    "la": "l'",
    "ne": "n'",
    "de": "d'",
    "ce": "cet",
    "ma": "mon",
    "sa": "son",
}
CONTRACTIONS = {("de", "le"): "du", ("de", "les"): "des"}


def starts_with_vowel(word: str) -> bool:
    """Whether French elides before the word; the h of "homme" is silent, that of "hibou" is not."""
    return word[:1] in tuple("aeiouéèêâ") or word in ("homme", "hommes")
