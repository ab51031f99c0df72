"""Publishes through both libraries to a real broker, whose address and network the environment has; without them, nothing is run."""

import asyncio
import os
import time
import unittest
from datetime import datetime, timedelta, timezone

import aio_pika
import pika

from rabbitmq_delay import DelayError, DelayNetwork, MessageReturnedError
from rabbitmq_delay import aio_pika as with_aio_pika
from rabbitmq_delay import pika as with_pika

URL = os.environ.get("RABBITMQ_URL", "")
DELAYS = [timedelta(0), timedelta(milliseconds=50), timedelta(milliseconds=777), timedelta(milliseconds=1200)]


def network(name: str) -> DelayNetwork:
    return DelayNetwork(os.environ[f"{name}_NETWORK"])


@unittest.skipIf(URL == "", "RABBITMQ_URL is not set")
class Publishers(unittest.TestCase):
    def setUp(self) -> None:
        self.connection = pika.BlockingConnection(pika.URLParameters(URL))
        self.addCleanup(self.connection.close)
        self.channel = self.connection.channel()
        self.channel.queue_purge("billing")

    def receive(self, count: int) -> dict:
        """The messages of the endpoint by their bodies, each with when it came."""
        found: dict = {}
        end = time.monotonic() + 60
        while len(found) < count and time.monotonic() < end:
            method, properties, body = self.channel.basic_get("billing", auto_ack=True)
            if method is None:
                time.sleep(0.005)
                continue
            self.assertNotIn(body, found, "no message comes twice")
            found[body] = (datetime.now(timezone.utc), properties)
        self.assertEqual(len(found), count)
        return found

    def check(self, receipts: dict) -> None:
        for body, (came, properties) in self.receive(len(receipts)).items():
            receipt, sent, delay = receipts[body]
            self.assertGreaterEqual(came, sent + delay, f"{body!r} came early")
            # A time is counted from when the publisher looks at it.
            if not body.startswith(b"at "):
                self.assertGreaterEqual(receipt.delay, delay)
            self.assertEqual(properties.message_id, receipt.message_id)
            self.assertEqual(properties.delivery_mode, 2)
            self.assertEqual(properties.headers["own"], "kept")
            self.assertIn("rabbitmq-delay.due-at", properties.headers)

    def test_pika_publishes_by_delay_and_by_time(self) -> None:
        receipts = {}
        given = pika.BasicProperties(headers={"own": "kept", "x-death": [], "x-last-death-queue": "a"})
        with with_pika.DelayPublisher(self.connection, network("PARKED")) as publisher:
            for delay in DELAYS:
                sent, body = datetime.now(timezone.utc), f"after {delay}".encode()
                receipts[body] = (publisher.publish("billing", body, delay, properties=given), sent, delay)
                sent, body = datetime.now(timezone.utc), f"at {delay}".encode()
                receipt = publisher.publish("billing", body, due=sent + delay, properties=given)
                receipts[body] = (receipt, sent, delay)
        self.assertIsNone(given.message_id, "what the caller gave is copied")
        self.assertIn("x-death", given.headers)
        self.check(receipts)

    def test_aio_pika_publishes_by_delay_and_by_time(self) -> None:
        async def publish() -> dict:
            receipts: dict = {}
            connection = await aio_pika.connect_robust(URL)
            async with connection:
                async with await with_aio_pika.DelayPublisher.create(connection, network("PARKED")) as publisher:

                    async def one(body: bytes, delay: timedelta, is_time: bool) -> None:
                        sent = datetime.now(timezone.utc)
                        when = {"due": sent + delay} if is_time else {"delay": delay}
                        properties = {"headers": {"own": "kept", "x-death": []}}
                        receipt = await publisher.publish("billing", body, properties=properties, **when)
                        receipts[body] = (receipt, sent, delay)

                    # Side by side: each has its own confirm.
                    await asyncio.gather(
                        *(one(f"after {delay}".encode(), delay, False) for delay in DELAYS),
                        *(one(f"at {delay}".encode(), delay, True) for delay in DELAYS),
                    )
            return receipts

        self.check(asyncio.run(publish()))

    def test_a_message_that_no_queue_takes_is_an_error(self) -> None:
        bare = network("BARE")
        with with_pika.DelayPublisher(self.connection, bare) as publisher:
            with self.assertRaises(MessageReturnedError) as caught:
                publisher.publish("nobody", b"", timedelta(0))
            self.assertIn("nobody", str(caught.exception))
            publisher.publish("billing-bare", b"", timedelta(0))

        async def publish() -> None:
            connection = await aio_pika.connect(URL)
            async with connection:
                publisher = await with_aio_pika.DelayPublisher.create(connection, bare)
                with self.assertRaises(MessageReturnedError):
                    await publisher.publish("nobody", b"", timedelta(0))
                await publisher.publish("billing-bare", b"", timedelta(0))
                # Each knows of its own message, also where several have one id, or ids of which aio-pika makes one text.
                ends = await asyncio.gather(
                    *(
                        publisher.publish(to, b"", timedelta(0), properties={"message_id": message_id})
                        for to, message_id in [("nobody", 7), ("billing-bare", "7"), ("nobody", "7"), ("billing-bare", 7)] * 10
                    ),
                    return_exceptions=True,
                )
                for index, end in enumerate(ends):
                    self.assertEqual(isinstance(end, MessageReturnedError), index % 2 == 0, f"{index}: {end!r}")

        asyncio.run(publish())

    def test_what_would_be_early_lost_or_copied_is_refused_before_it_is_sent(self) -> None:
        parked = network("PARKED")
        with with_pika.DelayPublisher(self.connection, parked) as publisher:
            for given, argument in (
                ({"properties": pika.BasicProperties(expiration="5")}, "properties.expiration"),
                ({"properties": pika.BasicProperties(delivery_mode=1)}, "properties.delivery_mode"),
                ({"properties": pika.BasicProperties(headers={"CC": ["a"]})}, "properties.headers.CC"),
                ({"properties": pika.BasicProperties(headers={"BCC": ["a"]})}, "properties.headers.BCC"),
                ({"delay": None}, "delay"),
                ({"due": datetime.now(timezone.utc)}, "delay"),
                ({"delay": None, "due": datetime.now()}, "due"),
                ({"tolerance": -1}, "tolerance"),
                ({"delay": parked.maximum_delay + timedelta(milliseconds=1)}, "delay"),
            ):
                arguments = {"delay": timedelta(0), **given}
                with self.subTest(argument), self.assertRaises(DelayError) as caught:
                    publisher.publish("billing", b"", **arguments)
                self.assertEqual(caught.exception.argument, argument)
        with self.assertRaises(DelayError) as wrong:
            with_pika.DelayPublisher(self.connection, parked, tolerance=float("nan"))
        self.assertEqual(wrong.exception.argument, "tolerance")

        async def create() -> None:
            connection = await aio_pika.connect(URL)
            async with connection:
                await with_aio_pika.DelayPublisher.create(connection, network("NSERVICEBUS"))

        with self.assertRaises(DelayError) as refused:
            asyncio.run(create())
        self.assertEqual(refused.exception.argument, "network")
        self.assertEqual(self.channel.queue_declare("billing", passive=True).method.message_count, 0)

    def test_what_would_close_the_connection_or_be_cut_off_is_refused_before_it_is_sent(self) -> None:
        circle: dict = {}
        circle["again"] = circle
        unsendable = (
            ({"headers": {"n" * 256: 1}}, "properties.headers"),
            ({"headers": {"table": {"n" * 256: 1}}}, "properties.headers.table"),
            ({"headers": {"long": "hunter2" * 30_000}}, "properties"),
            ({"headers": {"list": [{"number": float("nan")}]}}, "properties.headers.list.0.number"),
            ({"headers": {"number": float("inf")}}, "properties.headers.number"),
            ({"headers": {"what": object()}}, "properties"),
            ({"headers": circle}, "properties.headers"),
            ({"headers": {7: 1}}, "properties.headers"),
            ({"priority": 300}, "properties"),
            ({"content_type": "hunter2" * 50}, "properties"),
        )

        def check(caught: DelayError, argument: str) -> None:
            self.assertEqual(caught.argument, argument, str(caught))
            self.assertNotIn("hunter2", str(caught))

        parked = network("PARKED")
        with with_pika.DelayPublisher(self.connection, parked) as publisher:
            for given, argument in unsendable:
                with self.subTest(argument), self.assertRaises(DelayError) as caught:
                    publisher.publish("billing", b"", timedelta(0), properties=pika.BasicProperties(**given))
                check(caught.exception, argument)
            publisher.publish("billing", b"pika", timedelta(0))

        async def publish() -> None:
            connection = await aio_pika.connect(URL)
            async with connection, await with_aio_pika.DelayPublisher.create(connection, parked) as publisher:
                for given, argument in (*unsendable, ({"headers": {"n" * 129: 1}}, "properties.headers")):
                    with self.subTest(argument), self.assertRaises(DelayError) as caught:
                        await publisher.publish("billing", b"", timedelta(0), properties=given)
                    check(caught.exception, argument)
                # What was refused before does not take the confirm of another one.
                await publisher.publish("billing", b"aio", timedelta(0), timeout=30)

        asyncio.run(publish())
        self.assertEqual(set(self.receive(2)), {b"pika", b"aio"})

    def test_pika_sends_what_nservicebus_reads(self) -> None:
        nservicebus = network("NSERVICEBUS")
        # Of the shortest level; the header's type is what counts.
        with with_pika.DelayPublisher(self.connection, nservicebus) as publisher:
            publisher.publish("billing", b"x", timedelta(seconds=1))
        _, properties = self.receive(1)[b"x"]
        self.assertEqual(properties.headers["NServiceBus.Transport.RabbitMQ.DelayInSeconds"], 1)
        self.assertRegex(properties.headers["NServiceBus.TimeSent"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{6} Z$")


if __name__ == "__main__":
    unittest.main()
