"""More steps for the CNN and the ViT: what the page says of the stored runs; one found again."""

import pytest

from book.vision_transformer import steps


def test_in_every_run_all_images_help_the_vit_and_more_steps_on_a_hundred_help_it_little():
    found = steps.stored()
    assert [run["seed"] for run in found] == [701, 702, 703, 704, 705]
    for run in found:
        few, many = run["a hundred"]["ViT"]
        assert 0 < many - few < 0.06
        assert run["all"]["ViT"][0] - few > 0.12


@pytest.mark.long
@pytest.mark.parametrize("name", list(steps.NETWORKS))
def test_a_stored_run_is_found_again(name):
    found = steps.mean(name, 701, "a hundred", steps.STEPS[0])
    stored = steps.stored()[0]["a hundred"][name][0]
    # Another processor rounds otherwise: some images of the 500 change sides.
    assert found == pytest.approx(stored, abs=0.04)
