"""How Kafka consumer groups rebalance: an engine that behaves as Kafka behaves, and ways to see it.

The names that people use most, each imported when it is first asked for, so that ``import rebalance_kit`` costs
next to nothing and needs neither Jupyter nor Spark:

>>> import rebalance_kit as rk
>>> trace = rk.simulate(rk.scenario("crash"), protocol="cooperative")
>>> rk.metrics(trace).partitions_unread
4
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.model.lazy import lazy_names

if TYPE_CHECKING:  # the names of the table below, for editors and type checkers
    from rebalance_kit import scenarios as scenarios
    from rebalance_kit.analysis.comparison import compare as compare
    from rebalance_kit.analysis.comparison import sentences as sentences
    from rebalance_kit.analysis.metrics import metrics as metrics
    from rebalance_kit.clients.mock_cluster import run_clients as run_clients
    from rebalance_kit.model.about import __version__ as __version__
    from rebalance_kit.model.errors import RebalanceKitError as RebalanceKitError
    from rebalance_kit.model.trace import Trace as Trace
    from rebalance_kit.model.trace import read_trace as read_trace
    from rebalance_kit.notebook.runs import three as three
    from rebalance_kit.pipeline.command import read_logs as read_logs
    from rebalance_kit.pipeline.spark.notebook_session import start_in_background as start_in_background
    from rebalance_kit.pipeline.spark.session import spark_session as spark_session
    from rebalance_kit.pipeline.sweep.grid import sweep as sweep
    from rebalance_kit.recordings.replay.replay import replay as replay
    from rebalance_kit.scenarios import scenario as scenario
    from rebalance_kit.simulation.scenario.scenario import Action as Action
    from rebalance_kit.simulation.scenario.scenario import Scenario as Scenario
    from rebalance_kit.simulation.simulate import simulate as simulate
    from rebalance_kit.view.cards.clocks import clocks as clocks
    from rebalance_kit.view.cards.triage import triage as triage
    from rebalance_kit.view.exercises.widget import Exercise as Exercise
    from rebalance_kit.view.figures.comparison import comparison_figure as comparison_figure
    from rebalance_kit.view.figures.dealing import deal as deal
    from rebalance_kit.view.figures.flow import flow_figure as flow_figure
    from rebalance_kit.view.figures.gantt import gantt_figure as gantt_figure
    from rebalance_kit.view.figures.lag_chart import lag_figure as lag_figure
    from rebalance_kit.view.figures.message_diagram import messages as messages
    from rebalance_kit.view.figures.state_machines import state_machine as state_machine
    from rebalance_kit.view.figures.sweep_figures import detection_figure as detection_figure
    from rebalance_kit.view.figures.sweep_figures import gap_figure as gap_figure
    from rebalance_kit.view.lab.run_report import write_report as write_report
    from rebalance_kit.view.lab.widget import Lab as Lab
    from rebalance_kit.view.quiz.exam import Exam as Exam
    from rebalance_kit.view.quiz.poll import Poll as Poll
    from rebalance_kit.view.quiz.practice import Quiz as Quiz
    from rebalance_kit.view.quiz.practice import Review as Review
    from rebalance_kit.view.reports.watch_cell import watching as watching
    from rebalance_kit.view.style.showing import show as show
    from rebalance_kit.view.words.descriptions import describe_comparison as describe_comparison
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            # run and measure
            "Action": "simulation.scenario.scenario",
            "RebalanceKitError": "model.errors",
            "Scenario": "simulation.scenario.scenario",
            "Trace": "model.trace",
            "__version__": "model.about",
            "compare": "analysis.comparison",
            "metrics": "analysis.metrics",
            "read_trace": "model.trace",
            "replay": "recordings.replay.replay",
            "scenario": "scenarios",
            "scenarios": ".",
            "sentences": "analysis.comparison",
            "simulate": "simulation.simulate",
            "three": "notebook.runs",
            # look and practise
            "Exam": "view",
            "Exercise": "view",
            "Lab": "view",
            "Poll": "view",
            "Quiz": "view",
            "Review": "view",
            "clocks": "view",
            "comparison_figure": "view",
            "deal": "view",
            "describe_comparison": "view",
            "detection_figure": "view",
            "flow_figure": "view",
            "gantt_figure": "view",
            "gap_figure": "view",
            "lag_figure": "view",
            "messages": "view",
            "show": "view",
            "state_machine": "view",
            "triage": "view",
            "watching": "view",
            "write_report": "view",
            # real clients
            "run_clients": "clients.mock_cluster",
            # logs on Spark
            "read_logs": "pipeline.command",
            "spark_session": "pipeline",
            "start_in_background": "pipeline",
            "sweep": "pipeline",
        },
    )
