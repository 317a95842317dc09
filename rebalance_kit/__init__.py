"""How Kafka consumer groups rebalance: an engine that behaves as Kafka behaves, and ways to see it.

The public names, each with an example in docs/api.md; those of a room come from the room
(``from rebalance_kit.view import deal``), and whatever neither lists is internal. Each name is imported
when it is first asked for, so that ``import rebalance_kit`` costs next to nothing and needs neither Jupyter nor Spark:

>>> import rebalance_kit as rk
>>> trace = rk.simulate("crash", protocol="cooperative")
>>> trace.metrics.partitions_unread
4
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.model.lazy import lazy_names

if TYPE_CHECKING:  # the names of the table below, for editors and type checkers
    from rebalance_kit.analysis.metrics import compare as compare
    from rebalance_kit.analysis.metrics import metrics as metrics
    from rebalance_kit.clients.mock_cluster import run_clients as run_clients
    from rebalance_kit.model import __version__ as __version__
    from rebalance_kit.model.errors import RebalanceKitError as RebalanceKitError
    from rebalance_kit.model.trace import Trace as Trace
    from rebalance_kit.model.trace import read_trace as read_trace
    from rebalance_kit.pipeline.command import read_logs as read_logs
    from rebalance_kit.pipeline.sweep.grid import sweep as sweep
    from rebalance_kit.recordings.replay import replay as replay
    from rebalance_kit.scenarios import scenario as scenario
    from rebalance_kit.scenarios import simulate as simulate
    from rebalance_kit.simulation.client.effect_handlers import CommitFailed as CommitFailed
    from rebalance_kit.simulation.scenario.scenario import Action as Action
    from rebalance_kit.simulation.scenario.scenario import Scenario as Scenario
    from rebalance_kit.view.exercises import Exercise as Exercise
    from rebalance_kit.view.figures.flow import flow_figure as flow_figure
    from rebalance_kit.view.figures.gantt import gantt_figure as gantt_figure
    from rebalance_kit.view.figures.message_diagram import messages as messages
    from rebalance_kit.view.lab.widget import Lab as Lab
    from rebalance_kit.view.quiz.page import Exam as Exam
    from rebalance_kit.view.quiz.page import Quiz as Quiz
    from rebalance_kit.view.quiz.page import Review as Review
    from rebalance_kit.view.quiz.poll import Poll as Poll
    from rebalance_kit.view.quiz.poll import Vote as Vote
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            # run and measure
            "Action": "simulation.scenario.scenario",
            "CommitFailed": "simulation.client.effect_handlers",
            "RebalanceKitError": "model.errors",
            "Scenario": "simulation.scenario.scenario",
            "Trace": "model.trace",
            "__version__": "model",
            "compare": "analysis.metrics",
            "metrics": "analysis.metrics",
            "read_trace": "model.trace",
            "replay": "recordings.replay",
            "scenario": "scenarios",
            "simulate": "scenarios",
            # look and practise
            "Exam": "view.quiz.page",
            "Exercise": "view.exercises",
            "Lab": "view.lab.widget",
            "Poll": "view.quiz.poll",
            "Quiz": "view.quiz.page",
            "Review": "view.quiz.page",
            "Vote": "view.quiz.poll",
            "flow_figure": "view.figures.flow",
            "gantt_figure": "view.figures.gantt",
            "messages": "view.figures.message_diagram",
            # real clients, logs, many runs
            "run_clients": "clients.mock_cluster",
            "read_logs": "pipeline.command",
            "sweep": "pipeline.sweep.grid",
        },
    )
