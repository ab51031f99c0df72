import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, readFileSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OpenDelivery } from "@rabbitmq-delay/publish/parts";

/** Something with a body, which may be read from a file whenever it is asked for. */
export interface HasBody {
  body: Buffer;
}

/** The message in hand that a body belongs to, as a client library has it. */
type InHand = HasBody & Partial<Pick<OpenDelivery, "forgetBody">>;

const TELL_AGAIN_MS = 60_000;
/** Descriptors that stay for connections, to the broker, the database and for health. */
const RESERVED_FILES = 100;

/** Sizes of bodies that are read from a file, by how they are read. */
const sizes = new WeakMap<() => unknown, number>();

/** The size of a body, in bytes, without reading it. */
export function bodyBytesOf(owner: HasBody): number {
  const get = bodyProperty(owner).get;
  return (get === undefined ? undefined : sizes.get(get)) ?? owner.body.length;
}

/** Copies an object with other properties, and leaves its body where it is. */
export function copyWith<T extends HasBody>(owner: T, changes: Partial<T>): T {
  if (bodyProperty(owner).get === undefined) return { ...owner, ...changes };
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(owner)) as T;
  return Object.assign(copy, changes);
}

/** Gives an object the body of another one, and leaves that where it is. */
export function withBodyOf<T extends object>(target: T, owner: HasBody): T & HasBody {
  return Object.defineProperty(target, "body", bodyProperty(owner)) as T & HasBody;
}

function bodyProperty(owner: HasBody): PropertyDescriptor {
  return Object.getOwnPropertyDescriptor(owner, "body") as PropertyDescriptor;
}

/**
 * Keeps the bodies of messages in hand: in memory up to a limit, and those beyond it each in a file that has no name any more. The system
 * removes such a file with the process, however that ends. A kill just before the name goes leaves an empty file.
 */
export class Bodies {
  private memoryBytes = 0;
  private toldMs = Number.NEGATIVE_INFINITY;

  /** @param onFault told, once a minute at most, when a body can't be written, and stays in memory beyond the limit */
  constructor(
    private readonly limitBytes: number,
    private readonly onFault?: (error: Error) => void,
  ) {}

  /** Keeps the body of a message. @returns a function that drops it: nobody may read it then */
  keep(owner: InHand): () => void {
    const bytes = owner.body.length;
    const isBeyond = this.memoryBytes + bytes > this.limitBytes;
    const drop = isBeyond && bytes > 0 ? this.write(owner) : undefined;
    if (drop !== undefined) return drop;
    this.memoryBytes += bytes;
    return () => void (this.memoryBytes -= bytes);
  }

  private write(owner: InHand): (() => void) | undefined {
    try {
      const file = new NamelessFile(owner.body);
      const get = (): Buffer => file.read();
      sizes.set(get, file.bytes);
      Object.defineProperty(owner, "body", { get, enumerable: true, configurable: true });
      owner.forgetBody?.();
      return () => file.close();
    } catch (error) {
      if (performance.now() - this.toldMs < TELL_AGAIN_MS) return undefined;
      this.toldMs = performance.now();
      this.onFault?.(error as Error);
      return undefined;
    }
  }
}

/** Limit of open files of this process, as far as the system says it. */
let mostFiles: number | undefined;

function mayOpen(descriptor: number): boolean {
  try {
    const limits = mostFiles === undefined ? readFileSync("/proc/self/limits", "utf8") : "";
    mostFiles ??= Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    mostFiles = Number.POSITIVE_INFINITY;
  }
  return descriptor < mostFiles - RESERVED_FILES;
}

/** Linux's flag for a file that never has a name, which Node.js does not list; from its include/uapi/asm-generic/fcntl.h. */
const TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/** Opens a file that goes with this process. Not each file system makes one without a name. */
function openNameless(): number {
  if (process.platform === "linux")
    try {
      return openSync(tmpdir(), TMPFILE | constants.O_RDWR, 0o600);
    } catch {
      // The next way says what is wrong.
    }
  const path = join(tmpdir(), `rabbitmq-delay-${randomUUID()}`);
  const descriptor = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return descriptor;
}

class NamelessFile {
  readonly bytes: number;
  private readonly descriptor: number;
  private isClosed = false;

  constructor(content: Buffer) {
    this.bytes = content.length;
    this.descriptor = openNameless();
    try {
      if (!mayOpen(this.descriptor))
        throw new Error(`${mostFiles} files may be open, and the last ${RESERVED_FILES} are for connections`);
      for (let at = 0; at < content.length;) at += writeSync(this.descriptor, content, at);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  read(): Buffer {
    // Another file may have got its number.
    if (this.isClosed) throw new Error("the message is not in hand any more");
    const content = Buffer.allocUnsafeSlow(this.bytes);
    for (let at = 0; at < this.bytes;) {
      const read = readSync(this.descriptor, content, at, this.bytes - at, at);
      if (read === 0) throw new Error("the file of a message's body has been cut off");
      at += read;
    }
    return content;
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    closeSync(this.descriptor);
  }
}
