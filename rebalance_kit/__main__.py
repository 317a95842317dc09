"""``rebalance-kit`` and ``python -m rebalance_kit``: an interrupt ends the process in silence until the door is reached.

Until then, while modules load, there is nothing to clean up and no command to say a word about.
"""

import signal
import sys


def main() -> int:
    """Load the commands and run one."""
    quiet = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if quiet:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from rebalance_kit.cli import main as run

    if quiet:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run()
    finally:
        if quiet:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
