"""The Transformer that trains in the page: gradients, steps and cuts, held to PyTorch.

`attention_only.js` runs in Chromium, with its kernel in WebAssembly and without it. No two of its
sizes are equal.
"""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from playwright.sync_api import expect

from book.page.linker import linked
from book.who_copies import train_here_figure
from book.who_copies.figures.train_here import KERNEL, AttentionOnly, finished_run
from tests.book.reading import Example, close, numbers, select

pytestmark = pytest.mark.browser

MODEL = Path(__file__).parents[3] / "book" / "who_copies" / "attention_only.js"
V, T, WIDTH, B = 32, 24, 8, 4
FIRST = [3, 5, 8, 13]  # where the second copies begin
CUTS = ("", "q", "k", "v", "qk", "qv", "kv", "qkv")


def model_and_letters(layers: int = 2) -> tuple[AttentionOnly, torch.Tensor]:
    """A model in float64, with gains that are not 1 and weights that make every cut count."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = AttentionOnly(layers, V, T, WIDTH)
        for parameter in model.parameters():
            parameter.data += 0.1 * torch.randn(parameter.shape)
            if parameter.dim() == 2:
                parameter.data *= 3
        return model.double(), torch.randint(V, (B, T))


def flat(model: AttentionOnly, of=lambda parameter: parameter) -> torch.Tensor:
    """What `of` gives for every parameter, in the order of the page: its matrices are (in, out)."""
    parts = []
    for norm, layer in zip(model.norms, model.layers, strict=True):
        qkv = (layer.q_proj, layer.k_proj, layer.v_proj)
        parts += [of(norm.weight), of(norm.bias), torch.cat([of(x.weight) for x in qkv]).T]
        parts += [torch.cat([of(x.bias) for x in qkv])]
        parts += [of(layer.out_proj.weight).T, of(layer.out_proj.bias)]
    parts += [of(model.letters.weight), of(model.positions.weight)]
    parts += [of(model.norm.weight), of(model.norm.bias), of(model.head.weight).T]
    return torch.cat([part.detach().flatten() for part in parts])


def mean_loss(logits: torch.Tensor, ids: torch.Tensor, first=(0,) * B) -> torch.Tensor:
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return losses[torch.arange(T - 1) >= torch.tensor(first)[:, None]].mean()


@pytest.fixture(params=["WebAssembly", "JavaScript"])
def compute(browser, request):
    """`compute(expression, model, ids)` -> what it is of the page's model with these weights."""
    page = browser.new_page()
    kernel = list(KERNEL.read_bytes()) if request.param == "WebAssembly" else None

    def compute(expression: str, model: AttentionOnly, ids: torch.Tensor):
        shape = {"layers": len(model.layers), "V": V, "T": T, "d": WIDTH, "B": B}
        return page.evaluate(
            f"""({{ shape, kernel, weights, ids, first }}) => {{ {linked(MODEL)}
            const {{ attentionOnly }} = load("attention_only.js");
            const model = attentionOnly(shape, kernel && new Uint8Array(kernel), () => 0.5);
            if (model.count !== weights.length) throw new Error("other weights are needed");
            model.numbers.set(weights);
            const {{ numbers, gradients, count }} = model;
            return {expression}; }}""",
            {
                "shape": shape,
                "kernel": kernel,
                "weights": flat(model).tolist(),
                "ids": ids.flatten().tolist(),
                "first": FIRST,
            },
        )

    yield compute
    page.close()


@pytest.mark.parametrize("layers", [1, 2])
def test_loss_and_gradients_equal_pytorch(compute, layers):
    model, ids = model_and_letters(layers)
    loss = mean_loss(model(ids)[0], ids)
    loss.backward()
    found, gradient = compute(
        "(model.forward(ids), [model.loss(ids), (model.backward(ids),"
        " [...numbers.subarray(gradients, gradients + count)])])",
        model,
        ids,
    )
    assert found == pytest.approx(loss.item(), rel=1e-6)
    expected = flat(model, lambda parameter: parameter.grad)
    assert (torch.tensor(gradient).double() - expected).norm() < 1e-5 * expected.norm()
    close(torch.tensor(gradient).double(), expected, 1e-5)


def test_steps_equal_adamw(compute):
    model, ids = model_and_letters()
    start = flat(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    moved = compute(
        "([1, 2, 3, 4, 5].forEach(() => { model.forward(ids); model.loss(ids);"
        " model.backward(ids); model.adamW(0.01); }), [...numbers.subarray(0, count)])",
        model,
        ids,
    )
    for _ in range(5):
        optimizer.zero_grad()
        mean_loss(model(ids)[0], ids).backward()
        optimizer.step()
    keys = torch.cat(  # their gradient is 0 but for rounding, and AdamW follows its sign
        [flat(model, lambda p: torch.full_like(p, any(p is b for b in key_biases(model))))]
    ).bool()
    way = (flat(model) - start)[~keys]
    error = (torch.tensor(moved).double() - flat(model))[~keys]
    assert error.norm() < 1e-3 * way.norm()


def key_biases(model: AttentionOnly) -> list[torch.Tensor]:
    return [layer.k_proj.bias for layer in model.layers]


@torch.no_grad()
def without(model: AttentionOnly, cut: str, ids: torch.Tensor) -> torch.Tensor:
    """The logits of a model whose layer 2 misses layer 1 in these of its inputs."""
    start = model.letters(ids) + model.positions.weight
    (first, second), (norm, other) = model.layers, model.norms
    added, _ = first(norm(start), is_causal=True)
    reads, misses = other(start + added), other(start + added.mean((0, 1)))
    copied, _ = second(*(misses if name in cut else reads for name in "qkv"), is_causal=True)
    return model.head(model.norm(start + added + copied))


def test_cut_wires_equal_pytorch(compute):
    model, ids = model_and_letters()
    found = compute(
        f"{list(CUTS)}.map((cut) => (model.forward(ids, cut), model.loss(ids, first)))", model, ids
    )
    expected = [mean_loss(without(model, cut, ids), ids, FIRST).item() for cut in CUTS]
    assert len({round(loss, 3) for loss in expected}) == len(CUTS)
    close(torch.tensor(found).double(), torch.tensor(expected), 1e-5)


def test_maps_equal_pytorch(compute):
    model, ids = model_and_letters()
    found = compute(
        "(model.forward(ids), [0, 1].map((layer) => model.map(layer, 16)).flat(2))", model, ids
    )
    rows, columns = torch.tril_indices(16, 16)
    _, maps = model(ids, need_weights=True)
    expected = torch.cat([x[0, rows, columns] for x in maps]).detach()
    close(torch.tensor(found).double(), expected, 1e-5)


def short(steps: int = 60):
    """The figure, with fewer steps."""
    figure = train_here_figure()
    figure.data = figure.data | {"steps": steps}
    return figure


def click(page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def wire(page, name: str):
    return page.get_by_role("button", name=f"cut the wire to the {name}")


def test_it_opens_on_a_finished_run_and_trains_only_when_asked(show):
    figure = short()
    page = show(figure)
    close(numbers(page.locator("[data-name=loss]")), torch.tensor(figure.data["losses"][-1:]))
    induction = finished_run()[1][1].diagonal(-11)[1:].mean()
    close(numbers(page.locator("[data-name=induction]")), induction[None], 2e-3)
    wire(page, "keys").press("Enter")  # nobody's model is there yet
    expect(wire(page, "keys")).to_have_attribute("aria-pressed", "false")
    page.wait_for_timeout(200)
    assert page.locator("[data-name=curve]").get_attribute("d") == ""


def test_it_trains_rests_goes_on_and_starts_anew(show):
    page = show(short(2000))
    click(page, "Train")
    expect(page.get_by_role("status")).to_contain_text("trains two layers")
    expect(page.locator("[data-name=pace]")).to_contain_text("in WebAssembly")
    click(page, "Pause")
    expect(page.get_by_role("status")).to_contain_text("Paused after")
    page.wait_for_timeout(300)
    rested = numbers(page.locator("[data-name=step]"))
    curve = page.locator("[data-name=curve]").get_attribute("d")
    page.wait_for_timeout(300)
    close(numbers(page.locator("[data-name=step]")), rested)
    click(page, "Go on")
    expect(page.locator("[data-name=curve]")).not_to_have_attribute("d", curve)
    assert page.locator("[data-name=curve]").get_attribute("d").startswith(curve)
    click(page, "Reset")
    expect(page.locator("[data-name=curve]")).to_have_attribute("d", "")
    expect(page.locator("[data-name=earlier]")).to_have_count(2)  # PyTorch's, and this one


def test_out_of_sight_it_waits(show):
    page = show(short(2000), viewport={"width": 720, "height": 700})
    page.evaluate("document.body.style.paddingTop = '3000px'")
    page.evaluate("document.querySelector('.cl button').click()")
    page.wait_for_timeout(3000)  # many steps, also of a busy machine
    assert page.locator("[data-name=curve]").get_attribute("d") == ""
    page.locator(".cl").scroll_into_view_if_needed()
    expect(page.locator("[data-name=curve]")).not_to_have_attribute("d", "")


def test_the_same_seed_is_the_same_run_and_another_is_not(show):
    page, ends = show(short(20)), []
    for seed in "3", "4", "3":
        select(page, "seed").select_option(seed)
        click(page, "Train")
        expect(page.get_by_role("button", name="Train again")).to_be_visible()
        ends += numbers(page.locator("[data-name=loss]")).tolist()
    assert ends[0] == ends[2] != ends[1]


def test_without_webassembly_it_trains_in_javascript(show):
    page = show(short(20))
    fast = trained_loss(page)
    page.evaluate("delete globalThis.WebAssembly")
    assert trained_loss(page) == pytest.approx(fast, abs=1e-5)
    expect(page.locator("[data-name=pace]")).to_contain_text("in JavaScript")


def trained_loss(page) -> float:
    click(page, "Reset")
    click(page, "Train")
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    return numbers(page.locator("[data-name=loss]")).item()


def test_one_layer_does_not_learn_to_copy(show):
    page = show(short())
    click(page, "Train")
    expect(page.get_by_role("button", name="Train again")).to_be_visible(timeout=60_000)
    expect(page.locator(".cl-reached")).to_have_count(0)
    select(page, "layers").select_option("one")
    click(page, "Train")
    expect(page.get_by_role("button", name="Train again")).to_be_visible(timeout=60_000)
    expect(page.locator("[data-name=map]")).to_have_count(1)
    expect(page.locator(".cl-reached")).to_contain_text("does not learn to copy")


def test_two_layers_fall_off_the_cliff_and_need_the_keys(show):
    page = show(train_here_figure())
    click(page, "Train")
    expect(page.get_by_role("button", name="Train again")).to_be_visible(timeout=120_000)
    loss = numbers(page.locator("[data-name=loss]"))
    assert loss < 1 and numbers(page.locator("[data-name=induction]")) > 0.5
    expect(page.locator(".cl-reached")).to_have_count(1)
    wire(page, "values").locator("text").click()
    expect(page.get_by_role("status")).to_contain_text("better than an even guess")
    wire(page, "values").locator("text").click()
    close(numbers(page.locator("[data-name=loss]")), loss)
    wire(page, "keys").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("worse than an even guess")
    expect(page.locator(".cl-reached")).to_have_count(2)
    assert numbers(page.locator("[data-name=loss]")) > 3


EXAMPLE = Example(train_here_figure, "[data-name=loss]")
