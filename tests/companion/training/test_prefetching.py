"""Batches on their way to the device, in parts."""

from collections import OrderedDict, UserDict, defaultdict
from functools import partial
from typing import NamedTuple

import pytest
import torch

from companion.training.prefetching import Prefetcher

ROWS = torch.arange(14).view(7, 2)


def test_a_batch_that_is_not_split_is_left_as_it_is():
    (batch,) = Prefetcher(lambda step: {"rows": ROWS + step, "name": "b"}, ROWS.device, 9)(3)
    assert batch["name"] == "b"
    assert torch.equal(batch["rows"], ROWS + 3)


@pytest.mark.parametrize(("parts", "num_processes"), [(3, 1), (1, 3), (2, 3), (1, 7)])
def test_the_parts_of_all_processes_are_the_batch(parts, num_processes):
    class Pair(NamedTuple):
        rows: torch.Tensor
        others: list

    def batches(step):
        return Pair(ROWS, [ROWS + 100])

    found = []
    for rank in range(num_processes):
        found += Prefetcher(batches, ROWS.device, 9, parts, rank, num_processes)(1)
    assert len(found) == parts * num_processes
    sizes = [len(part.rows) for part in found]
    assert max(sizes) - min(sizes) <= 1
    assert torch.equal(torch.cat([part.rows for part in found]), ROWS)
    assert torch.equal(torch.cat([part.others[0] for part in found]), ROWS + 100)


@pytest.mark.parametrize("kind", [UserDict, partial(defaultdict, list), OrderedDict])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_dictionary_may_be_of_another_kind(kind, parts):
    """transformers' collators give a UserDict."""
    batch = kind({"rows": ROWS, "name": "b"})
    found = Prefetcher(lambda step: batch, torch.device("meta"), 1, parts)(1)
    assert [type(part) for part in found] == [type(batch)] * parts
    assert sum(len(part["rows"]) for part in found) == 7
    assert all(part["rows"].is_meta and part["name"] == "b" for part in found)
    assert batch["rows"] is ROWS


def test_tensors_with_other_numbers_of_rows_are_not_split():
    prefetcher = Prefetcher(lambda step: (ROWS, ROWS[:5]), ROWS.device, 9, accumulate=2)
    with pytest.raises(ValueError, match=r"tensors with \[5, 7\] rows"):
        prefetcher(1)
    prefetcher = Prefetcher(lambda step: (ROWS, ROWS.sum()), ROWS.device, 9, accumulate=2)
    with pytest.raises(ValueError, match=r"tensors with \[0, 7\] rows"):
        prefetcher(1)


def recorded(device):
    """A prefetcher, and the list of the steps that it asked for."""
    asked = []
    return Prefetcher(lambda step: asked.append(step) or ROWS, torch.device(device), 3), asked


def test_on_another_device_the_next_batch_is_made_ahead_and_once():
    prefetcher, asked = recorded("meta")  # a device that every machine has
    for batch in prefetcher(1):
        assert batch.device.type == "meta"
        assert asked == [1]
    assert asked == [1, 2]
    list(prefetcher(2)), list(prefetcher(3))
    assert asked == [1, 2, 3]  # there is no step 4


def test_on_a_cpu_nothing_is_made_ahead():
    prefetcher, asked = recorded("cpu")
    list(prefetcher(1))
    assert asked == [1]
