import { join } from "node:path";
import { getCached } from "./cache";
import { goBuild } from "./goBuild";
import { versions } from "./versions";

/** The folder of `tofu` and of the upstream provider, both built from Go modules; only for the bench. */
export function findOpenTofu(progress: (line: string) => void): Promise<string> {
  const build = {
    name: "build from Go modules",
    async fill(folder: string, show: (line: string) => void): Promise<void> {
      const tofu = { module: "opentofu", package: "github.com/opentofu/opentofu/cmd/tofu" };
      await goBuild(tofu, join(folder, "tofu"), show);
      const provider = {
        module: "terraform-provider-rabbitmq",
        package: "github.com/terraform-providers/terraform-provider-rabbitmq",
      };
      await goBuild(provider, join(folder, "terraform-provider-rabbitmq"), show);
    },
  };
  return getCached(`opentofu-${versions.openTofu}`, [build], progress);
}
