"""ClassicGroupDriver groups in a state that a script begins with."""

from __future__ import annotations

from tests.support.protocol.driver import ClassicGroupDriver


def two_static(*, rebalance: int = 60_000, session: int = 30_000) -> tuple[ClassicGroupDriver, str, str]:
    driver = ClassicGroupDriver()
    leader, follower = driver.stable_static("p", "q", rebalance=rebalance, session=session)
    return driver, leader, follower


def name_of(driver: ClassicGroupDriver, member_id: str) -> str:
    return driver.group.members[member_id].instance_id


def completing() -> tuple[ClassicGroupDriver, str, str]:
    """Two dynamic members whose join phase has just ended: leader, follower."""
    driver = ClassicGroupDriver()
    driver.append_at_once = False
    ids = [driver.enter("a")[0], driver.enter("b")[0]]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    assert driver.state == "CompletingRebalance"
    return driver, leader, next(one for one in ids if one != leader)
