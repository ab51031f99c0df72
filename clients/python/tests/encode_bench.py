"""Times `encode` for the network of NServiceBus, 28 binary levels, against what one would write at first."""

import json
import sys
import time
from datetime import timedelta
from pathlib import Path

from rabbitmq_delay import DelayNetwork

VECTORS = json.loads((Path(__file__).parents[2] / "vectors.json").read_text(encoding="utf-8"))
NETWORK = DelayNetwork(VECTORS["networks"][0])
DELAYS = [timedelta(seconds=index * 2_654_435_761 % 268_435_455) for index in range(1024)]


def encode(delay: timedelta) -> str:
    return NETWORK.encode(delay, "some-address").routing_key


def join(delay: timedelta) -> str:
    seconds = -(-delay // timedelta(seconds=1))
    return ".".join(f"{seconds:028b}") + ".some-address"


def nanoseconds(call, calls: int) -> float:
    start = time.perf_counter_ns()
    for index in range(calls):
        call(DELAYS[index % len(DELAYS)])
    return (time.perf_counter_ns() - start) / calls


if __name__ == "__main__":
    calls, repetitions = int(sys.argv[1]), int(sys.argv[2])
    for call in (encode, join):
        nanoseconds(call, calls)
    for _ in range(repetitions):
        print(f"encode {nanoseconds(encode, calls):.1f} join {nanoseconds(join, calls):.1f}")
