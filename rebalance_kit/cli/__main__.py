"""``python -m rebalance_kit.cli``: the same as ``rebalance-kit``."""

import sys

from rebalance_kit.cli import main

sys.exit(main())
