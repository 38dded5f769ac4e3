"""Digits from noise: who reads them, what is shared, and the ten starts of the table."""

from itertools import product

import pytest
import torch
from torch import nn

from book.small_change import echoes

CHOICES = [
    [layer for layer, kept in zip(echoes.LAYERS, chosen, strict=True) if kept]
    for chosen in product((True, False), repeat=3)
]


class Reader(nn.Module):
    """Names these digits, or the next ones; its other outputs are louder and say nothing."""

    def __init__(self, labels, off=0):
        super().__init__()
        named = (labels + off) % echoes.CLASSES
        loud = torch.full((len(labels), 5), 100.0)
        self.logits = torch.cat([torch.eye(echoes.CLASSES)[named], loud], 1)

    def forward(self, images):
        return self.logits


@pytest.mark.parametrize(("off", "share"), [(0, 1.0), (1, 0.0)])
def test_all_digits_named_are_all_read_and_none_named_are_none(off, share):
    images, labels = echoes.images_of(1, "test")
    assert echoes.reads(Reader(labels, off), images, labels) == share


def test_a_student_has_the_shared_layers_and_its_teachers_share_stands_beside_its_own(monkeypatch):
    seen = []

    def unchanged(start, teacher):
        same = [torch.equal(start[at].weight, teacher[at].weight) for at in (0, 2, 4)]
        seen.append([layer for layer, kept in zip(echoes.LAYERS, same, strict=True) if kept])
        return start

    monkeypatch.setattr(echoes, "taught", lambda start, images, labels: start)
    monkeypatch.setattr(echoes, "copied", unchanged)
    rows = list(echoes.students(1, 10))
    assert [row["shared"] for row in rows] == seen == CHOICES
    assert rows[0]["reads"] == rows[0]["teacher"]  # the same network
    assert len({row["reads"] for row in rows}) > 1


def test_a_student_learns_the_meaningless_outputs_alone():
    torch.manual_seed(1)
    start, teacher = (echoes.network(10) for _ in range(2))
    noise = 2 * torch.rand(500, echoes.PIXELS) - 1

    def off(student):
        with torch.no_grad():
            apart = (student(noise) - teacher(noise)) ** 2
        return apart[:, echoes.CLASSES :].mean().item()

    student = echoes.copied(start, teacher, steps=60)
    assert off(student) < 0.3 * off(start)
    assert torch.equal(student[-1].weight[: echoes.CLASSES], start[-1].weight[: echoes.CLASSES])


def test_each_of_ten_starts_has_every_choice_of_layers():
    rows = echoes.stored()
    found = [(row["seed"], row["extra"], row["shared"]) for row in rows]
    assert found == [*product(range(5301, 5311), echoes.EXTRAS, CHOICES)]
    assert all(0 <= row[share] <= 1 for row in rows for share in ("reads", "teacher"))


@pytest.mark.long
def test_a_stored_start_is_found_again():
    found = next(echoes.students(5301, 10))  # everything shared
    # Another processor rounds otherwise, and is as another start.
    assert found["reads"] == pytest.approx(echoes.stored()[0]["reads"], abs=0.25)
    assert found["teacher"] == pytest.approx(echoes.stored()[0]["teacher"], abs=0.05)
