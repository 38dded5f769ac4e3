"""Debug this run, beyond language: what may be wrong with `forecaster`, and how a run shows it."""

import torch
from torch import Tensor

from book.debugging import forecaster
from book.debugging.fault import Case, Fault, altered, fault_of, named, smooth

EVERY = 10  # steps from one judgement to the next
WINDOW, HORIZON, PATCH = forecaster.WINDOW, forecaster.HORIZON, forecaster.PATCH


class Run(Case):
    """One training of the forecaster, with its curves, its model and tools to probe it.

    Attributes:
        series: all hours, those that are trained on and those that are held out.
        loss: the loss at each step.
        judged_at, judged: the steps, and the loss there that the program reports as held out.
        model: what was trained.
    """

    def __init__(self, number: int, fault: Fault | None, steps: int) -> None:
        super().__init__(number, fault)
        self._program = altered(forecaster, fault)
        self.series = forecaster.hourly(number)
        self.loss, self.judged_at, self.judged = [], [], []
        self.model = self._program.train(number, self._watch, steps)

    def _watch(self, step: int, loss: Tensor, model) -> None:
        self.loss.append(loss.item())
        if step % EVERY == 0:
            self.judged_at.append(step)
            self.judged.append(self.judge(self.series, model))

    def judge(self, series: Tensor, model=None) -> float:
        """The held-out loss that the program reports if this is the series of 1000 hours."""
        return self._program.judge(model or self.model, series)

    def _of(self, hours: Tensor) -> tuple[Tensor, Tensor]:
        """The forecast and the attention weights for 60 hours in a row."""
        window, _, mean, spread = self._program.cut(hours, torch.tensor([0]))
        forecast, weights = self.model(window, mean, spread)
        return forecast[0], weights[0]

    @torch.no_grad()
    def forecast(self, hours) -> Tensor:
        """The forecast (12,) from 60 hours in a row, of which the model should read the first 48.

        Args:
            hours: 48 hours and the 12 that are to be forecast, as the program cuts them.
        """
        return self._of(torch.as_tensor(hours))[0]

    @torch.no_grad()
    def weights(self, hours) -> Tensor:
        """Which patch looks at which (8, 8), in the mean over the heads."""
        return self._of(torch.as_tensor(hours))[1]

    def influence(self, hours) -> Tensor:
        """How much each forecast hour moves with each of the 60 hours: (12, 60), without sign."""
        hours = torch.as_tensor(hours)
        return torch.autograd.functional.jacobian(lambda x: self._of(x)[0], hours).abs()

    def held_out(self, index: int) -> Tensor:
        """60 hours in a row that are held out; index counts the days."""
        start = forecaster.PAST + 24 * index
        return self.series[start : start + WINDOW + HORIZON]

    def instruments(self) -> dict:
        """As `Case.instruments` says."""
        days = [self.held_out(i) for i in range(11)]
        forecasts = torch.stack([self.forecast(day) for day in days])
        came = torch.stack([day[WINDOW:] for day in days])
        moved = torch.stack([self.influence(day) for day in days]).mean((0, 1))
        ahead, hours = list(range(1, HORIZON + 1)), list(range(WINDOW + HORIZON))
        raised = torch.stack([self.forecast(day + 1) for day in days]) - forecasts
        squared = "squared error"
        at, training = self.judged_at, smooth(self.loss, EVERY)
        read = torch.stack([self.weights(day) for day in days]).mean((0, 1))
        return {
            "the judged loss": (at, self.judged, "step", squared),
            "the loss in training": (at, training, "step", squared),
            "its error against what came": (
                ahead,
                (forecasts - came).square().mean(0).tolist(),
                "hours ahead",
                squared,
            ),
            "one forecast": (ahead, forecasts[3].tolist(), "hours ahead", "value"),
            "which hours move the forecast?": (hours, moved.tolist(), "hour", "how far it moves"),
            "which patches does it look at?": {
                f"patch {i}": weight for i, weight in enumerate(read.tolist(), 1)
            },
            "all hours raised by 1, how far does the forecast go?": {
                "in the mean": raised.mean().item()
            },
        }


def train(number: int, chosen: int | None = None) -> Run:
    """The run of a reader's number, which chooses the series, the first weights and the fault.

    With `chosen`, that number chooses the fault, and the other one all the rest.
    """
    return Run(number, fault_of(number if chosen is None else chosen, FAULTS), forecaster.STEPS)


def train_with(number: int, name: str, steps: int = forecaster.STEPS) -> Run:
    """The run of the same number with a fault of your choice, or with "nothing is wrong"."""
    return Run(number, named(name, FAULTS), steps)


# What tells each fault from all others: numbers of a run.


def _to_the_end(run: Run) -> float:
    window, future, _, _ = run._program.cut(run.series, torch.arange(100))
    return (future - window[:, -HORIZON:]).abs().mean().item()


def _moved_by_future(run: Run) -> float:
    hours = run.held_out(0)
    later = hours.clone()
    later[WINDOW:] += 10
    return (run.forecast(hours) - run.forecast(later)).abs().max().item()


def _judged_elsewhere(run: Run) -> float:
    changed = run.series.clone()
    changed[forecaster.PAST :] *= 2
    return abs(run.judge(changed) - run.judge(run.series))


def _order(run: Run) -> float:
    hours = run.held_out(0)
    turned = hours.clone()
    turned[:WINDOW] = hours[:WINDOW].unflatten(0, (-1, PATCH)).flip(0).flatten()
    return (run.forecast(hours) - run.forecast(turned)).abs().max().item()


@torch.no_grad()
def _patches_touched(run: Run) -> float:
    window = run.held_out(0)[None, :WINDOW]
    changed = window.clone()
    changed[:, :PATCH] += 1
    moved = (run.model.tokens(window) - run.model.tokens(changed)).abs().amax(-1)
    return (moved > 1e-6).sum().item()


def _follows_level(run: Run) -> float:
    hours = run.held_out(0)
    return (run.forecast(hours + 10) - run.forecast(hours)).mean().item() / 10


@torch.no_grad()
def _company(run: Run) -> float:
    low = run.held_out(0)
    both = torch.stack([low, low + 100])  # the same two days at two levels
    batches = [run._program.cut(hours, torch.tensor([0])) for hours in both]
    together = [torch.cat(parts) for parts in zip(*batches, strict=True)]
    apart = sum(run._program.mean_loss(run.model, batch).item() for batch in batches) / 2
    return abs(run._program.mean_loss(run.model, together).item() - apart) / apart


FAULTS = (
    Fault(
        name="the targets are the end of the window",
        what="The model is asked for twelve hours that it has just read.",
        line="window, future = both[:, :WINDOW], both[:, WINDOW:]",
        instead="window, future = both[:, :WINDOW], both[:, WINDOW - HORIZON : WINDOW]",
        would="the hours that the program asks for are the last of those that it shows",
        measured="the mean distance of the two",
        symptom=_to_the_end,
        below=1e-6,
    ),
    Fault(
        name="the scale knows the future",
        what="Mean and spread are those of the window and of the hours to be forecast.",
        line="mean, spread = window.mean(1, keepdim=True), window.std(1, keepdim=True)",
        instead="mean, spread = both.mean(1, keepdim=True), both.std(1, keepdim=True)",
        would="the forecast moves with the hours that it is to foretell",
        measured="how far it moves when they are raised by 10",
        symptom=_moved_by_future,
        above=0.1,
    ),
    Fault(
        name="it is judged on the past",
        what="The held-out windows are those that the model is trained on.",
        line="later = series[PAST:]",
        instead="later = series[:PAST]",
        would="the reported loss stays the same when all held-out hours are changed",
        measured="how much it changes when they are doubled",
        symptom=_judged_elsewhere,
        below=1e-9,
    ),
    Fault(
        name="positions are not added",
        what="The block is not told when a patch was.",
        line="        tokens = tokens + self.places(torch.arange(PATCHES))\n",
        instead="",
        would="the patches in the opposite order give the same forecast",
        measured="how far it moves at most",
        symptom=_order,
        below=1e-4,
    ),
    Fault(
        name="patches are combs",
        what="A patch has every eighth hour of the window in place of six hours in a row.",
        line="cut_up = scaled.unflatten(1, (PATCHES, PATCH))",
        instead="cut_up = scaled.unflatten(1, (PATCH, PATCHES)).transpose(1, 2)",
        would="six hours in a row are spread over many patches",
        measured="how many tokens change with the first six hours",
        symptom=_patches_touched,
        above=1.5,
    ),
    Fault(
        name="the forecast is not scaled back",
        what="The model reads scaled windows, and its forecast is taken as it is.",
        line="return forecast * spread + mean, weights",
        instead="return forecast, weights",
        would="the forecast does not follow when all hours are raised",
        measured="how much of a rise by 10 it follows, as a share",
        symptom=_follows_level,
        below=0.5,
    ),
    Fault(
        name="every forecast is held to every target",
        what="A stray axis: the difference is taken of all pairs in the batch.",
        line="return (forecast - future).square().mean()",
        instead="return (forecast - future[:, None]).square().mean()",
        would="the loss of two windows together is not the mean of their losses",
        measured="by how much it differs, as a share, if one is the other raised by 100",
        symptom=_company,
        above=1,
    ),
)
