/** How the names of this run's files in the temporary folder begin. */
export const filesPrefix = `rabbitmq-delay-gauntlet-${process.pid}-`;
