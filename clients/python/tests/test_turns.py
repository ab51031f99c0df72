"""Two messages under one id, with a stand-in for the broker, because a real one does not stay silent at will."""

import asyncio
import unittest
from datetime import timedelta
from typing import Any, Dict, List

from rabbitmq_delay.aio_pika import DelayPublisher

from test_vectors import NETWORKS


class Exchange:
    """Answers as a test tells it to."""

    def __init__(self) -> None:
        self.sent: List[str] = []
        self.answers: Dict[str, asyncio.Future[Any]] = {}

    async def publish(self, _message: Any, routing_key: str, **_options: Any) -> None:
        to = routing_key.split(".")[-1]
        self.sent.append(to)
        self.answers[to] = asyncio.get_running_loop().create_future()
        await self.answers[to]


class Channel:
    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange

    async def get_exchange(self, _name: str, ensure: bool) -> Exchange:
        return self.exchange


class Turns(unittest.TestCase):
    def test_a_message_has_its_turn_until_its_answer_also_when_its_time_is_over(self) -> None:
        async def run() -> None:
            exchange = Exchange()
            network = next(one for one in NETWORKS if not one.is_nservicebus)
            publisher = DelayPublisher(Channel(exchange), network, 0)  # type: ignore[arg-type]

            async def publish(to: str, timeout: float) -> None:
                properties = {"message_id": "one id"}
                await publisher.publish(to, b"x", timedelta(0), properties=properties, timeout=timeout)

            with self.assertRaises(asyncio.TimeoutError):
                await publish("first", 0.05)
            # It waits in vain for its turn, and is not sent later.
            with self.assertRaises(asyncio.TimeoutError):
                await publish("second", 0.05)
            third = asyncio.ensure_future(publish("third", 5))
            await asyncio.sleep(0.05)
            self.assertEqual(exchange.sent, ["first"])
            exchange.answers["first"].set_exception(RuntimeError("returned"))
            await asyncio.sleep(0.05)
            self.assertEqual(exchange.sent, ["first", "third"])
            exchange.answers["third"].set_result(None)
            await third
            self.assertEqual(publisher._in_flight, {})

        asyncio.run(run())
