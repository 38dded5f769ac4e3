"""Pairs of English words in the same relation, for analogies asked of published vectors."""

_PAIRS = {
    "gender": "man woman, king queen, boy girl, father mother, son daughter, uncle aunt, "
    "brother sister, husband wife, prince princess, actor actress, he she, nephew niece, "
    "duke duchess, waiter waitress, hero heroine, god goddess, lord lady, groom bride, "
    "grandfather grandmother, grandson granddaughter",
    "capital": "france paris, italy rome, japan tokyo, germany berlin, russia moscow, "
    "egypt cairo, spain madrid, england london, china beijing, greece athens, austria vienna, "
    "portugal lisbon, ireland dublin, norway oslo, poland warsaw, sweden stockholm, "
    "hungary budapest, iran tehran, iraq baghdad, cuba havana",
    "nation": "france french, italy italian, japan japanese, germany german, russia russian, "
    "egypt egyptian, spain spanish, england english, china chinese, greece greek, poland polish, "
    "sweden swedish, ireland irish, norway norwegian, denmark danish, turkey turkish, "
    "hungary hungarian, austria austrian, portugal portuguese, finland finnish",
    "plural": "dog dogs, car cars, house houses, tree trees, book books, bird birds, "
    "river rivers, song songs, student students, window windows, eye eyes, hand hands, "
    "child children, foot feet, city cities, king kings, apple apples, road roads, word words, "
    "woman women",
    "past": "walk walked, play played, look looked, open opened, call called, want wanted, "
    "run ran, see saw, take took, go went, eat ate, write wrote, give gave, find found, "
    "speak spoke, begin began, think thought, come came, fall fell, sing sang",
    "comparative": "big bigger, small smaller, fast faster, slow slower, strong stronger, "
    "long longer, high higher, good better, bad worse, old older, young younger, large larger, "
    "short shorter, weak weaker, cheap cheaper, warm warmer, dark darker, rich richer, "
    "wide wider, hard harder",
    "opposite": "hot cold, big small, good bad, up down, black white, day night, left right, "
    "old new, rich poor, light dark, open closed, happy sad, strong weak, long short, high low, "
    "wet dry, early late, fast slow, inside outside, love hate",
}

# Seven relations, twenty pairs each; no word occurs twice in a relation.
ENGLISH_PAIRS = {
    relation: tuple(tuple(pair.split()) for pair in pairs.split(", "))
    for relation, pairs in _PAIRS.items()
}
