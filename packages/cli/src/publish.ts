import { Command, Option } from "commander";
import { DelayPublishError, MessageRefusedError, PublishReceipt, createDelayPublisher } from "@rabbitmq-delay/publish";
import { DelayNetwork, DelayTopologyError, readableDelay } from "@rabbitmq-delay/topology";
import { close } from "./close";
import { addExample, commonOptions } from "./commonOptions";
import { connect } from "./connect";
import { DelayOptions, addDelayOptions, delayOf } from "./delayOption";
import { CommandError, exitCodes } from "./failure";
import { readBytes } from "./files";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { printRows } from "./print";

interface PublishOptions extends NetworkOptions, DelayOptions {
  amqp?: string;
  ca?: string;
  destination: string;
  body?: string;
  bodyFile?: string;
  header?: Record<string, string>;
  messageId?: string;
  contentType?: string;
  json?: boolean;
}

/** `publish`: publishes one delayed message, confirmed by the broker. */
export function addPublish(program: Command): void {
  const command = program
    .command("publish")
    .description("publish one delayed message and wait for the broker's confirm");
  addDelayOptions(addNetworkOptions(command))
    .addOption(commonOptions.amqp())
    .addOption(commonOptions.ca())
    .requiredOption("--destination <name>", "the endpoint")
    .addOption(new Option("--body <text>", "the message").conflicts("bodyFile"))
    .option("--body-file <file>", "the message's bytes; - reads them from standard input")
    .option("--header <name=value...>", "headers", gatherHeader)
    .option("--message-id <id>", "the message's id; made up when left out")
    .option("--content-type <type>", "its content type")
    .addOption(commonOptions.json())
    .action(async (options: PublishOptions) => {
      const network = networkOf(options);
      const delay = delayOf(options);
      const body = bodyOf(options);
      const receipt = await publishOnce(addressOf(options), options, network, delay, body);
      if (options.json) console.log(JSON.stringify(receipt));
      else
        printRows({
          ...receipt,
          delayMs: `${receipt.delayMs} (${readableDelay(receipt.delayMs)})`,
          dueAt: receipt.dueAt.toISOString(),
        });
    });
  addExample(
    command,
    "rabbitmq-delay publish --amqp amqp://orders@broker.example.com/shop --network network.json --delay 10s \\",
    "  --destination Sales --body '{\"order\": 1}' --header content=order",
  );
}

function addressOf({ amqp }: PublishOptions): string {
  if (amqp !== undefined && amqp !== "") return amqp;
  throw new CommandError(exitCodes.badInput, "--amqp: give it a URL, or set RABBITMQ_URL");
}

async function publishOnce(
  address: string,
  options: PublishOptions,
  network: DelayNetwork,
  delay: ReturnType<typeof delayOf>,
  body: Buffer,
): Promise<PublishReceipt> {
  const connection = await connect(address, options.ca);
  connection.on("error", () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => undefined);
    const { destination, header, messageId, contentType } = options;
    return await createDelayPublisher(channel, network).publish(destination, body, {
      ...delay,
      headers: header,
      ...(messageId === undefined ? {} : { messageId }),
      ...(contentType === undefined ? {} : { contentType }),
    });
  } catch (error) {
    if (error instanceof DelayTopologyError || error instanceof MessageRefusedError) throw error;
    const hint =
      error instanceof DelayPublishError && error.name === "ChannelClosedError"
        ? `; is the network there (exchange ${error.exchange})? pulumi up declares it`
        : "";
    const code = (error as Error).name === "MessageReturnedError" ? exitCodes.finding : exitCodes.outOfReach;
    throw new CommandError(code, `--amqp: ${(error as Error).message}${hint}`);
  } finally {
    await close(connection);
  }
}

function bodyOf({ body, bodyFile, network }: PublishOptions): Buffer {
  if (bodyFile === "-" && network === "-") {
    throw new CommandError(exitCodes.badInput, "--network and --body-file can't both be standard input");
  }
  if (bodyFile === undefined) return Buffer.from(body ?? "");
  return readBytes(bodyFile, "--body-file");
}

function gatherHeader(text: string, headers: Record<string, string> = {}): Record<string, string> {
  const split = text.indexOf("=");
  if (split < 1) {
    // Users who write NAME: VALUE, as for curl, have the value in it, which may be a token.
    const name = /^[\w-]*(?=[:\s]|$)/.exec(text)?.[0] ?? "";
    const shown = name === text ? JSON.stringify(name) : `what begins with ${JSON.stringify(name)}`;
    throw new CommandError(exitCodes.badInput, `--header: ${shown} is not allowed; write NAME=VALUE`);
  }
  return { ...headers, [text.slice(0, split)]: text.slice(split + 1) };
}
