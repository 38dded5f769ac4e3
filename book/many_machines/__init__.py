"""Many machines: live figures; the exercises' checks are in `checks`."""

from book.many_machines.figures.schedule import schedule_figure
from book.many_machines.figures.traffic import traffic_figure
from book.many_machines.figures.underflow import underflow_figure

__all__ = ["schedule_figure", "traffic_figure", "underflow_figure"]
