"""Classic groups in a state that a script begins with."""

from __future__ import annotations

from tests.support.protocol.driver import Classic


def two_static(*, rebalance: int = 60_000, session: int = 30_000) -> tuple[Classic, str, str]:
    driver = Classic()
    leader, follower = driver.stable_static("p", "q", rebalance=rebalance, session=session)
    return driver, leader, follower


def name_of(driver: Classic, member_id: str) -> str:
    return driver.group.members[member_id].instance_id


def completing() -> tuple[Classic, str, str]:
    """Two dynamic members whose join phase has just ended: leader, follower."""
    driver = Classic()
    driver.append_at_once = False
    ids = [driver.enter("a")[0], driver.enter("b")[0]]
    driver.pass_ms(6_000)
    leader = driver.group.leader
    assert driver.state == "CompletingRebalance"
    return driver, leader, next(one for one in ids if one != leader)
