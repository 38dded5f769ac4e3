"""The words of the generated language, grouped by their role in a sentence.

Every list is ordered, so that a seeded draw from it is the same on every machine. A content word
belongs to one list only, except the last word of each row of `GENDER_PAIRS`, which two related
pairs share. That regularity is built in: a result that rests on it (as gender analogies do) shows
what training finds when it is there, not that English is like this.
"""

# (he, she): four words private to the pair, and one that a kindred pair shares.
GENDER_PAIRS = {
    ("king", "queen"): ("throne", "crown", "kingdom", "sceptre", "palace"),
    ("emperor", "empress"): ("empire", "army", "decree", "banner", "palace"),
    ("prince", "princess"): ("heir", "tutor", "lute", "title", "castle"),
    ("duke", "duchess"): ("duchy", "manor", "carriage", "estate", "castle"),
    ("man", "woman"): ("job", "wallet", "uniform", "office", "bicycle"),
    ("boy", "girl"): ("school", "kite", "satchel", "playground", "bicycle"),
    ("father", "mother"): ("cradle", "lullaby", "stroller", "bib", "album"),
    ("grandfather", "grandmother"): ("pension", "shawl", "memoir", "clock", "album"),
    ("son", "daughter"): ("curfew", "chore", "bedtime", "allowance", "bunk"),
    ("brother", "sister"): ("quarrel", "secret", "rival", "nickname", "bunk"),
    ("uncle", "aunt"): ("postcard", "nephew", "joke", "visit", "gift"),
    ("husband", "wife"): ("wedding", "ring", "honeymoon", "mortgage", "gift"),
    ("actor", "actress"): ("stage", "script", "rehearsal", "audience", "costume"),
    ("hero", "heroine"): ("quest", "monster", "medal", "rescue", "costume"),
    ("waiter", "waitress"): ("menu", "tray", "tip", "napkin", "banquet"),
    ("host", "hostess"): ("invitation", "guest", "toast", "speech", "banquet"),
    ("wizard", "witch"): ("spell", "potion", "cauldron", "wand", "robe"),
    ("monk", "nun"): ("prayer", "chapel", "candle", "abbey", "robe"),
}
PERSONS = tuple(person for pair in GENDER_PAIRS for person in pair)
ROLE_VERBS = ("wants", "keeps", "likes", "mentions", "misses", "describes")
HIS = ("beard", "moustache", "razor", "tie")
HERS = ("dress", "necklace", "skirt", "bracelet")

# Singular: its own verb and two nouns that no other animal or vehicle has.
ANIMAL_WORDS = {
    "animal": ("moves", "cage", "zoo"),
    "cat": ("meows", "basket", "windowsill"),
    "dog": ("barks", "kennel", "leash"),
    "horse": ("neighs", "stable", "saddle"),
    "cow": ("moos", "shed", "cowbell"),
    "goat": ("bleats", "cliff", "horn"),
    "rabbit": ("hops", "burrow", "hutch"),
    "fox": ("prowls", "den", "henhouse"),
    "wolf": ("howls", "pack", "lair"),
    "bear": ("growls", "beehive", "forest"),
    "lion": ("roars", "mane", "savanna"),
    "tiger": ("lurks", "stripe", "jungle"),
    "pig": ("grunts", "sty", "trough"),
    "donkey": ("brays", "cart", "sack"),
    "pony": ("trots", "paddock", "bridle"),
    "kitten": ("purrs", "cushion", "saucer"),
    "puppy": ("whines", "slipper", "blanket"),
    "lamb": ("frolics", "ewe", "pasture"),
    "sheepdog": ("guards", "whistle", "shepherd"),
}
VEHICLE_WORDS = {
    "car": ("overtakes", "motorway", "seatbelt"),
    "truck": ("hauls", "cargo", "quarry"),
    "bus": ("halts", "terminus", "ticket"),
    "train": ("departs", "rail", "platform"),
    "van": ("delivers", "parcel", "doorstep"),
    "taxi": ("queues", "meter", "fare"),
    "tram": ("clanks", "tramline", "bell"),
    "lorry": ("unloads", "depot", "pallet"),
    "tractor": ("ploughs", "furrow", "farmer"),
    "scooter": ("zips", "helmet", "pavement"),
}
ANIMALS = tuple(ANIMAL_WORDS)
VEHICLES = tuple(VEHICLE_WORDS)
ANIMAL_VERBS = ("eats", "sleeps", "runs", "drinks", "hides", "sniffs")
ANIMAL_NOUNS = ("tail", "ear", "bone", "nest", "meal", "leg")
VEHICLE_VERBS = ("drives", "stops", "brakes", "parks", "turns", "rolls")
VEHICLE_NOUNS = ("engine", "wheel", "driver", "garage", "mirror", "axle")
NUMBER_PAIRS = {
    **{noun: noun + "s" for noun in (*ANIMALS, *VEHICLES)},
    **{"fox": "foxes", "wolf": "wolves", "pony": "ponies", "puppy": "puppies"},
    **{"bus": "buses", "lorry": "lorries"},
}
COLOURS = ("red", "blue", "green", "black", "white", "brown")
SIZES = ("big", "small", "old", "young", "pretty", "quiet")

# What an animal meets in a pronoun sentence, and the adjectives that fit exactly one class.
PLACES = (
    *("street", "road", "bridge", "path", "lane", "alley", "trail", "avenue"),
    *("tunnel", "ramp", "canyon", "valley", "pass", "square", "driveway"),
)
THINGS = ("box", "sofa", "piano", "desk", "barrel", "cupboard", "bench", "ladder", "crate", "shelf")
FOODS = (
    *("apple", "bread", "cheese", "soup", "cake", "rice"),
    *("salad", "pear", "carrot", "bean", "pizza", "plum"),
)
NOUNS = {"animal": ANIMALS, "place": PLACES, "thing": THINGS, "food": FOODS}
ADJECTIVES = {
    "animal": (
        *("tired", "hungry", "scared", "sleepy", "lazy"),
        *("sick", "bored", "nervous", "thirsty", "shy"),
    ),
    "place": (
        *("wide", "steep", "narrow", "slippery", "icy"),
        *("crowded", "rocky", "flooded", "winding", "foggy"),
    ),
    "thing": ("fragile", "bulky", "unwieldy", "breakable", "delicate"),
    "food": ("salty", "spicy", "sour", "bitter", "stale"),
}
# Base form: participle, as in "did not cross" and "was not crossed by".
PRONOUN_VERBS = {
    "place": {
        **{"cross": "crossed", "enter": "entered", "reach": "reached"},
        **{"climb": "climbed", "leave": "left"},
    },
    "thing": {
        **{"carry": "carried", "push": "pushed", "lift": "lifted"},
        **{"drag": "dragged", "hold": "held"},
    },
    "food": {"eat": "eaten", "taste": "tasted", "smell": "smelled", "want": "wanted"},
}
ACTORS = (*ANIMALS, *PERSONS)
TRANSITIVE_VERBS = ("bites", "chases", "sees", "follows", "helps", "watches", "greets", "hears")

FOOD_VERBS = ("cooks", "tastes", "serves", "orders")
DISHES = ("plate", "spoon", "dish")
MEALS = ("breakfast", "lunch", "dinner")

# (present, past): the adverb that goes with this verb alone.
TENSE_PAIRS = {
    ("walks", "walked"): "slowly",
    ("jumps", "jumped"): "high",
    ("waits", "waited"): "patiently",
    ("plays", "played"): "outside",
    ("works", "worked"): "hard",
    ("talks", "talked"): "calmly",
    ("smiles", "smiled"): "kindly",
    ("laughs", "laughed"): "loudly",
    ("dances", "danced"): "gracefully",
    ("sings", "sang"): "sweetly",
    ("swims", "swam"): "fast",
    ("falls", "fell"): "down",
}
PRESENT_ADVERBS = ("now", "today", "nowadays", "currently")
PAST_ADVERBS = ("yesterday", "once", "earlier", "recently")

# A homonym's two senses: eight cue words each, and a mate, a word that has this sense only.
HOMONYMS = {
    "bank": (
        ("loan", "cash", "account", "teller", "money", "vault", "deposit", "cheque"),
        ("reeds", "river", "mud", "shore", "water", "boat", "fisherman", "ducks"),
    ),
    "bat": (
        ("ball", "swing", "glove", "team", "player", "pitcher", "stadium", "coach"),
        ("night", "cave", "wings", "sky", "insects", "moth", "dusk", "fangs"),
    ),
    "crane": (
        ("beak", "feathers", "marsh", "eggs", "flock", "wader", "pond", "chick"),
        ("steel", "hook", "builder", "tower", "concrete", "cable", "scaffold", "girder"),
    ),
    "seal": (
        ("wax", "letter", "stamp", "envelope", "ribbon", "document", "paper", "ink"),
        ("ice", "flippers", "ocean", "whiskers", "whale", "herring", "waves", "pup"),
    ),
    "mouse": (
        ("crumb", "trap", "squeak", "hole", "attic", "barn", "owl", "seeds"),
        ("click", "screen", "keyboard", "laptop", "cursor", "computer", "plug", "file"),
    ),
    "palm": (
        ("coconut", "beach", "leaves", "tree", "desert", "island", "trunk", "oasis"),
        ("hand", "finger", "wrist", "fist", "arm", "thumb", "nail", "skin"),
    ),
}
MATES = {
    "bank": ("lender", "riverside"),
    "bat": ("racket", "pipistrelle"),
    "crane": ("stork", "hoist"),
    "seal": ("signet", "walrus"),
    "mouse": ("vole", "trackball"),
    "palm": ("fern", "knuckle"),
}
PREPOSITIONS = ("near", "beside", "with", "by", "behind", "under")

FUNCTION_WORDS = (
    *("the", "a", "an", "this", "these", "its", "their", "he", "she", "his", "her", "it"),
    *("is", "are", "was", "has", "have", "did", "not", "too", "said", "saw", "stopped"),
    *("and", "but", "because", "that", "near", "with", "by", "on", "at", "for"),
)

WORDS = tuple(
    sorted(
        {
            *FUNCTION_WORDS,
            *PERSONS,
            *(word for row in GENDER_PAIRS.values() for word in row),
            *(*ROLE_VERBS, *HIS, *HERS),
            *(word for row in ANIMAL_WORDS.values() for word in row),
            *(word for row in VEHICLE_WORDS.values() for word in row),
            *(*ANIMAL_VERBS, *ANIMAL_NOUNS, *VEHICLE_VERBS, *VEHICLE_NOUNS),
            *(word for pair in NUMBER_PAIRS.items() for word in pair),
            *(*COLOURS, *SIZES, *TRANSITIVE_VERBS, *FOOD_VERBS, *DISHES, *MEALS),
            *(word for nouns in NOUNS.values() for word in nouns),
            *(word for adjectives in ADJECTIVES.values() for word in adjectives),
            *(word for verbs in PRONOUN_VERBS.values() for pair in verbs.items() for word in pair),
            *(word for pair, adverb in TENSE_PAIRS.items() for word in (*pair, adverb)),
            *(*PRESENT_ADVERBS, *PAST_ADVERBS, *PREPOSITIONS),
            *HOMONYMS,
            *(cue for senses in HOMONYMS.values() for cues in senses for cue in cues),
            *(mate for mates in MATES.values() for mate in mates),
        }
    )
)
