/** Where a RabbitMQ is installed: on this machine, or in a folder that is entered with chroot. */
export interface BrokerInstallation {
  /** `""` for this machine. */
  root: string;
  /** The server's start script, seen from inside the root. */
  script: string;
}

/** A private node's files and ports; all ports on loopback. */
export interface BrokerNode {
  name: string;
  installation: BrokerInstallation;
  /** Data, logs and config, as seen from inside the root. */
  folder: string;
  ports: { amqp: number; management: number; distribution: number; epmd: number };
  amqpUrl: string;
  managementUrl: string;
  /** The process group. */
  processId: number;
  /** When its first process started; it distinguishes the process from a later one with the same number. */
  processStart?: string;
}
