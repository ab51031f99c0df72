import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

/** Long enough to be guessed by nobody, and free of what a config file or a URL would change. */
const GENERATED_LENGTH = 48;

/** A random text of letters and digits, made once; secret. */
export function generated(name: string, options: pulumi.CustomResourceOptions): pulumi.Output<string> {
  return pulumi.secret(new random.RandomPassword(name, { length: GENERATED_LENGTH, special: false }, options).result);
}
