"""Every case of the table, under the name of the Kafka test it corresponds to."""

from __future__ import annotations

import pytest

from tests.protocol.kafka_cases import classic as kafka_classic_cases
from tests.protocol.kafka_cases import classic_client as kafka_classic_client_cases
from tests.protocol.kafka_cases import classic_coordinator as kafka_classic_coordinator_cases
from tests.protocol.kafka_cases import classic_request as kafka_classic_request_cases
from tests.protocol.kafka_cases import consumer as kafka_consumer_cases
from tests.protocol.kafka_cases import consumer_client as kafka_consumer_client_cases
from tests.protocol.kafka_cases import mixed as kafka_mixed_cases
from tests.protocol.kafka_cases import reconciliation as kafka_reconciliation_cases
from tests.protocol.kafka_cases import static as kafka_static_cases
from tests.support.protocol.kafka_table import CASES

FILES = (
    kafka_classic_cases,
    kafka_classic_client_cases,
    kafka_classic_coordinator_cases,
    kafka_classic_request_cases,
    kafka_consumer_cases,
    kafka_consumer_client_cases,
    kafka_mixed_cases,
    kafka_reconciliation_cases,
    kafka_static_cases,
)


@pytest.mark.parametrize("test", CASES)
def test_the_kit_behaves_as(test):
    CASES[test]()


def test_the_table_holds_at_least_sixty_cases_of_kafkas_tests():
    assert len(CASES) >= 60
    assert {name.split(".")[0] for name in CASES} >= {"GroupMetadataManagerTest", "ClassicGroupTest"}
