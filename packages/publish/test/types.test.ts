import { strict as assert } from "node:assert";
import type { ConfirmChannel } from "amqplib";
import type { Channel } from "rabbitmq-client";
import { PublishChannel, createDelayPublisher } from "@rabbitmq-delay/publish";
import type { AmqplibConsumerChannel, DelayedMessageOptions, consumeWithRetries } from "@rabbitmq-delay/publish";
import type { DelayNetworkDescriptor } from "pulumi-rabbitmq-delay";

/** Compiles where a value of the first type can be given for the second. */
type Takes<Given extends Wanted, Wanted> = Given;
type First<T extends (...args: never[]) => unknown> = Parameters<T>[0];
type Second<T extends (...args: never[]) => unknown> = Parameters<T>[1];

/** What the compiler accepts is checked when this file is compiled; `make test` compiles it. */
export type Accepted = [
  Takes<ConfirmChannel, First<typeof createDelayPublisher>>,
  Takes<Channel, First<typeof createDelayPublisher>>,
  Takes<ConfirmChannel, First<typeof consumeWithRetries>>,
  Takes<DelayNetworkDescriptor, Second<typeof createDelayPublisher>>,
  Takes<{ delayMs: 5 }, DelayedMessageOptions>,
  Takes<{ at: Date; type: "invoice" }, DelayedMessageOptions>,
];

describe("the types of channels, descriptors and delays", () => {
  it("refuse what could not be published", () => {
    // @ts-expect-error -- a number is no channel
    const channel: PublishChannel = 5;
    // @ts-expect-error -- a channel without confirms can't tell what the broker has
    const plain: PublishChannel = { publish: () => true, on: () => undefined };
    // @ts-expect-error -- rabbitmq-client hands on parsed bodies, which can't be passed on as they came
    const consumer: AmqplibConsumerChannel = {} as Channel;
    // @ts-expect-error -- neither a delay nor a due time
    const none: DelayedMessageOptions = {};
    // @ts-expect-error -- both
    const both: DelayedMessageOptions = { delayMs: 5, at: new Date() };
    assert.ok([channel, plain, consumer, none, both].length > 0);
    assert.throws(() => createDelayPublisher(channel, {} as never), /channel/);
  });
});
