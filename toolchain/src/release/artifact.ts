import type { Engine } from "../engine";

/** What a release is made with, and tried out on. */
export interface Release {
  /** The one version of all packages. */
  version: string;
  /** Folder of the artifacts. */
  folder: string;
  engine: Engine;
  /** A broker whose content goes with it. */
  broker: { amqpUrl: string; managementUrl: string };
  /** Says what is being done. */
  progress: (line: string) => void;
}

/** How an artifact proves that it works: it is installed into an empty folder, and used there. */
export interface Use {
  /** How long the installation may take. */
  mostSeconds: number;
  install: (folder: string, release: Release) => Promise<void>;
  /**
   * Uses what was installed.
   * @returns what was run, in a few words
   * @throws Error when it does not do what it should
   */
  run: (folder: string, release: Release) => Promise<string>;
}

/** A file that a release publishes. */
export interface Artifact {
  /** The file's name in the release's folder. */
  file: string;
  /** How large it may be. */
  mostKiB: number;
  /** Whether it is an archive of pages alone, which has no licence in it; default: an archive has to have one. */
  isWithoutLicence?: boolean;
  /** How it is tried out; or why it is only made. */
  use: Use | string;
}

/** Artifacts that are made in one go. */
export interface ReleasePart {
  title: string;
  artifacts: Artifact[];
  /** Writes the artifacts into the release's folder. */
  make: (release: Release) => Promise<void>;
  /** What this machine lacks to make them, e.g. `mvn`; undefined when it lacks nothing. */
  missing?: () => Promise<string | undefined>;
}
