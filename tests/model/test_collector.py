"""The collector of cycles stays out of the way within a block, and does not go through all of it afterwards."""

from __future__ import annotations

import gc

from rebalance_kit.model.collector import uncollected


def test_what_a_block_made_is_not_searched_with_what_is_young() -> None:
    with uncollected():
        assert not gc.isenabled()
        made = [[number] for number in range(5_000)]
    assert gc.isenabled() and gc.get_freeze_count() == 0
    young = {id(one) for one in gc.get_objects(generation=0)}
    assert not young & {id(one) for one in made}
    assert {id(one) for one in gc.get_objects(generation=2)} >= {id(one) for one in made}


def test_whoever_keeps_objects_out_of_the_collector_finds_them_so_afterwards() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with uncollected():
            pass
        assert gc.get_freeze_count() >= frozen - 100
    finally:
        gc.unfreeze()
