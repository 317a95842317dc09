"""Two static members in a stable group, for the scripts that need them."""

from __future__ import annotations

from driver import Classic


def two_static(*, rebalance: int = 60_000, session: int = 30_000) -> tuple[Classic, str, str]:
    driver = Classic()
    leader, follower = driver.stable_static("p", "q", rebalance=rebalance, session=session)
    return driver, leader, follower


def name_of(driver: Classic, member_id: str) -> str:
    return driver.group.members[member_id].instance_id
