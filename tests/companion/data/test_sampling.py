from companion.data.sampling import SPLITS, part, seeded


def test_a_part_is_an_eighth_and_the_parts_are_the_whole():
    parts = {split: part(range(83), split, seeded("parts", 0)) for split in SPLITS}
    assert [len(parts[split]) for split in SPLITS] == [63, 10, 10]
    assert sorted(item for items in parts.values() for item in items) == list(range(83))
