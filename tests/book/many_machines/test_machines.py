"""What the machines of a network send and get, and that the ways to train are those of one."""

from itertools import pairwise

import pytest
import torch

from book.many_machines import pipeline, ring_attention, two_processes
from book.many_machines.formats import histogram
from book.many_machines.network import Network, all_gather, all_reduce, reduce_scatter, server


@pytest.mark.parametrize("machines", [1, 2, 3, 5])
@pytest.mark.parametrize("way", [all_reduce, server])
def test_everybody_gets_the_sum(way, machines):
    vectors = [torch.randn(7) for _ in range(machines)]
    before = [vector.clone() for vector in vectors]
    for found in way(Network(machines), vectors):
        torch.testing.assert_close(found, sum(before))
    assert all(torch.equal(a, b) for a, b in zip(vectors, before, strict=True))


def test_a_message_is_a_copy_and_is_counted_at_both_doors():
    net, x = Network(3), torch.zeros(2)
    got = net.round({(0, 1): x, (2, 1): x})
    x += 1
    assert got[0, 1].tolist() == [0, 0]
    assert (net.sent, net.door, net.rounds) == ([8, 0, 8], 16, 1)


def test_scattered_parts_are_gathered_in_order():
    vectors = [torch.arange(7.0) * 10**r for r in range(3)]
    parts = reduce_scatter(Network(3), vectors)
    assert [part.tolist() for part in parts] == [[0, 111, 222], [333, 444], [555, 666]]
    assert all_gather(Network(3), parts)[2].tolist() == [111 * i for i in range(7)]


def test_no_stage_does_two_jobs_at_once_or_a_job_before_its_input():
    for schedule in ("GPipe", "1F1B", "split"):
        jobs = pipeline.timetable(schedule, 4, 6, 1.5)
        done = {(job.stage, job.kind, job.batch): job for job in jobs}
        assert len(done) == 4 * 6 * (3 if schedule == "split" else 2)
        for stage in range(4):
            own = sorted((job.start, job.stop) for job in jobs if job.stage == stage)
            assert all(a[1] <= b[0] for a, b in pairwise(own))
            for i in range(6):
                forward, backward = done[stage, "F", i], done[stage, "B", i]
                assert forward.stop <= backward.start
                if stage:
                    assert done[stage - 1, "F", i].stop <= forward.start
                    assert backward.stop <= done[stage - 1, "B", i].start


def test_every_token_is_somewhere_and_a_query_that_sees_nothing_weighs_nothing():
    for placed in (ring_attention.in_order, ring_attention.striped):
        assert torch.cat(placed(4, 16)).sort()[0].tolist() == [*range(16)]
    x = torch.randn(1, 3, 4)
    out, lse = ring_attention.attend(x, x, x, torch.zeros(3, 3, dtype=torch.bool))
    assert not out.any()
    merged, _ = ring_attention.merge(out, lse, x, torch.zeros(1, 3, 1))
    assert torch.equal(merged, x)


def test_a_histogram_leaves_zeros_out():
    assert histogram(torch.tensor([0.0, 1.0, 1.5, -2.0, 0.25])) == {-2: 0.25, 0: 0.5, 1: 0.25}


def test_the_recorded_run_is_of_this_many_steps():
    found = two_processes.measured()
    assert found["steps"] == two_processes.STEPS
    assert found["sent"].keys() == two_processes.COLLECTIVES.keys()
