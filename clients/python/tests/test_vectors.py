"""Compares with what the reference in TypeScript makes: clients/vectors.json."""

import json
import unittest
from datetime import datetime, timedelta
from pathlib import Path

from rabbitmq_delay import DelayError, DelayNetwork, DescriptorError, RetryIntervals
from rabbitmq_delay.outgoing import delay_headers

VECTORS = json.loads((Path(__file__).parents[2] / "vectors.json").read_text(encoding="utf-8"))
NETWORKS = [DelayNetwork(descriptor) for descriptor in VECTORS["networks"]]


def milliseconds(value: float) -> timedelta:
    delay = timedelta(microseconds=value * 1000)
    assert delay / timedelta(milliseconds=1) == value, f"{value} ms can't be said by a timedelta"
    return delay


class Vectors(unittest.TestCase):
    def test_encodes_as_the_reference_does(self) -> None:
        self.assertGreater(len(VECTORS["encodings"]), 1900)
        for vector in VECTORS["encodings"]:
            network, delay = NETWORKS[vector["network"]], milliseconds(vector["delayMs"])
            with self.subTest(vector):
                if "refused" in vector:
                    with self.assertRaises(DelayError) as caught:
                        network.encode(delay, vector["destination"], vector["tolerance"])
                    self.assertEqual(caught.exception.argument, vector["refused"].replace("delayMs", "delay"))
                    continue
                encoded = network.encode(delay, vector["destination"], vector["tolerance"])
                expected = vector["expected"]
                self.assertEqual(
                    (encoded.exchange, encoded.routing_key, encoded.level, encoded.delay, encoded.hops),
                    (
                        expected["exchange"],
                        expected["routingKey"],
                        expected["level"],
                        milliseconds(expected["delayMs"]),
                        expected["hops"],
                    ),
                )

    def test_routes_intervals_as_the_reference_does(self) -> None:
        intervals = RetryIntervals(VECTORS["intervals"])
        for vector in VECTORS["routes"]:
            with self.subTest(vector):
                delay = milliseconds(vector["delayMs"])
                if "refused" in vector:
                    with self.assertRaises(DelayError) as caught:
                        intervals.exchange_of(delay)
                    self.assertEqual(caught.exception.argument, "delay")
                else:
                    self.assertEqual(intervals.exchange_of(delay), vector["exchange"])

    def test_writes_the_headers_of_the_reference(self) -> None:
        for vector in VECTORS["headers"]:
            network = NETWORKS[vector["network"]]
            with self.subTest(vector):
                delay = network.encode(milliseconds(vector["delayMs"]), "Sales").delay
                before = {name: "from an earlier publish" for name in vector["removed"]}
                sent_at = datetime.fromisoformat(vector["sentAt"].replace("Z", "+00:00"))
                expected = {name: typed["value"] for name, typed in vector["expected"].items()}
                self.assertEqual(delay_headers(network, before, delay, sent_at), expected)

    def test_refuses_the_descriptors_that_the_reference_refuses(self) -> None:
        for vector in VECTORS["refusals"]:
            # Whether names are the preset's own, and whether somebody reads a property, is not checked here.
            if vector["reason"] in ("fixed", "unknown"):
                continue
            read = DelayNetwork if vector["kind"] == "delay-network" else RetryIntervals
            with self.subTest(vector):
                with self.assertRaises(DescriptorError) as caught:
                    read(vector["json"])
                self.assertEqual(caught.exception.property.split("[")[0], vector["refused"].split("[")[0])

    def test_shows_nothing_of_a_descriptor_that_may_be_a_password(self) -> None:
        network = next(json.loads(json.dumps(one)) for one in VECTORS["networks"] if one["version"] == 2)
        for property in network:
            for given in (
                "amqp://shop:hunter2@broker",
                "shop:hunter2@broker",
                "//shop:hunter2@broker",
                "https://broker/?token=hunter2",
                ["hunter2"],
                {"password": "hunter2"},
            ):
                with self.subTest(property=property, given=given):
                    with self.assertRaises(DescriptorError) as caught:
                        DelayNetwork({**network, property: given, **({"prefix": 7} if property == "vhost" else {})})
                    self.assertNotIn("hunter2", str(caught.exception))
        for property in ("radix", "unitMs", "levels", "maximumDelayMs", "entryExchanges"):
            with self.assertRaises(DescriptorError) as caught:
                DelayNetwork({**network, property: "hunter2"})
            self.assertNotIn("hunter2", str(caught.exception))
        with self.assertRaisesRegex(DescriptorError, "^network.radix: 3 is not allowed; it must be one of 2, 4, 8, 16$"):
            DelayNetwork({**network, "radix": 3})

    def test_reads_what_the_reference_wrote(self) -> None:
        for network, written in zip(NETWORKS, VECTORS["networks"]):
            self.assertEqual(network.maximum_delay, milliseconds(written["maximumDelayMs"]))
            self.assertEqual(network.unit, milliseconds(written["unitMs"]))
            self.assertEqual(list(network.entry_exchanges), written["entryExchanges"])
            self.assertEqual(network.delivery_exchange, written["deliveryExchange"])
            self.assertEqual(network.binding_exchange, written.get("bindingExchange", written["deliveryExchange"]))
            self.assertEqual(network.parking_queue, written.get("parkingQueue"))
            self.assertEqual(network.vhost, written.get("vhost"))

    def test_names_what_is_not_allowed(self) -> None:
        network = NETWORKS[0]
        for call, argument in (
            (lambda: network.encode(5, "Sales"), "delay"),  # type: ignore[arg-type]
            (lambda: network.encode(timedelta(1), None), "destination"),  # type: ignore[arg-type]
            (lambda: network.encode(timedelta(1), "Sales", -1), "tolerance"),
            (lambda: network.encode(timedelta(1), "Sales", float("nan")), "tolerance"),
            (lambda: network.encode(timedelta(1), "Sales", float("inf")), "tolerance"),
            (lambda: network.encode(timedelta(1), "Sales", 10**400), "tolerance"),
            (lambda: network.encode(timedelta.max, "Sales"), "delay"),
        ):
            with self.assertRaises(DelayError) as caught:
                call()
            self.assertEqual(caught.exception.argument, argument)
        for given in ("{", "[]", "7", b"\xff"):
            with self.assertRaises(DescriptorError) as wrong:
                DelayNetwork(given)
            self.assertEqual(wrong.exception.property, "network")


if __name__ == "__main__":
    unittest.main()
