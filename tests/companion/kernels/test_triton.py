"""The Triton kernels: in the interpreter, compiled for a GPU that need not be there, and on one."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from packaging.version import Version
from torch._subclasses import FakeTensorMode

from companion.kernels import tiled_attention, triton_attention
from companion.kernels.gpu import backward_op, forward_op
from companion.nn import scaled_dot_product_attention

INTERPRETED = Path(__file__).with_name("interpreted.py")
ROOT = Path(__file__).parents[3]
CACHE = ROOT / "_build" / "triton"  # by the kernels' source, so that it is compiled when it changes

needs_triton = pytest.mark.skipif(sys.platform != "linux", reason="Triton is made for Linux")
# Triton 3.2 compiles the kernels, too, called in its own way, but spills more in float32.
needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or Version(version("triton")) < Version("3.4"),
    reason="reads what the compiler of Triton 3.4 and later makes",
)
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def run(*arguments, **environment) -> subprocess.CompletedProcess:
    """A Python of its own, with these variables."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **environment}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.long
@needs_triton
def test_the_kernels_in_the_interpreter():
    done = run(INTERPRETED, TRITON_INTERPRET="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["14"]


COMPILE = """
import json
import re
import subprocess
import sys
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from companion.kernels.triton_backward import (
    backward_settings, grad_key_value_kernel, grad_query_kernel
)
from companion.kernels.triton_forward import forward_kernel, forward_settings, narrower

def compiled(dtype, width, block_size, capability, room):
    dtype = getattr(torch, dtype)
    element = {torch.bfloat16: "*bf16", torch.float32: "*fp32"}[dtype]
    for_query, for_key_value = backward_settings(dtype, width)
    for kernel, settings in (
        (forward_kernel, forward_settings(dtype, width) | {"BLOCK_T": block_size}),
        (grad_query_kernel, for_query),
        (grad_key_value_kernel, for_key_value),
    ):
        built, smaller = None, 0
        while built is None or built.metadata.shared > room:
            if built is not None:
                settings, smaller = narrower(settings), smaller + 1
            built = build(kernel, dtype, width, element, settings, capability)
        open(sys.argv[1], "wb").write(built.asm["cubin"])
        tool = [triton.knobs.nvidia.cuobjdump.path, "--dump-resource-usage", sys.argv[1]]
        usage = subprocess.run(tool, capture_output=True, text=True, check=True).stdout
        yield {
            "kernel": kernel.fn.__name__,
            "smaller": smaller,
            "stack": int(re.search(r"STACK:(\\d+)", usage)[1]),
            "wgmma": "wgmma.mma_async" in built.asm["ptx"],
            "copies": "cp.async.c" in built.asm["ptx"],
        }

def build(kernel, dtype, width, element, settings, capability):
    names = kernel.arg_names
    options = {name: settings[name] for name in ("num_warps", "num_stages")}
    constants = dict.fromkeys(("d_k", "d_v", "D_K", "D_V"), width) | dict(CAUSAL=True)
    constants |= {name: settings[name] for name in ("BLOCK_T", "BLOCK_S")}
    types = {"T": "i32", "S": "i32", "scale": "fp32", "log_sum_exp": "*fp32", "delta": "*fp32"}
    types |= dict.fromkeys(constants, "constexpr")
    source = ASTSource(
        kernel,
        signature={name: types.get(name, element) for name in names},
        constexprs={(names.index(name),): value for name, value in constants.items()},
        attrs={(i,): [["tt.divisibility", 16]] for i in range(names.index("scale"))},
    )
    return compile(source, target=GPUTarget("cuda", capability, 32), options=options)

for head in json.loads(sys.argv[2]):
    print(json.dumps([*compiled(*head)]))
"""
# Compute capability and shared memory of a program there, from the CUDA programming guide.
L4, A100, H100 = (89, 99 * 1024), (80, 163 * 1024), (90, 227 * 1024)
# dtype, width, block_size, capability, shared memory
HEADS = (
    ("bfloat16", 64, 128, *H100),
    ("bfloat16", 128, 128, *H100),
    ("bfloat16", 256, 128, *H100),
    ("float32", 64, 128, *H100),
    ("float32", 128, 32, *H100),
)
SMALLER = (("bfloat16", 256, 128, *L4), ("bfloat16", 256, 128, *A100))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> dict[tuple, list[dict]]:
    """What the three kernels take, compiled by one process."""
    folder = tmp_path_factory.mktemp("compiled")
    environment = {"TRITON_CACHE_DIR": str(CACHE), "TRITON_INTERPRET": "0"}
    heads = HEADS + SMALLER
    done = run("-c", COMPILE, folder / "kernel.cubin", json.dumps(heads), **environment)
    assert done.returncode == 0, done.stderr
    return dict(zip(heads, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("head", HEADS)
def test_the_kernels_compile_for_a_hopper_gpu(compiled, head):
    """With asynchronous copies, the tensor cores' instruction, and next to nothing spilled."""
    kernels, (dtype, width, *_) = compiled[head], head
    assert len(kernels) == 3
    for used in kernels:
        assert used["smaller"] == 0, used  # the tiles chosen for it fit
        # Bytes of registers kept in memory: the Triton of torch 2.15 spills eight in one kernel.
        assert used["stack"] <= 32, used
        assert used["copies"], used
        # which multiplies at least 64 rows: larger tiles than wide heads leave room for
        assert used["wgmma"] or width > 128 or (dtype, width) == ("float32", 128), used


@pytest.mark.long
@needs_compiler
def test_other_gpus_get_smaller_tiles_where_those_do_not_fit(compiled):
    on_l4, on_a100 = ([used["smaller"] for used in compiled[head]] for head in SMALLER)
    assert on_l4 == [2, 2, 1] and on_a100 == [0, 1, 0]


@needs_triton
def test_a_tile_that_does_not_fit_is_made_smaller():
    import triton

    from companion.kernels.triton_forward import launch

    tried = []

    class Kernel:
        def __getitem__(self, grid):
            return lambda *_, **settings: self.run(grid, settings)

        def run(self, grid, settings):
            tried.append((*grid, *map(settings.get, ("BLOCK_T", "BLOCK_S", "num_stages"))))
            if settings["BLOCK_T"] * settings["BLOCK_S"] > room:
                raise triton.OutOfResources(1, 0, "shared memory")

    settings = {"BLOCK_T": 128, "BLOCK_S": 64, "num_stages": 3}
    x, room = torch.randn(2, 300, 64), 64 * 64
    launch(Kernel(), (x, x, x), 300, "BLOCK_T", True, settings)
    assert tried == [(6, 128, 64, 3), (6, 128, 64, 2), (10, 64, 64, 2)]
    room = 0
    with pytest.raises(triton.OutOfResources):
        launch(Kernel(), (x, x, x), 300, "BLOCK_T", True, settings)
    assert tried[-1][1:] == (16, 16, 1)


@needs_triton
@pytest.mark.parametrize("interpreted", ["0", "1"])
def test_it_is_known_whether_the_kernels_are_interpreted(interpreted):
    """By what every release of Triton has: triton.knobs came with 3.4."""
    code = "from companion.kernels import triton_forward as t; print(t.INTERPRETED.value)"
    done = run("-c", code, TRITON_INTERPRET=interpreted)
    assert done.stdout == f"{interpreted == '1'}\n", done.stderr


def test_without_triton_there_is_a_clear_error_and_all_else_works():
    code = (
        "import sys; sys.modules['triton'] = None; import torch; "
        "from companion.kernels import tiled_attention, triton_attention; x = torch.randn(3, 4); "
        "print(tiled_attention(x, x, x).shape); triton_attention(x, x, x)"
    )
    done = run("-c", code)
    assert done.stdout == "torch.Size([3, 4])\n"
    assert (
        "ImportError: triton_attention needs Triton (pip install triton, on Linux)" in done.stderr
    )


def test_importing_the_floor_does_not_import_triton():
    done = run("-c", "import companion.kernels, sys; print('triton' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


@needs_triton
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_device_that_it_cannot_run_on(device):
    x = torch.randn(3, 4, device=device)
    with pytest.raises(ValueError, match=rf"on a CUDA device, got {device}; .* TRITON_INTERPRET"):
        triton_attention(x, x, x)


@pytest.mark.parametrize(
    "block_size, error",
    [(48, ValueError), (8, ValueError), (0, ValueError), (16.0, TypeError)],
)
def test_block_sizes_that_it_does_not_take(block_size, error):
    x = torch.randn(3, 4)
    with pytest.raises(error, match=f"block_size must be .* got {block_size}"):
        triton_attention(x, x, x, block_size=block_size)


def test_what_it_does_not_take():
    x = torch.randn(3, 4)
    with pytest.raises(TypeError, match=r"float16, bfloat16 or float32, got torch.float64"):
        triton_attention(x.double(), x.double(), x.double())
    with pytest.raises(ValueError, match=r"width d_k, got 4 and 3"):
        triton_attention(x, x[:, :3], x)


@needs_triton
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_shapes_on_a_gpu_are_known_without_one(dtype):
    with FakeTensorMode(), torch.no_grad():
        query, key, value = (
            torch.empty(3, 2, n, d, dtype=dtype, device="cuda")
            for n, d in ((100, 64), (70, 64), (70, 40))
        )
        output = triton_attention(query, key, value, is_causal=True)
        assert (output.shape, output.dtype) == ((3, 2, 100, 40), dtype)
        _, log_sum_exp = forward_op(query, key, value, True, 128)
        gradients = backward_op(query, key, value, output, log_sum_exp, output, True)
        assert [x.shape for x in gradients] == [query.shape, key.shape, value.shape]
        assert {x.dtype for x in gradients} == {dtype} and output.device == query.device


@needs_gpu
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # torch's own use
def test_it_is_compiled_within_a_function_on_a_gpu():
    inputs = [
        torch.randn(2, 3, n, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        for n in (301, 211, 211)
    ]

    def attend(query, key, value):
        return 2 * triton_attention(query, key, value, is_causal=True)

    outputs = [f(*inputs) for f in (attend, torch.compile(attend, fullgraph=True))]
    gradients = [torch.autograd.grad(output.sum(), inputs) for output in outputs]
    torch.testing.assert_close(outputs[1], outputs[0])
    torch.testing.assert_close(gradients[1], gradients[0])


@needs_gpu
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    "T, S, d_k, d_v",
    [
        (512, 512, 128, 128),
        (301, 211, 64, 40),
        (211, 301, 40, 64),
        (1, 999, 16, 5),
        (300, 400, 100, 256),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_compiled_on_a_gpu(dtype, T, S, d_k, d_v, is_causal):
    tensors = [
        torch.randn(2, 3, n, d, device="cuda").to(dtype) for n, d in ((T, d_k), (S, d_k), (S, d_v))
    ]
    inputs = [tensor.clone().requires_grad_() for tensor in tensors]
    exact_inputs = [tensor.double().requires_grad_() for tensor in tensors]
    output = triton_attention(*inputs, is_causal=is_causal)
    exact, _ = scaled_dot_product_attention(*exact_inputs, is_causal=is_causal)
    tolerance = {"rtol": 0, "atol": 16 * max(torch.finfo(dtype).eps, 1e-6)}
    torch.testing.assert_close(output.double(), exact, **tolerance)
    upstream = torch.randn_like(output)
    gradients = torch.autograd.grad(output, inputs, upstream, retain_graph=True)
    again = torch.autograd.grad(output, inputs, upstream)
    assert all(torch.equal(x, y) for x, y in zip(gradients, again, strict=True))
    exact_gradients = torch.autograd.grad(exact, exact_inputs, upstream.double())
    for gradient, expected in zip(gradients, exact_gradients, strict=True):
        scale = expected.abs().max().clamp(min=1e-3)
        torch.testing.assert_close(gradient.double() / scale, expected / scale, **tolerance)


@needs_gpu
def test_memory_on_a_gpu_grows_with_the_length():
    def peak(n):
        inputs = [
            torch.randn(4, n, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
            for _ in range(3)
        ]
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        triton_attention(*inputs, is_causal=True).sum().backward()
        return torch.cuda.max_memory_allocated() - before

    peak(64)  # the first run compiles
    assert peak(16384) < 4.5 * peak(4096)  # the weights alone would be 16 times as large


@needs_gpu
def test_tiles_on_a_gpu():
    query = torch.randn(2, 3, 301, 64, device="cuda", dtype=torch.float64)
    expected, _ = scaled_dot_product_attention(query, query, query, is_causal=True)
    torch.testing.assert_close(tiled_attention(query, query, query, is_causal=True), expected)
