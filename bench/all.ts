import { stopAllBrokers } from "../test/support/brokers";
import { benchDeclare } from "./declare";
import { benchDelayedExchange } from "./delayedExchange";
import { benchEncode } from "./encode";
import { benchEncodeClients } from "./encodeClients";
import { benchGateway } from "./gateway";
import { benchHolds } from "./holds";
import { benchLateness } from "./lateness";
import { benchOpenTofu } from "./openTofu";
import { benchRetries } from "./retries";
import { benchReview } from "./review";
import { benchStoreDispatch } from "./storeDispatch";
import { benchStoreIntake } from "./storeIntake";
import { benchStoreLateness } from "./storeLateness";

const benches: Record<string, () => void | Promise<void>> = {
  encode: benchEncode,
  "encode-clients": benchEncodeClients,
  declare: benchDeclare,
  opentofu: benchOpenTofu,
  lateness: benchLateness,
  retries: benchRetries,
  holds: benchHolds,
  "delayed-exchange": benchDelayedExchange,
  gateway: benchGateway,
  review: benchReview,
  "store-dispatch": benchStoreDispatch,
  "store-lateness": benchStoreLateness,
  "store-intake": benchStoreIntake,
};

async function main(names: string[]): Promise<void> {
  try {
    for (const name of names.length > 0 ? names : Object.keys(benches)) {
      const bench = benches[name];
      if (bench === undefined) throw new Error(`no bench ${name}; there are ${Object.keys(benches).join(", ")}`);
      await bench();
      console.log("");
    }
  } finally {
    await stopAllBrokers();
  }
}

main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
