import { Command, InvalidArgumentError } from "commander";
import { encodeDelay, readableDelay } from "@rabbitmq-delay/topology";
import { addExample, commonOptions } from "./commonOptions";
import { DelayOptions, addDelayOptions, delayOf } from "./delayOption";
import { NetworkOptions, addNetworkOptions, networkOf } from "./networkOption";
import { printRows } from "./print";

interface EncodeOptions extends NetworkOptions, DelayOptions {
  destination: string;
  tolerance?: number;
  json?: boolean;
}

/** `encode`: prints the exchange and routing key with which a message is published. */
export function addEncode(program: Command): void {
  const command = program.command("encode").description("the exchange and routing key that delay a message");
  addExample(
    addDelayOptions(addNetworkOptions(command)),
    "rabbitmq-delay encode --preset nservicebus --delay 10s --destination Sales",
  )
    .requiredOption("--destination <name>", "the endpoint")
    .option("--tolerance <fraction>", "how much later it may be, for fewer hops", fraction)
    .addOption(commonOptions.json())
    .action((options: EncodeOptions) => {
      const { delayMs, at } = delayOf(options);
      const encoded = encodeDelay(
        networkOf(options),
        delayMs ?? at.getTime() - Date.now(),
        options.destination,
        options,
      );
      if (options.json) console.log(JSON.stringify(encoded));
      else printRows({ ...encoded, delayMs: `${encoded.delayMs} (${readableDelay(encoded.delayMs)})` });
    });
}

function fraction(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value >= 0)) throw new InvalidArgumentError("It must be a number from 0, e.g. 0.01.");
  return value;
}
