"""Real Apache Kafka on this machine, without Docker: a broker, members in processes of their own, and records of what they did.

>>> from rebalance_kit import live
>>> sorted(live.VERSIONS)
['3.9.1', '4.0.0', '4.3.1']
"""

from rebalance_kit.live.broker import Broker
from rebalance_kit.live.group import Group
from rebalance_kit.live.jars import VERSIONS, ready
from rebalance_kit.live.recorder import record

__all__ = ["VERSIONS", "Broker", "Group", "ready", "record"]
