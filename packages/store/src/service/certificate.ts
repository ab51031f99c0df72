import { readFileSync } from "node:fs";
import { showPath } from "@rabbitmq-delay/topology/stack";
import { StoreMismatchError } from "../errors";

/** Reads the file of a certificate authority. @throws StoreMismatchError for one that can't be read */
export function readCertificate(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : code;
    throw new StoreMismatchError("ca", `${showPath(file)} can't be read: ${why}`);
  }
}
