"""Every case of the table, under the name of the Kafka test it corresponds to."""

from __future__ import annotations

import kafka_classic_cases
import kafka_classic_client_cases
import kafka_classic_coordinator_cases
import kafka_classic_request_cases
import kafka_consumer_cases
import kafka_consumer_client_cases
import kafka_mixed_cases
import kafka_reconciliation_cases
import kafka_static_cases
import pytest
from kafka_table import CASES

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
