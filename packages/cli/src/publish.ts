import { readFileSync } from "node:fs";
import { Command } from "commander";
import { DelayPublishError, MessageRefusedError, PublishReceipt, createDelayPublisher } from "rabbitmq-delay-publish";
import { DelayNetwork, DelayTopologyError, readableDelay } from "rabbitmq-delay-topology";
import { close } from "./close";
import { connect } from "./connect";
import { DelayOptions, addDelayOptions, delayOf } from "./delayOption";
import { CommandError, exitCodes } from "./failure";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { printRows } from "./print";

interface PublishOptions extends NetworkOptions, DelayOptions {
  amqp?: string;
  destination: string;
  body?: string;
  bodyFile?: string;
  header: Record<string, string>;
  messageId?: string;
  contentType?: string;
  json?: boolean;
}

/** `publish`: one delayed message, confirmed by the broker. */
export function addPublish(program: Command): void {
  const command = program
    .command("publish")
    .description("publish one delayed message and wait for the broker's confirm");
  addDelayOptions(addNetworkOptions(command))
    .option(
      "--amqp <url>",
      "the broker, e.g. amqp://guest:guest@127.0.0.1:5672 (amqps for TLS; environment: RABBITMQ_URL)",
    )
    .requiredOption("--destination <name>", "the endpoint")
    .option("--body <text>", "the message")
    .option("--body-file <file>", "the message's bytes; - reads them from standard input")
    .option("--header <name=value>", "a header; may be repeated", collectHeader, {})
    .option("--message-id <id>", "the message's id; made up when left out")
    .option("--content-type <type>", "its content type")
    .option("--json", "print JSON")
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
}

function addressOf({ amqp = process.env.RABBITMQ_URL }: PublishOptions): string {
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
  const connection = await connect(address);
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
  if (body !== undefined && bodyFile !== undefined) {
    throw new CommandError(exitCodes.badInput, "give one of --body TEXT and --body-file FILE");
  }
  if (bodyFile === "-" && network === "-") {
    throw new CommandError(exitCodes.badInput, "--network and --body-file can't both be standard input");
  }
  if (bodyFile === undefined) return Buffer.from(body ?? "");
  try {
    return readFileSync(bodyFile === "-" ? 0 : bodyFile);
  } catch (error) {
    throw new CommandError(exitCodes.badInput, `--body-file: ${bodyFile} can't be read (${(error as Error).message})`);
  }
}

function collectHeader(text: string, headers: Record<string, string>): Record<string, string> {
  const split = text.indexOf("=");
  if (split < 1) {
    // Who writes it as curl does, NAME: VALUE, has the value in it, and that may be a token.
    const name = /^[\w-]*(?=[:\s]|$)/.exec(text)?.[0] ?? "";
    const shown = name === text ? JSON.stringify(name) : `what begins with ${JSON.stringify(name)}`;
    throw new CommandError(exitCodes.badInput, `--header: ${shown} is not allowed; write NAME=VALUE`);
  }
  return { ...headers, [text.slice(0, split)]: text.slice(split + 1) };
}
