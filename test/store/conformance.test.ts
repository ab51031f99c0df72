import { conformanceTests, openStore } from "@rabbitmq-delay/store";
import { onEachDatabase } from "../support/databases";

describe("a store", () => {
  onEachDatabase((database) => {
    let address: string;
    beforeEach(async () => void (address = await database.address()));
    for (const { name, run } of conformanceTests(() => openStore(address))) it(name, run);
  });
});
