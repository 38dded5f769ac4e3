"""What the page trains with is what its text says."""

import wasmtime

from book.who_copies.figures.train_here import KERNEL


def test_the_kernel_is_its_text_assembled():
    text = KERNEL.with_suffix(".wat").read_text("utf8")
    assert KERNEL.read_bytes() == bytes(wasmtime.wat2wasm(text))
