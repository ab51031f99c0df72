"""Encodes a delay of ten seconds to Sales."""

from datetime import timedelta
from pathlib import Path

from rabbitmq_delay import DelayNetwork

network = DelayNetwork(Path("network.json").read_text())
print(network.encode(timedelta(seconds=10), "Sales").routing_key)
