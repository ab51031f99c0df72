import { Command } from "commander";
import { DecodedKey, DelayNetwork, decodeRoutingKey, queueTtlMs, readableDelay } from "@rabbitmq-delay/topology";
import { addExample, commonOptions } from "./commonOptions";
import { CommandError, exitCodes } from "./failure";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { printRows } from "./print";

interface DecodeOptions extends NetworkOptions {
  key: string;
  exchange?: string;
  destination?: string;
  json?: boolean;
}

/** `decode`: reads the delay and the destination out of a routing key. */
export function addDecode(program: Command): void {
  const command = program.command("decode").description("the delay and destination in a routing key");
  addNetworkOptions(command)
    .requiredOption("--key <key>", "the routing key")
    .option("--exchange <name>", "the exchange that the message was published to, which tells networks apart")
    .option("--destination <name>", "the destination that it should have")
    .addOption(commonOptions.json())
    .addHelpText(
      "after",
      "\nA key of a network with another number of levels, or with higher digits, is refused. A key alone does not tell its " +
        "network's unit;\nwith --exchange, a key of another network is refused.",
    )
    .action((options: DecodeOptions) => {
      const network = networkOf(options);
      const decoded = decodeRoutingKey(network, options.key);
      checkKey(network, decoded, options);
      if (options.json) console.log(JSON.stringify(decoded));
      else
        printRows({
          delayMs: `${decoded.delayMs} (${readableDelay(decoded.delayMs)})`,
          destination: decoded.destination,
        });
    });
  addExample(command, "rabbitmq-delay decode --network network.json --key 0.0.1.2.Sales --exchange orders.level-01");
}

/** @throws CommandError for a key of another network, as far as that can be recognized */
function checkKey(network: DelayNetwork, { delayMs, destination }: DecodedKey, options: DecodeOptions): void {
  const refuse = (option: string, value: string, why: string): never => {
    throw new CommandError(exitCodes.badInput, `--${option}: ${JSON.stringify(value)} is not allowed; ${why}`);
  };
  if (options.destination !== undefined && options.destination !== destination) {
    refuse(
      "destination",
      options.destination,
      `after the ${network.levels} digits of this network's keys stands ${destination}`,
    );
  }
  if (options.destination === undefined && /^[0-9a-f]\./.test(destination)) {
    refuse(
      "key",
      options.key,
      `after the ${network.levels} digits of this network's keys stands another digit, so it is a key of a network with more ` +
        `levels, or goes to ${destination}: say so by --destination`,
    );
  }
  if (options.exchange === undefined) return;
  const level = network.entryExchanges.indexOf(options.exchange);
  if (level < 0) {
    refuse(
      "exchange",
      options.exchange,
      `this network's are ${network.entryExchanges[0]} to ${network.entryExchanges.at(-1)}`,
    );
  }
  if (delayMs >= queueTtlMs(network, level + 1, 1)) {
    refuse("exchange", options.exchange, `the key has a digit above level ${level}, which that exchange passes over`);
  }
}
